#include "footprint/profiling/memprof/run_with_agent.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/pipe.h"
#include "footprint/base/files/read_write.h"
#include "footprint/base/machine/monotonic_time.h"
#include "footprint/base/text/exec_strings.h"
#include "footprint/profiling/memprof/embedded_agent.h"
#include "footprint/profiling/memprof/kept_records.h"
#include "footprint/profiling/records/process_record.h"
#include "footprint/profiling/records/running_images.h"
#include "footprint/profiling/records/stack_tallies_record.h"
#include "footprint/profiling/records/stage_record.h"
#include "footprint/profiling/resident/process_children.h"
#include "footprint/profiling/schema/whole_process.h"

namespace footprint {
namespace {

using profiling_internal::kCopyIntervalVariable;
using profiling_internal::kOnlyProcessVariable;
using profiling_internal::kProcessorIntervalVariable;
using profiling_internal::kRecordFolderVariable;
using profiling_internal::kSamplingIntervalVariable;
using profiling_internal::kStagesVariable;

constexpr int kLookIntervalMs = 10;
constexpr int64_t kGraphicsIntervalNs = 100'000'000;
constexpr int kPassedSignals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                  SIGUSR1, SIGUSR2, SIGWINCH};

volatile std::sig_atomic_t program_process = 0;

// Passes a signal on to the program. A terminal's reach it by themselves: a
// second one would be taken for a user who insists.
void PassOn(int signal_number, siginfo_t* info, void* /*context*/) {
  if (program_process > 0 && info->si_code != SI_KERNEL) {
    kill(program_process, signal_number);
  }
}

sigset_t PassedSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int number : kPassedSignals) sigaddset(&signals, number);
  return signals;
}

// While it lives, signals go to the program: also those that this process was
// to ignore, as a shell's background job does, since the program may handle
// them. They wait until the program is there to get them. An end of it is kept
// for wait4, whatever was inherited.
class SignalsForProgram {
 public:
  SignalsForProgram() {
    const sigset_t passed = PassedSignals();
    sigprocmask(SIG_BLOCK, &passed, &mask_before_);
    child_before_ = std::signal(SIGCHLD, SIG_DFL);
    sigemptyset(&ignored_before_);
    for (int number : kPassedSignals) {
      struct sigaction action = {};
      action.sa_sigaction = PassOn;
      action.sa_flags = SA_SIGINFO;
      struct sigaction before;
      sigaction(number, &action, &before);
      if (before.sa_handler == SIG_IGN) sigaddset(&ignored_before_, number);
    }
  }
  ~SignalsForProgram() {
    program_process = 0;
    sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
  }
  SignalsForProgram(const SignalsForProgram&) = delete;
  SignalsForProgram& operator=(const SignalsForProgram&) = delete;

  // Runs in the program's process. exec resets handled signals to defaults.
  void RestoreInProgram() const {
    for (int number : kPassedSignals) {
      if (sigismember(&ignored_before_, number) == 1) {
        std::signal(number, SIG_IGN);
      }
    }
    std::signal(SIGCHLD, child_before_);
    sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
  }

  void PassTo(pid_t process) {
    program_process = process;
    sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
  }

 private:
  sigset_t mask_before_;
  sigset_t ignored_before_;
  void (*child_before_)(int);
};

int64_t ToNs(const timeval& time) {
  return time.tv_sec * int64_t{1000000000} + time.tv_usec * int64_t{1000};
}

// Returns the kernel's mark of this process: what it starts has as much until
// it becomes the program.
int64_t OwnMarkBytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * int64_t{1024};
}

// Returns the folders in which the record folder may lie; the first that can be
// used is taken. If TMPDIR is set, it is the only one.
std::vector<std::string> ParentFolders() {
  const char* const variable = std::getenv("TMPDIR");
  if (variable != nullptr && *variable != '\0') return {variable};
  return {"/tmp", "/var/tmp", "/dev/shm"};
}

// A folder of this run with the objects that are to be preloaded, which the
// destructor removes.
class RunFolder {
 public:
  RunFolder() = default;
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  ~RunFolder() { Remove(); }

  absl::Status Create(const AgentRun& run) {
    absl::Status first;
    for (const std::string& parent : ParentFolders()) {
      absl::Status status = CreateIn(parent, run);
      if (status.ok()) return status;
      Remove();
      first.Update(status);
    }
    return first;
  }

  const std::string& path() const { return path_; }
  std::string agent_path() const { return absl::StrCat(path_, "/agent.so"); }
  std::string copies_path() const { return absl::StrCat(path_, "/copies.so"); }

 private:
  absl::Status CreateIn(const std::string& parent, const AgentRun& run) {
    absl::StatusOr<std::string> real_parent = PreloadablePath(parent);
    if (!real_parent.ok()) return real_parent.status();
    std::string path = absl::StrCat(*real_parent, "/memprof-XXXXXX");
    if (mkdtemp(path.data()) == nullptr) {
      return FileError(errno, path, "cannot be made",
                       "set TMPDIR to a folder that can be written");
    }
    path_ = path;
    // Workers of a service that root starts write as other users.
    if (geteuid() == 0) chmod(path_.c_str(), 01733);
    absl::Status status = AddObject(agent_path(), EmbeddedAgent());
    status.Update(CheckCanBeLoaded(agent_path()));
    if (status.ok() && run.copy_interval_bytes >= 0) {
      status = AddObject(copies_path(), EmbeddedCopyCounter());
    }
    return status;
  }

  void Remove() {
    if (path_.empty()) return;
    if (DIR* const directory = opendir(path_.c_str())) {
      while (const dirent* entry = readdir(directory)) {
        unlinkat(dirfd(directory), entry->d_name, 0);
      }
      closedir(directory);
    }
    rmdir(path_.c_str());
    path_.clear();
  }

  // Adds a shared object of this program's, which is to be preloaded.
  absl::Status AddObject(const std::string& path,
                         absl::string_view bytes) const {
    const FileDescriptor file(
        open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0555));
    if (!file.is_open()) return FileError(errno, path, "cannot be written");
    // A limit of file sizes must be an error of the call, not a signal.
    const auto before = std::signal(SIGXFSZ, SIG_IGN);
    const bool is_written =
        WriteOn(file.get(), bytes.data(), static_cast<int64_t>(bytes.size()));
    const int error = errno;
    std::signal(SIGXFSZ, before);
    return is_written ? absl::OkStatus()
                      : FileError(error, path, "cannot be written");
  }

  // Fails if code may not be mapped from the folder: the loader would ignore
  // the object, and the program would run unmeasured.
  absl::Status CheckCanBeLoaded(const std::string& path) const {
    const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) return FileError(errno, path, "cannot be read");
    const size_t page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void* const code = mmap(nullptr, page_bytes, PROT_READ | PROT_EXEC,
                            MAP_PRIVATE, file.get(), 0);
    if (code == MAP_FAILED) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the agent cannot be loaded from ", path_, ": ", std::strerror(errno),
          errno == EPERM ? " (its file system is mounted noexec)" : "",
          "; set TMPDIR to a folder from which programs may run"));
    }
    munmap(code, page_bytes);
    return absl::OkStatus();
  }

  // Returns a folder that LD_PRELOAD can name, from whatever folder the program
  // goes to.
  static absl::StatusOr<std::string> PreloadablePath(const std::string& named) {
    char* const found = realpath(named.c_str(), nullptr);
    if (found == nullptr) {
      return FileError(errno, named, "cannot be used",
                       "set TMPDIR to a folder that can be written");
    }
    const std::string path = found;
    std::free(found);
    if (path.find_first_of(" :;$") != std::string::npos) {
      return absl::InvalidArgumentError(absl::StrCat(
          path,
          " cannot hold the agent, as LD_PRELOAD ends a path at a space "
          "or colon; set TMPDIR to another folder"));
    }
    return path;
  }

  std::string path_;
};

// The loader of an audited program reserves little room for the thread-local
// storage of preloaded objects.
constexpr char kTunables[] = "GLIBC_TUNABLES=";
constexpr char kMoreThreadStorage[] = "glibc.rtld.optional_static_tls=16384";

// This process's environment, with the agent in front of what is preloaded.
std::vector<std::string> AgentEnvironment(const AgentRun& run,
                                          const RunFolder& folder) {
  std::vector<std::string> variables;
  std::string preloaded = folder.agent_path();
  std::string tunables;
  const bool is_audited = std::getenv("LD_AUDIT") != nullptr;
  if (run.copy_interval_bytes >= 0) {
    absl::StrAppend(&preloaded, ":", folder.copies_path());
  }
  for (char** each = environ; *each != nullptr; ++each) {
    absl::string_view variable = *each;
    // A memprof around this one set the variable.
    if (absl::StartsWith(variable, "FOOTPRINT_MEMPROF_")) continue;
    if (absl::StartsWith(variable, "LD_PRELOAD=")) {
      absl::StrAppend(&preloaded, ":",
                      variable.substr(std::strlen("LD_PRELOAD=")));
      continue;
    }
    if (is_audited && absl::StartsWith(variable, kTunables)) {
      tunables = absl::StrCat(variable.substr(std::strlen(kTunables)), ":");
      continue;
    }
    variables.emplace_back(variable);
  }
  if (is_audited) {
    variables.push_back(absl::StrCat(kTunables, tunables, kMoreThreadStorage));
  }
  variables.push_back(absl::StrCat("LD_PRELOAD=", preloaded));
  variables.push_back(absl::StrCat(kRecordFolderVariable, "=", folder.path()));
  variables.push_back(absl::StrCat(kStagesVariable, "=",
                                   run.has_automatic_stages ? "all" : "named"));
  const auto add_interval = [&](const char* variable, int64_t interval) {
    if (interval < 0) return;
    variables.push_back(absl::StrCat(variable, "=", interval));
  };
  add_interval(kSamplingIntervalVariable, run.sampling_interval_bytes);
  add_interval(kProcessorIntervalVariable, run.processor_interval_ns);
  add_interval(kCopyIntervalVariable, run.copy_interval_bytes);
  return variables;
}

absl::StatusOr<pid_t> Start(const AgentRun& run, const RunFolder& folder,
                            const SignalsForProgram& signals) {
  std::vector<std::string> environment = AgentEnvironment(run, folder);
  const std::vector<char*> arguments = ExecStrings(run.arguments);
  return StartProgram(run.program, "cannot be run", [&] {
    signals.RestoreInProgram();
    // Its ID is known only here.
    if (!run.children_are_recorded) {
      environment.push_back(absl::StrCat(kOnlyProcessVariable, "=", getpid()));
    }
    execve(run.program.c_str(), arguments.data(),
           ExecStrings(environment).data());
  });
}

// Samples what the run needs of the machine: frequently its processes and their
// resident sets, less often its graphics memory.
class MachineWatch {
 public:
  MachineWatch(pid_t process, const AgentRun& run, const RunFolder& folder,
               absl::StatusOr<GraphicsWatch> graphics)
      : process_(process),
        children_count_(run.children_are_recorded),
        processes_(process, folder.path()),
        resident_(folder.path()),
        graphics_(std::move(graphics)) {}

  void Look() {
    processes_.Look();
    resident_.Look(children_count_ ? processes_.running()
                                   : std::set<int>{process_});
    const int64_t now_ns = MonotonicTimeNs();
    if (!graphics_.ok() || now_ns < next_graphics_look_ns_) return;
    next_graphics_look_ns_ = now_ns + kGraphicsIntervalNs;
    graphics_->Look(resident_.process_ids());
  }

  const ProcessChildren& processes() const { return processes_; }
  int64_t peak_process_bytes() const { return resident_.peak_process_bytes(); }

  void StoreIn(AgentRunEnd* end) const {
    end->peak_resident_sum_bytes = resident_.peak_sum_bytes();
    end->shared_once = resident_.shared_once();
    end->held_once = resident_.held_once();
    end->resident_peaks = resident_.peaks();
    if (!graphics_.ok()) {
      end->graphics_note = std::string(graphics_.status().message());
      return;
    }
    end->graphics_uses = graphics_->uses();
    if (graphics_->unmatched_process_count() > 0) {
      end->graphics_note = absl::StrCat(
          graphics_->unmatched_process_count(),
          " other processes were on the devices; in a container the driver may "
          "name this run's by numbers that are not known here");
    }
  }

 private:
  const pid_t process_;
  const bool children_count_;
  ProcessChildren processes_;
  ResidentWatch resident_;
  absl::StatusOr<GraphicsWatch> graphics_;
  int64_t next_graphics_look_ns_ = 0;
};

// Returns whether a record covers all that was seen of a process. `last` is its
// last record, or null.
bool IsRecorded(const SeenProcess& seen, const MeasuredProcess* last) {
  if (last == nullptr) return false;
  switch (seen.agent) {
    case SeenProcess::Agent::kNotSeen:
    case SeenProcess::Agent::kPresent:
      return true;
    case SeenProcess::Agent::kAbsent:
      // If a record began since, the loader had not loaded the agent yet.
      return last->figures.begin_time_ns() > seen.time_ns;
    case SeenProcess::Agent::kForbidden:
      // The process ended as the program of its record.
      return last->figures.has_totals();
  }
  return false;
}

// Stores the names of programs that ran without the agent: processes without a
// record, and processes that became a program without one.
void FindUnrecorded(pid_t process, const AgentRun& run,
                    const ProcessChildren& processes, AgentRunEnd* end) {
  std::map<int, const MeasuredProcess*> last_images;
  for (const MeasuredProcess& each : end->processes) {
    const MeasuredProcess*& last = last_images[each.figures.process_id()];
    if (last == nullptr || last->figures.image() < each.figures.image())
      last = &each;
  }
  for (const auto& [process_id, seen] : processes.seen()) {
    if (process_id != process && !run.children_are_recorded) {
      ++end->left_out_process_count;
      continue;
    }
    const auto last = last_images.find(process_id);
    if (!IsRecorded(seen, last == last_images.end() ? nullptr : last->second)) {
      end->unrecorded_programs[process_id] = seen.name;
    }
  }
}

// Adds a process without the agent that existed only between two samples; only
// the kernel's mark shows it. `known_bytes` is the largest sample of any
// process.
void FindUnseen(int64_t known_bytes, AgentRunEnd* end) {
  for (const MeasuredProcess& each : end->processes) {
    known_bytes = std::max({known_bytes, each.figures.peak_resident_bytes(),
                            each.figures.peak_live_bytes()});
  }
  const int64_t unknown_bytes = end->peak_process_mark_bytes - known_bytes;
  if (unknown_bytes > kMostUnaccountedBytes &&
      unknown_bytes > end->peak_process_mark_bytes / 2) {
    end->unrecorded_programs[0] = "one that no sample saw";
  }
}

// Returns the images whose records are whole, in the order of their begin.
// Those that began just before the folder was removed may lack files.
std::vector<MeasuredProcess> ReadKept(const KeptRecords& kept,
                                      const std::string& folder) {
  std::vector<MeasuredProcess> processes;
  kept.ForEachImage([&] {
    absl::StatusOr<std::vector<MeasuredProcess>> image = ReadRecords(folder);
    if (!image.ok()) return;
    std::move(image->begin(), image->end(), std::back_inserter(processes));
  });
  std::stable_sort(processes.begin(), processes.end(),
                   [](const MeasuredProcess& a, const MeasuredProcess& b) {
                     return a.figures.begin_time_ns() <
                            b.figures.begin_time_ns();
                   });
  return processes;
}

absl::Status Wait(pid_t process, MachineWatch* watch, KeptRecords* kept,
                  AgentRunEnd* end) {
  // It is not open if the kernel has no pidfd.
  const FileDescriptor watched(
      static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
  int status = 0;
  rusage usage = {};
  while (true) {
    const pid_t ended = wait4(process, &status, WNOHANG, &usage);
    if (ended == process) break;
    if (ended < 0 && errno != EINTR) {
      return absl::InternalError(
          absl::StrCat("cannot wait for the program: ", std::strerror(errno)));
    }
    watch->Look();
    kept->Wait(kLookIntervalMs, watched);
  }
  if (WIFSIGNALED(status)) {
    end->signal_number = WTERMSIG(status);
  } else {
    end->exit_status = WEXITSTATUS(status);
  }
  end->peak_process_mark_bytes = usage.ru_maxrss * int64_t{1024};
  end->user_time_ns = ToNs(usage.ru_utime);
  end->system_time_ns = ToNs(usage.ru_stime);
  return absl::OkStatus();
}

}  // namespace

// exec reports an error through a pipe that a successful exec closes.
absl::StatusOr<pid_t> StartProgram(const std::string& program,
                                   const char* failure,
                                   const std::function<void()>& become) {
  absl::StatusOr<Pipe> failed = MakePipe();
  if (!failed.ok()) return failed.status();
  const pid_t process = fork();
  if (process < 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot start a process: ", std::strerror(errno)));
  }
  if (process == 0) {
    become();
    const int error = errno;
    (void)!write(failed->write_end.get(), &error, sizeof(error));
    _exit(127);
  }
  failed->write_end = FileDescriptor();
  int error = 0;
  if (read(failed->read_end.get(), &error, sizeof(error)) == sizeof(error)) {
    waitpid(process, nullptr, 0);
    return FileError(error, program, failure);
  }
  return process;
}

absl::StatusOr<AgentRunEnd> RunWithAgent(const AgentRun& run) {
  RunFolder folder;
  absl::Status status = folder.Create(run);
  if (!status.ok()) return status;
  absl::StatusOr<GraphicsWatch> graphics = GraphicsWatch::Open();
  KeptRecords kept(folder.path());
  const int64_t begin_ns = MonotonicTimeNs();
  SignalsForProgram signals;
  absl::StatusOr<pid_t> process = Start(run, folder, signals);
  if (!process.ok()) return process.status();
  const int64_t own_mark_bytes = OwnMarkBytes();
  signals.PassTo(*process);
  AgentRunEnd end;
  end.begin_unix_time_ns = absl::GetCurrentTimeNanos();
  MachineWatch watch(*process, run, folder, std::move(graphics));
  if (run.on_begin != nullptr) run.on_begin(folder.path());
  status = Wait(*process, &watch, &kept, &end);
  end.wall_time_ns = MonotonicTimeNs() - begin_ns;
  if (run.on_end != nullptr) run.on_end();
  if (!status.ok()) return status;
  watch.StoreIn(&end);
  if (kept.IsFolderRemoved()) {
    end.removed_folder = folder.path();
    end.processes = ReadKept(kept, folder.path());
  } else {
    absl::StatusOr<std::vector<MeasuredProcess>> processes =
        ReadRecords(folder.path());
    if (!processes.ok()) return processes.status();
    end.processes = *std::move(processes);
  }
  FindUnrecorded(*process, run, watch.processes(), &end);
  if (run.children_are_recorded) {
    FindUnseen(std::max(own_mark_bytes, watch.peak_process_bytes()), &end);
  }
  MarkRunning(&end.processes);
  return end;
}

}  // namespace footprint
