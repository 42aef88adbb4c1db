// The first process of a sandbox: makes the mounts, starts the program, reaps
// processes, and reports. It is a separate static program, so that it starts
// fast from a large server, and the program's resident peak does not include
// the server's memory.
//
//   sandbox_init ROOT SCRATCH_BYTES FILE_BYTES PROCESSES CPU_SECONDS FOLDER
//                BIND_COUNT {r|w|d SOURCE TARGET}... {TMPFS_COUNT TARGET...}
//                VARIABLE_COUNT VARIABLE... "" PROGRAM ARG...
//
// The variables are the program's. This process has none.

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "footprint/base/machine/monotonic_time.h"
#include "footprint/gates/sandbox/sandbox_init_protocol.h"
#include "footprint/gates/sandbox/system_call_filter.h"

namespace footprint {
namespace {

void Send(const InitReport& report) {
  (void)!write(kReportDescriptor, &report, sizeof(report));
}

[[noreturn]] void Fail(InitStep step, int argument = 0) {
  InitReport report;
  report.step = step;
  report.error_number = errno;
  report.argument = argument;
  Send(report);
  _exit(125);
}

void Require(bool holds, InitStep step, int argument = 0) {
  if (!holds) Fail(step, argument);
}

// Binds a tree of the host to another path, read-only unless `mode` is 'w'.
// Only mode 'd' keeps devices.
void Bind(char mode, const char* source, const char* target, int index) {
  const int tree = open_tree(
      AT_FDCWD, source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
  Require(tree >= 0, InitStep::kBind, index);
  mount_attr attributes = {};
  attributes.attr_set = MOUNT_ATTR_NOSUID;
  if (mode != 'd') attributes.attr_set |= MOUNT_ATTR_NODEV;
  if (mode == 'r') attributes.attr_set |= MOUNT_ATTR_RDONLY;
  Require(mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes,
                        sizeof(attributes)) == 0,
          InitStep::kBind, index);
  Require(move_mount(tree, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH) == 0,
          InitStep::kBind, index);
  close(tree);
}

struct Plan {
  const char* root;
  const char* scratch_bytes;
  rlim_t process_count;
  rlim_t processor_seconds;
  rlim_t file_bytes;
  const char* folder;
  char** environment;  // of the program; null ends it
  char** program;
};

// Mounts everything that the arguments name below the root. Returns the
// remaining arguments.
char** MountFromArguments(char** argument, const char* scratch_bytes) {
  const int bind_count = std::atoi(*argument++);
  for (int i = 0; i < bind_count; ++i, argument += 3) {
    Bind(argument[0][0], argument[1], argument[2], i);
  }
  char options[96];
  std::snprintf(options, sizeof(options),
                "size=%s,nr_inodes=10000,mode=1777,uid=%d,gid=%d",
                scratch_bytes, kInsideUser, kInsideUser);
  const int scratch_count = std::atoi(*argument++);
  for (int i = 0; i < scratch_count; ++i, ++argument) {
    Require(
        mount("tmpfs", *argument, "tmpfs", MS_NOSUID | MS_NODEV, options) == 0,
        InitStep::kScratch, i);
  }
  return argument;
}

Plan Prepare(char** argument) {
  Plan plan = {};
  plan.root = argument[1];
  plan.scratch_bytes = argument[2];
  plan.file_bytes = std::strtoull(argument[3], nullptr, 10);
  plan.process_count = std::strtoull(argument[4], nullptr, 10);
  plan.processor_seconds = std::strtoull(argument[5], nullptr, 10);
  plan.folder = argument[6];
  Require(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0,
          InitStep::kPrivateMounts);
  Bind('r', plan.root, plan.root, -1);
  Require(chdir(plan.root) == 0, InitStep::kRoot);
  plan.environment = MountFromArguments(argument + 7, plan.scratch_bytes);
  const int variable_count = std::atoi(*plan.environment++);
  plan.environment[variable_count] = nullptr;
  plan.program = plan.environment + variable_count + 1;
  Require(mount("proc", "proc", "proc",
                MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY,
                "hidepid=invisible") == 0,
          InitStep::kProc);
  Require(syscall(SYS_pivot_root, ".", ".") == 0, InitStep::kPivot);
  Require(umount2(".", MNT_DETACH) == 0, InitStep::kPivot);
  Require(chdir("/") == 0, InitStep::kPivot);
  return plan;
}

void SetLimit(int resource, rlim_t value) {
  const rlimit limit = {value, value};
  Require(setrlimit(static_cast<__rlimit_resource>(resource), &limit) == 0,
          InitStep::kLimits, resource);
}

void SetLimits(const Plan& plan) {
  SetLimit(RLIMIT_CORE, 0);
  SetLimit(RLIMIT_NPROC, plan.process_count);
  SetLimit(RLIMIT_NOFILE, 1024);
  SetLimit(RLIMIT_FSIZE, plan.file_bytes);
  SetLimit(RLIMIT_MSGQUEUE, 819200);
  const rlimit processor = {plan.processor_seconds, plan.processor_seconds + 1};
  Require(setrlimit(RLIMIT_CPU, &processor) == 0, InitStep::kLimits,
          RLIMIT_CPU);
  const rlimit stack = {8 << 20, RLIM_INFINITY};
  setrlimit(RLIMIT_STACK, &stack);  // a lower limit may stay
}

void DropPrivileges() {
  for (int capability = 0; capability <= 63; ++capability) {
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) break;
  }
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  setgroups(0, nullptr);  // fails if there are no groups to drop
  Require(setresgid(kInsideUser, kInsideUser, kInsideUser) == 0,
          InitStep::kUser, 1);
  Require(setresuid(kInsideUser, kInsideUser, kInsideUser) == 0,
          InitStep::kUser, 2);
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  Require(syscall(SYS_capset, &header, none) == 0, InitStep::kUser, 3);
  Require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, InitStep::kUser, 4);
}

// Executes a path, or a name that is searched in PATH. Unlike execvp, it runs
// no file without "#!" by a shell. Returns only after an error.
void Execute(const char* program, char** arguments, char** environment) {
  const char* folders = nullptr;
  for (char** each = environment; *each != nullptr && folders == nullptr;
       ++each) {
    if (std::strncmp(*each, "PATH=", 5) == 0) folders = *each + 5;
  }
  if (std::strchr(program, '/') != nullptr || folders == nullptr) {
    execve(program, arguments, environment);
    return;
  }
  bool is_refused = false;
  while (true) {
    const size_t size = std::strcspn(folders, ":");
    char path[4096];
    const int written = std::snprintf(path, sizeof(path), "%.*s/%s",
                                      size == 0 ? 1 : static_cast<int>(size),
                                      size == 0 ? "." : folders, program);
    if (written > 0 && static_cast<size_t>(written) < sizeof(path)) {
      execve(path, arguments, environment);
      const bool is_absent = errno == ENOENT || errno == ENOTDIR;
      if (!is_absent && errno != EACCES) return;
      is_refused = is_refused || !is_absent;
    }
    if (folders[size] == '\0') break;
    folders += size + 1;
  }
  errno = is_refused ? EACCES : ENOENT;
}

[[noreturn]] void Become(const Plan& plan) {
  // From here on this process's memory counts in the program's group.
  if (fcntl(kGroupDescriptor, F_GETFD) >= 0) {
    Require(write(kGroupDescriptor, "0\n", 2) == 2, InitStep::kGroup);
    close(kGroupDescriptor);
  }
  Require(write(kCpuGroupDescriptor, "0\n", 2) == 2, InitStep::kGroup, 1);
  close(kCpuGroupDescriptor);
  setsid();
  SetLimits(plan);
  DropPrivileges();
  Require(chdir(plan.folder) == 0, InitStep::kFolder);
  fcntl(kReportDescriptor, F_SETFD, FD_CLOEXEC);
  close(kControlDescriptor);
  Require(InstallSystemCallFilter(), InitStep::kFilter);
  Execute(plan.program[0], plan.program + 1, plan.environment);
  Fail(InitStep::kExecute);
}

void AddUsage(const rusage& usage, InitReport* report) {
  const int64_t resident = int64_t{usage.ru_maxrss} * 1024;
  if (resident > report->peak_resident_bytes) {
    report->peak_resident_bytes = resident;
  }
  report->processor_time_ns +=
      (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * int64_t{1000000000} +
      (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * int64_t{1000};
}

// Reaps all processes. When the program ends, kills the others.
void ReapAll(pid_t program, InitReport* report) {
  while (true) {
    int status = 0;
    rusage usage = {};
    const pid_t ended = wait4(-1, &status, 0, &usage);
    if (ended < 0 && errno == EINTR) continue;
    if (ended < 0) return;
    AddUsage(usage, report);
    if (ended != program) continue;
    report->program_end_ns = MonotonicTimeNs();
    report->wait_status = status;
    kill(-1, SIGKILL);
  }
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  using namespace footprint;  // NOLINT(build/namespaces)
  if (argc < 10) return 2;
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  char byte = 0;
  Require(read(kControlDescriptor, &byte, 1) == 1, InitStep::kWaiting);
  // This comes after the ID maps were written: a parent that is not root could
  // not write them otherwise.
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  umask(022);
  const Plan plan = Prepare(argv);
  InitReport report;
  report.program_begin_ns = MonotonicTimeNs();
  const pid_t program = fork();
  Require(program >= 0, InitStep::kFork);
  if (program == 0) Become(plan);
  close(kGroupDescriptor);
  close(kCpuGroupDescriptor);
  close(1);
  close(2);
  ReapAll(program, &report);
  Send(report);
  // Waits, so that the sandbox's files exist until they have been read.
  (void)!read(kControlDescriptor, &byte, 1);
  return 0;
}
