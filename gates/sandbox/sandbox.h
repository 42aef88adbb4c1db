// Runs a program where it can do no harm, and measures from outside what it
// needs.
//
//   absl::StatusOr<SandboxRoot> root = SandboxRoot::Create("/var/trials/17");
//   SandboxRun run;
//   run.program = "/bundle/train";
//   run.arguments = {"train", "--rows=1000"};
//   run.bundle_folder = "/var/trials/17/bundle";
//   run.limit_bytes = 100 << 20;
//   absl::StatusOr<SandboxEnd> end = RunInSandbox(*root, run);
//
// The program has its own user, mount, process, network, IPC, host-name and
// cgroup namespaces; a read-only root with /usr, a few files of /etc, five
// devices (null, zero, full, random and urandom), /proc and /bundle; /tmp and
// /dev/shm in memory that counts; no privileges, and no way to gain any; only
// the system calls of system_call_filter.h; and an empty standard input. No
// network device is up, not even 127.0.0.1, because version 1 of control groups
// does not charge the buffers of its sockets. When the program or its time
// ends, all its processes end.
//
// With an image folder, that is the root in place of the host's folders, and
// its own /dev, /proc and /tmp are hidden. Everything else stays the same.
//
// Thread-safe: runs in several threads do not disturb each other. The folders
// must exist during the call. Leaves no process, mount or group behind. Memory:
// 64 KiB here; the program's memory counts in its group. Time: the program's,
// and 3 to 5 ms. Errors: kFailedPrecondition, with its name, if a mechanism is
// missing; kInvalidArgument if the program cannot be executed or its folder
// cannot be entered;
// kResourceExhausted if no process or group can be made; kPermissionDenied if
// the memory of several processes may not be read (resident_sum.h); kInternal
// if the sandbox's own first process ends early.

#ifndef FOOTPRINT_GATES_SANDBOX_SANDBOX_H_
#define FOOTPRINT_GATES_SANDBOX_SANDBOX_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace footprint {

// Default number of bytes that are kept of the end of each of the two standard
// outputs.
inline constexpr int64_t kOutputTailBytes = 16384;

// The empty folders and files on which a sandbox's root is mounted. A program
// sees only their names. Movable; the destructor removes the folder.
class SandboxRoot {
 public:
  // Makes the folder "root" in `work_folder`, which must not have one. Errors:
  // those of FileError and ReplaceFile.
  static absl::StatusOr<SandboxRoot> Create(const std::string& work_folder);

  SandboxRoot(SandboxRoot&& other) noexcept;
  SandboxRoot& operator=(SandboxRoot&& other) noexcept;
  ~SandboxRoot();

  const std::string& path() const { return path_; }
  // Returns three texts for each part of the host that the sandbox has: the
  // mode ("r", or "d" for a device), the source and the target.
  const std::vector<std::string>& binds() const { return binds_; }

 private:
  SandboxRoot() = default;
  absl::Status Fill();
  absl::Status BindFromHost(const std::string& path, const char* mode);

  std::string path_;
  std::vector<std::string> binds_;
};

struct SandboxRun {
  // Its path inside the sandbox, or a name that is searched in PATH.
  std::string program;
  std::vector<std::string> arguments;  // argv
  std::vector<std::string> environment;
  std::string bundle_folder;  // becomes /bundle
  // If set, this folder of the host becomes the root, read-only, and there is
  // no bundle and no runner. It must have the folders dev, proc and tmp, and
  // none of the three may be a link.
  std::string image_folder;
  std::string working_folder = "/bundle";  // the program's first folder
  int64_t limit_bytes = 0;  // memory limit of all its processes together
  int64_t scratch_bytes = 64 << 20;  // the most in /tmp, and in /dev/shm
  int process_limit = 256;
  int time_limit_seconds = 60;
  // The run's share of the processors while others want them, too, from 1 to
  // 10000 (cpu_group.h); 0: it has no group of its own. On a host without a cpu
  // controller it has no effect (CheckCpuWeights of host.h).
  int cpu_weight = 0;
  // A program of the host that becomes /runner; empty for none.
  std::string runner;
  // The agent's file. If set, it becomes AgentPath, and there is a writable
  // folder RecordsPath. Before the folder is removed, `read_records` is called
  // with its path on the host, unless the time limit ended the run. The program
  // controls its content: it may have links, pipes and false records.
  std::string agent;
  std::function<void(const std::string& folder)> read_records;
  // A folder of the host that becomes /records, read-only; empty for none. Must
  // not be set together with an agent.
  std::string records_folder;
  // Number of bytes to keep of the end of its standard output.
  int64_t output_tail_bytes = kOutputTailBytes;
};

struct SandboxEnd {
  // If true, `sandbox_time_ns` includes the program's time, and
  // `peak_resident_bytes` and the other two times are 0.
  bool is_timed_out = false;
  int exit_status = 0;
  int signal_number = 0;  // only one of the two is set
  int64_t peak_bytes = 0;
  int64_t peak_resident_bytes = 0;  // of the largest process
  // Highest sum of all its processes, in which a shared page counts once,
  // sampled about every 20 ms; 0 if there was one process.
  int64_t peak_proportional_bytes = 0;
  int64_t limit_hit_count = 0;
  int64_t killed_process_count = 0;  // for lack of memory
  int64_t program_time_ns = 0;
  int64_t processor_time_ns = 0;
  int64_t sandbox_time_ns = 0;  // without the program's time
  std::string standard_output_tail;
  std::string standard_error_tail;
};

// Return where the program finds the agent and the folder of its records. In an
// image they lie in /dev, where the image can have nothing.
std::string AgentPath(const SandboxRun& run);
std::string RecordsPath(const SandboxRun& run);

// Returns the user of this host that the program is. Files that belong to it
// seem to be the program's own.
unsigned SandboxUser();

// Runs the program and waits for its end.
absl::StatusOr<SandboxEnd> RunInSandbox(const SandboxRoot& root,
                                        const SandboxRun& run);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SANDBOX_SANDBOX_H_
