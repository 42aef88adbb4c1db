#include "footprint/gates/sandbox/sandbox.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/pipe.h"
#include "footprint/base/files/read_write.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/machine/cpu_group.h"
#include "footprint/base/machine/memory_group.h"
#include "footprint/base/machine/monotonic_time.h"
#include "footprint/base/text/exec_strings.h"
#include "footprint/gates/sandbox/resident_sum.h"
#include "footprint/gates/sandbox/sandbox_init_protocol.h"

extern "C" {
extern const char footprint_sandbox_init_begin[];
extern const char footprint_sandbox_init_end[];
}

namespace footprint {
namespace {

constexpr int kOutsideUser = 65534;
constexpr size_t kStackBytes = 64 << 10;
constexpr int kTemporaryDescriptors = 64;
constexpr int kInitDescriptorCount = kFirstFreeDescriptor;
constexpr int64_t kLookNs = 20'000'000;
// The most bytes of a record file. The agent's files have holes, so they may be
// longer than the tmpfs that has their pages. Under a lower limit records would
// be missing (once all Python lines were).
constexpr int64_t kMostRecordFileBytes = int64_t{1} << 30;

constexpr const char* kFolders[] = {
    "bundle",  "records", "dev",  "dev/footprint", "dev/footprint/records",
    "dev/shm", "etc",     "proc", "tmp",           "usr"};
constexpr const char* kFiles[] = {"agent.so", "dev/footprint/agent.so",
                                  "runner"};
constexpr const char* kDevices[] = {"full", "null", "random", "urandom",
                                    "zero"};
constexpr const char* kSystemLinks[] = {"bin", "lib", "lib32", "lib64", "sbin"};
// Files that the dynamic loader, Debian's alternatives and its python3 need.
constexpr const char* kSystemFiles[] = {"etc/alternatives", "etc/ld.so.cache",
                                        "etc/localtime", "etc/python3",
                                        "etc/python3.11"};

// Makes an anonymous file in memory with the first process's program. Returns
// its descriptor, or -1 with errno set.
int MakeInitProgram() {
  const FileDescriptor file(memfd_create("sandbox_init", MFD_CLOEXEC));
  const int64_t size =
      footprint_sandbox_init_end - footprint_sandbox_init_begin;
  if (!file.is_open() ||
      !WriteOn(file.get(), footprint_sandbox_init_begin, size)) {
    return -1;
  }
  // A file that is open for writing cannot be executed, so this opens it again.
  const std::string path = absl::StrCat("/proc/self/fd/", file.get());
  return open(path.c_str(), O_RDONLY | O_CLOEXEC);
}

// Returns the first process's program, which is kept once it could be made.
absl::StatusOr<int> InitProgram() {
  static std::atomic<int> kept{-1};
  int before = kept.load();
  if (before >= 0) return before;
  const int program = MakeInitProgram();
  if (program < 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("sandbox: its first program cannot be kept in memory: ",
                     std::strerror(errno)));
  }
  if (kept.compare_exchange_strong(before, program)) return program;
  close(program);
  return before;
}

// Returns the path without its first slash.
std::string BelowRoot(const std::string& path) { return path.substr(1); }

// Returns three texts for each mount of the run: mode, source and target.
std::vector<std::string> BindsOf(const SandboxRoot& root,
                                 const SandboxRun& run) {
  std::vector<std::string> binds;
  const auto bind = [&](const std::string& source, const std::string& target) {
    binds.insert(binds.end(), {"r", source, target});
  };
  if (run.image_folder.empty()) {
    binds = root.binds();
    bind(run.bundle_folder, "bundle");
    if (!run.runner.empty()) bind(run.runner, "runner");
    if (!run.records_folder.empty()) bind(run.records_folder, "records");
  } else {
    bind(absl::StrCat(root.path(), "/dev"), "dev");
    for (size_t i = 0; i < root.binds().size(); i += 3) {
      if (!absl::StartsWith(root.binds()[i + 2], "dev/")) continue;
      binds.insert(binds.end(), root.binds().begin() + i,
                   root.binds().begin() + i + 3);
    }
  }
  if (!run.agent.empty()) bind(run.agent, BelowRoot(AgentPath(run)));
  return binds;
}

// Returns the command line of sandbox_init.
std::vector<std::string> InitArguments(const SandboxRoot& root,
                                       const SandboxRun& run) {
  const std::vector<std::string> binds = BindsOf(root, run);
  std::vector<std::string> words = {
      "sandbox_init",
      run.image_folder.empty() ? root.path() : run.image_folder,
      absl::StrCat(run.scratch_bytes),
      absl::StrCat(run.agent.empty() ? run.scratch_bytes
                                     : kMostRecordFileBytes),
      absl::StrCat(run.process_limit),
      absl::StrCat(run.time_limit_seconds + 1),
      run.working_folder,
      absl::StrCat(binds.size() / 3)};
  words.insert(words.end(), binds.begin(), binds.end());
  if (run.agent.empty()) {
    words.insert(words.end(), {"2", "tmp", "dev/shm"});
  } else {
    words.insert(words.end(),
                 {"3", "tmp", "dev/shm", BelowRoot(RecordsPath(run))});
  }
  // The first process has no environment of its own: what the program's says
  // must not reach the C library of a process that still has privileges.
  words.push_back(absl::StrCat(run.environment.size()));
  words.insert(words.end(), run.environment.begin(), run.environment.end());
  words.push_back("");
  words.push_back(run.program);
  words.insert(words.end(), run.arguments.begin(), run.arguments.end());
  return words;
}

// Everything that the child of clone needs: it shares this process's memory,
// and must not allocate.
struct InitStart {
  int descriptors[kInitDescriptorCount];
  int program;
  char* const* arguments;
  char* const* environment;
  int error = 0;
};

// Keeps the capabilities over the new namespaces across exec, since the user
// has no ID there yet.
bool KeepCapabilities() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  if (syscall(SYS_capget, &header, sets) != 0) return false;
  for (__user_cap_data_struct& each : sets) each.inheritable = each.permitted;
  if (syscall(SYS_capset, &header, sets) != 0) return false;
  for (const int capability : {CAP_SYS_ADMIN, CAP_SETUID, CAP_SETGID,
                               CAP_SETPCAP, CAP_KILL, CAP_DAC_OVERRIDE}) {
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0) != 0) {
      return false;
    }
  }
  return true;
}

int StartInit(void* argument) {
  InitStart* const start = static_cast<InitStart*>(argument);
  // Moves the descriptors away from the low numbers, which they get below.
  const int program =
      fcntl(start->program, F_DUPFD_CLOEXEC, kTemporaryDescriptors);
  for (int i = 0; i < kInitDescriptorCount; ++i) {
    start->descriptors[i] =
        fcntl(start->descriptors[i], F_DUPFD_CLOEXEC, kTemporaryDescriptors);
  }
  for (int i = 0; i < kInitDescriptorCount; ++i) {
    if (start->descriptors[i] < 0 || dup2(start->descriptors[i], i) != i) {
      start->error = errno;
      return 125;
    }
  }
  if (syscall(SYS_close_range, kFirstFreeDescriptor, ~0U,
              CLOSE_RANGE_CLOEXEC) != 0) {
    start->error = errno;
    return 125;
  }
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) {
    sigaction(number, &standard, nullptr);
  }
  if (KeepCapabilities()) {
    syscall(SYS_execveat, program, "", start->arguments, start->environment,
            AT_EMPTY_PATH);
  }
  start->error = errno;
  return 125;
}

absl::Status WriteMap(pid_t process, const char* file,
                      const std::string& text) {
  const std::string path = absl::StrCat("/proc/", process, "/", file);
  const FileDescriptor map(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (map.is_open() && write(map.get(), text.data(), text.size()) ==
                           static_cast<ssize_t>(text.size())) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "user namespace: ", path, " cannot be written: ", std::strerror(errno)));
}

// Maps the user: inside, the program is user 1000, whoever it is outside.
absl::Status MapUsers(pid_t process) {
  const bool is_root = geteuid() == 0;
  const unsigned user = SandboxUser();
  const unsigned group = is_root ? kOutsideUser : getegid();
  absl::Status status;
  if (!is_root) status = WriteMap(process, "setgroups", "deny");
  if (status.ok()) {
    status = WriteMap(process, "uid_map",
                      absl::StrCat(kInsideUser, " ", user, " 1\n"));
  }
  if (status.ok()) {
    status = WriteMap(process, "gid_map",
                      absl::StrCat(kInsideUser, " ", group, " 1\n"));
  }
  return status;
}

// Keeps the last bytes that arrive through a pipe.
class TailReader {
 public:
  explicit TailReader(int64_t most_bytes)
      : most_bytes_(static_cast<size_t>(most_bytes)) {}

  // Reads from the pipe. Returns false if no more bytes will come.
  bool Read(int descriptor) {
    char block[16384];
    const ssize_t got = read(descriptor, block, sizeof(block));
    if (got < 0) return errno == EINTR || errno == EAGAIN;
    if (got == 0) return false;
    text_.append(block, static_cast<size_t>(got));
    if (text_.size() > 2 * most_bytes_) {
      text_.erase(0, text_.size() - most_bytes_);
    }
    return true;
  }

  std::string Tail() const {
    return text_.size() <= most_bytes_
               ? text_
               : text_.substr(text_.size() - most_bytes_);
  }

 private:
  const size_t most_bytes_;
  std::string text_;
};

// A sandbox's first process, which the destructor ends.
class Init {
 public:
  explicit Init(int64_t output_tail_bytes)
      : output_tail_(output_tail_bytes), error_tail_(kOutputTailBytes) {}
  Init(const Init&) = delete;
  Init& operator=(const Init&) = delete;
  ~Init() { End(); }

  // Starts the first process in new namespaces, which waits for the byte that
  // is written once its IDs are mapped. The program joins the memory group and,
  // if there is one, the group of processors.
  absl::Status Start(const SandboxRoot& root, const SandboxRun& run,
                     const MemoryGroup& group,
                     const absl::optional<CpuGroup>& cpu_group) {
    absl::StatusOr<int> program = InitProgram();
    if (!program.ok()) return program.status();
    absl::StatusOr<Pipe> output = MakePipe();
    absl::StatusOr<Pipe> error = MakePipe();
    absl::StatusOr<Pipe> report = MakePipe();
    absl::StatusOr<Pipe> control = MakePipe();
    for (const auto* each : {&output, &error, &report, &control}) {
      if (!each->ok()) return each->status();
    }
    const FileDescriptor null(open("/dev/null", O_RDWR | O_CLOEXEC));
    const bool joins_cpu_group =
        cpu_group.has_value() && cpu_group->processes_descriptor() >= 0;
    const std::vector<std::string> words = InitArguments(root, run);
    const std::vector<char*> arguments = ExecStrings(words);
    const std::vector<std::string> no_variables;
    const std::vector<char*> environment = ExecStrings(no_variables);
    InitStart start = {
        {null.get(), output->write_end.get(), error->write_end.get(),
         report->write_end.get(), control->read_end.get(),
         group.processes_descriptor(),
         joins_cpu_group ? cpu_group->processes_descriptor() : null.get()},
        *program,
        arguments.data(),
        environment.data()};
    absl::Status status = Clone(&start);
    if (!status.ok()) return status;
    output_ = std::move(output->read_end);
    error_ = std::move(error->read_end);
    report_ = std::move(report->read_end);
    control_ = std::move(control->write_end);
    status = MapUsers(process_);
    if (status.ok() && !WriteOn(control_.get(), "b", 1)) {
      status = absl::InternalError("sandbox: its first process is gone");
    }
    return status;
  }

  // Watches the process until its report, its end, or the time limit.
  absl::Status Watch(const std::string& group_path, int time_limit_seconds,
                     SandboxEnd* end) {
    const int64_t deadline_ns =
        MonotonicTimeNs() + time_limit_seconds * int64_t{1000000000};
    int64_t next_look_ns = 0;
    bool has_ended = false;
    while (!has_ended) {
      const int64_t now_ns = MonotonicTimeNs();
      if (now_ns >= deadline_ns) {
        end->is_timed_out = true;
        return absl::OkStatus();
      }
      if (now_ns >= next_look_ns) {
        const absl::StatusOr<int64_t> sum = ReadResidentSum(group_path);
        if (!sum.ok()) return sum.status();
        end->peak_proportional_bytes =
            std::max(end->peak_proportional_bytes, *sum);
        // Pauses are nine times as long as a measurement, so measuring many
        // processes takes a tenth of the time.
        const int64_t end_ns = MonotonicTimeNs();
        next_look_ns = end_ns + std::max(kLookNs, 9 * (end_ns - now_ns));
      }
      const int64_t wait_ns = std::min(deadline_ns, next_look_ns) - now_ns;
      pollfd files[] = {{report_.get(), POLLIN, 0},
                        {output_.get(), POLLIN, 0},
                        {error_.get(), POLLIN, 0}};
      if (poll(files, 3, static_cast<int>(wait_ns / 1000000 + 1)) < 0) {
        continue;
      }
      DrainOutputs(files[1].revents, files[2].revents);
      has_ended = files[0].revents != 0;
    }
    if (ReadOn(report_.get(), sizeof(init_report_), &init_report_) !=
        sizeof(init_report_)) {
      return absl::InternalError(
          "sandbox: its first process ended without a report");
    }
    return StepError();
  }

  // Kills the rest of the sandbox's processes, and waits for them.
  void End() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
    process_ = 0;
    while (output_.is_open() || error_.is_open()) {
      DrainOutputs(POLLIN, POLLIN);
    }
  }

  pid_t process() const { return process_; }
  const InitReport& report() const { return init_report_; }
  std::string output() const { return output_tail_.Tail(); }
  std::string error() const { return error_tail_.Tail(); }

 private:
  absl::Status Clone(InitStart* start) {
    const std::unique_ptr<char[]> stack(new char[kStackBytes]);
    // Blocks signals, since the child shares this memory and must not run a
    // handler.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    process_ = clone(StartInit, stack.get() + kStackBytes,
                     CLONE_VM | CLONE_VFORK | SIGCHLD | CLONE_NEWUSER |
                         CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
                         CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP,
                     start);
    const int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (process_ < 0) {
      const std::string text = absl::StrCat(
          "sandbox: namespaces are refused: ", std::strerror(error),
          "; in a container or chroot, allow user namespaces or run outside");
      return error == EAGAIN || error == ENOMEM || error == ENOSPC
                 ? absl::ResourceExhaustedError(text)
                 : absl::FailedPreconditionError(text);
    }
    if (start->error == 0) return absl::OkStatus();
    const std::string text =
        absl::StrCat("sandbox: its first program cannot be run: ",
                     std::strerror(start->error));
    // The arguments and variables are the program's.
    return start->error == E2BIG ? absl::InvalidArgumentError(text)
                                 : absl::FailedPreconditionError(text);
  }

  void DrainOutputs(int output_events, int error_events) {
    if (output_.is_open() && output_events != 0 &&
        !output_tail_.Read(output_.get())) {
      output_ = FileDescriptor();
    }
    if (error_.is_open() && error_events != 0 &&
        !error_tail_.Read(error_.get())) {
      error_ = FileDescriptor();
    }
  }

  absl::Status StepError() const {
    static constexpr const char* kSteps[] = {
        "",           "waiting",         "private mounts",
        "the root",   "a bind mount",    "a /proc of its own",
        "tmpfs",      "pivot_root",      "joining the cgroup",
        "a process",  "resource limits", "dropping privileges",
        "its folder", "seccomp",         "execution"};
    if (init_report_.step == InitStep::kEnded) return absl::OkStatus();
    const size_t step = static_cast<size_t>(init_report_.step);
    const std::string text = absl::StrCat(
        "sandbox: ", step < std::size(kSteps) ? kSteps[step] : "?", " (",
        init_report_.argument, "): ", std::strerror(init_report_.error_number),
        // A user namespace may mount /proc only if it sees all of another one.
        init_report_.step == InitStep::kProc &&
                init_report_.error_number == EPERM
            ? "; mounts hide parts of this machine's /proc, as they do in a "
              "container: unmount them, or start the container with "
              "--security-opt systempaths=unconfined"
            : "");
    if (init_report_.step == InitStep::kExecute ||
        init_report_.step == InitStep::kFolder) {
      return absl::InvalidArgumentError(text);
    }
    return absl::FailedPreconditionError(text);
  }

  pid_t process_ = 0;
  FileDescriptor output_;
  FileDescriptor error_;
  FileDescriptor report_;
  FileDescriptor control_;
  TailReader output_tail_;
  TailReader error_tail_;
  InitReport init_report_;
};

// Makes the group of processors; nullopt if the run has no weight, or if this
// host has no cpu controller.
absl::StatusOr<absl::optional<CpuGroup>> MakeCpuGroup(
    const SandboxRun& run, const MemoryGroup& group) {
  if (run.cpu_weight == 0) return absl::optional<CpuGroup>();
  absl::StatusOr<CpuGroup> made =
      CpuGroup::Create(run.cpu_weight, group.path(), group.is_version_2());
  if (absl::IsFailedPrecondition(made.status())) {
    return absl::optional<CpuGroup>();
  }
  if (!made.ok()) return made.status();
  return absl::optional<CpuGroup>(*std::move(made));
}

}  // namespace

absl::StatusOr<SandboxRoot> SandboxRoot::Create(
    const std::string& work_folder) {
  SandboxRoot root;
  root.path_ = absl::StrCat(work_folder, "/root");
  if (mkdir(root.path_.c_str(), 0755) != 0) {
    const int error = errno;
    const std::string path = std::exchange(root.path_, "");
    return FileError(error, path, "cannot be made");
  }
  absl::Status status = root.Fill();
  if (!status.ok()) return status;
  return root;
}

absl::Status SandboxRoot::BindFromHost(const std::string& path,
                                       const char* mode) {
  const std::string source = absl::StrCat("/", path);
  const std::string target = absl::StrCat(path_, "/", path);
  struct stat about = {};
  if (stat(source.c_str(), &about) != 0) return absl::OkStatus();
  if (S_ISDIR(about.st_mode)) {
    mkdir(target.c_str(), 0755);
  } else if (!FileDescriptor(
                  open(target.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0444))
                  .is_open()) {
    return FileError(errno, target, "cannot be made");
  }
  binds_.insert(binds_.end(), {mode, source, path});
  return absl::OkStatus();
}

absl::Status SandboxRoot::Fill() {
  // Makes the folders and files on which parts of the host are mounted.
  for (const char* each : kFolders) {
    const std::string path = absl::StrCat(path_, "/", each);
    if (mkdir(path.c_str(), 0755) != 0) {
      return FileError(errno, path, "cannot be made");
    }
  }
  for (const char* each : kFiles) {
    const std::string path = absl::StrCat(path_, "/", each);
    if (!FileDescriptor(
             open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0555))
             .is_open()) {
      return FileError(errno, path, "cannot be made");
    }
  }
  // Lists the parts of the host that are mounted there.
  absl::Status status = BindFromHost("usr", "r");
  for (const char* each : kDevices) {
    if (status.ok()) status = BindFromHost(absl::StrCat("dev/", each), "d");
  }
  for (const char* each : kSystemFiles) {
    if (status.ok()) status = BindFromHost(each, "r");
  }
  // On a system with a merged /usr, /bin and the like are symbolic links.
  for (const char* each : kSystemLinks) {
    std::error_code error;
    const std::filesystem::path source = absl::StrCat("/", each);
    if (!std::filesystem::is_symlink(source, error)) {
      if (status.ok()) status = BindFromHost(each, "r");
      continue;
    }
    std::filesystem::copy_symlink(source, absl::StrCat(path_, "/", each),
                                  error);
  }
  (void)!symlink("/proc/self/fd", absl::StrCat(path_, "/dev/fd").c_str());
  if (!status.ok()) return status;
  return ReplaceFile(absl::StrCat(path_, "/etc/passwd"),
                     "user:x:1000:1000::/tmp:/bin/false\n", ToDisk::kNoFsync);
}

SandboxRoot::SandboxRoot(SandboxRoot&& other) noexcept
    : path_(std::exchange(other.path_, "")), binds_(std::move(other.binds_)) {}

SandboxRoot& SandboxRoot::operator=(SandboxRoot&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(binds_, other.binds_);
  return *this;
}

// The mounts were in namespaces that no longer exist: only names are left here.
SandboxRoot::~SandboxRoot() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string AgentPath(const SandboxRun& run) {
  return run.image_folder.empty() ? "/agent.so" : "/dev/footprint/agent.so";
}

std::string RecordsPath(const SandboxRun& run) {
  return run.image_folder.empty() ? "/records" : "/dev/footprint/records";
}

unsigned SandboxUser() { return geteuid() == 0 ? kOutsideUser : geteuid(); }

absl::StatusOr<SandboxEnd> RunInSandbox(const SandboxRoot& root,
                                        const SandboxRun& run) {
  const int64_t begin_ns = MonotonicTimeNs();
  absl::StatusOr<MemoryGroup> group = MemoryGroup::Create(run.limit_bytes);
  if (!group.ok()) return group.status();
  const absl::StatusOr<absl::optional<CpuGroup>> cpu_group =
      MakeCpuGroup(run, *group);
  if (!cpu_group.ok()) return cpu_group.status();
  SandboxEnd end;
  {
    Init init(run.output_tail_bytes);
    absl::Status status = init.Start(root, run, *group, *cpu_group);
    if (status.ok()) {
      status = init.Watch(group->path(), run.time_limit_seconds, &end);
    }
    if (!status.ok()) return status;
    const InitReport& report = init.report();
    // The records exist as long as the first process does.
    if (!end.is_timed_out && run.read_records) {
      run.read_records(
          absl::StrCat("/proc/", init.process(), "/root", RecordsPath(run)));
    }
    init.End();
    if (WIFSIGNALED(report.wait_status)) {
      end.signal_number = WTERMSIG(report.wait_status);
    } else {
      end.exit_status = WEXITSTATUS(report.wait_status);
    }
    end.peak_resident_bytes = report.peak_resident_bytes;
    end.processor_time_ns = report.processor_time_ns;
    end.program_time_ns = report.program_end_ns - report.program_begin_ns;
    end.standard_output_tail = init.output();
    end.standard_error_tail = init.error();
  }
  end.peak_bytes = group->peak_bytes();
  end.limit_hit_count = group->limit_hit_count();
  end.killed_process_count = group->killed_process_count();
  // Removing the group counts as the sandbox's time.
  { const MemoryGroup gone = *std::move(group); }
  end.sandbox_time_ns = MonotonicTimeNs() - begin_ns - end.program_time_ns;
  return end;
}

}  // namespace footprint
