// Runs a program where it can harm nothing, and tells what it needed, as seen
// from outside.
//
//   absl::StatusOr<SandboxRoot> root = SandboxRoot::Create("/var/trials/17");
//   SandboxRun run;
//   run.program = "/bundle/train";
//   run.arguments = {"train", "--rows=1000"};
//   run.bundle_folder = "/var/trials/17/bundle";
//   run.limit_bytes = 100 << 20;
//   absl::StatusOr<SandboxEnd> end = RunInSandbox(*root, run);
//
// The program has user, mount, process, network, IPC, host-name and cgroup
// namespaces of its own; a read-only root with /usr, a few files of /etc, /proc
// and /bundle; /tmp and /dev/shm in memory that is counted; no privileges, and
// none to gain; the system calls that are let through (system_call_filter.h);
// standard input is empty. No network device is up, not even 127.0.0.1: version
// 1 of control groups does not charge the buffers of its sockets. When it ends,
// or its time does, all its processes end.
//
// Thread-safe: runs in several threads do not disturb each other. The folders
// must live as long as the call. Leaves no process, mount or group. Memory: 64
// KiB here; the program's is its group's. Time: the program's and 3 to 5 ms.
// Errors: kFailedPrecondition: a mechanism is missing, named; kInvalidArgument:
// the program cannot be executed; kResourceExhausted: no process or group.

#ifndef FOOTPRINT_GATES_SANDBOX_SANDBOX_H_
#define FOOTPRINT_GATES_SANDBOX_SANDBOX_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace footprint {

// So many bytes at the end of each of the two standard outputs are usually
// kept.
inline constexpr int64_t kOutputTailBytes = 16384;

// Folders and files that a sandbox's root is made on: nothing that a program
// could see but names. Movable; the folder is removed with it.
class SandboxRoot {
 public:
  // Makes "root" in `work_folder`.
  static absl::StatusOr<SandboxRoot> Create(const std::string& work_folder);

  SandboxRoot(SandboxRoot&& other) noexcept;
  SandboxRoot& operator=(SandboxRoot&& other) noexcept;
  ~SandboxRoot();

  const std::string& path() const { return path_; }
  // "r SOURCE TARGET" of what the host gives.
  const std::vector<std::string>& binds() const { return binds_; }

 private:
  SandboxRoot() = default;
  absl::Status Fill();
  absl::Status BindFromHost(const std::string& path, const char* mode);

  std::string path_;
  std::vector<std::string> binds_;
};

struct SandboxRun {
  std::string program;                 // as it is called inside
  std::vector<std::string> arguments;  // argv
  std::vector<std::string> environment;
  std::string bundle_folder;  // becomes /bundle, where the program begins
  int64_t limit_bytes = 0;    // of memory, all its processes together
  int64_t scratch_bytes = 64 << 20;
  int process_limit = 256;
  int time_limit_seconds = 60;
  // A host's program that becomes /runner; empty: none.
  std::string runner;
  // The agent's file; if set, it is /agent.so, and /records is there, writable;
  // `read_records` is called with the path of /records from outside, before it
  // goes. Whatever is there is the program's: links, pipes, lies.
  std::string agent;
  std::function<void(const std::string& folder)> read_records;
  // A host's folder that becomes /records, read-only; empty: none. Not beside
  // an agent.
  std::string records_folder;
  // How much of the end of its standard output is kept.
  int64_t output_tail_bytes = kOutputTailBytes;
};

struct SandboxEnd {
  bool is_timed_out = false;
  int exit_status = 0;
  int signal_number = 0;  // of the two one is set
  int64_t peak_bytes = 0;
  int64_t peak_resident_bytes = 0;  // of the process that had most
  // The sum of all its processes, where a page of several counts once: the
  // highest of looks some 20 ms apart. 0: there was one process.
  int64_t peak_proportional_bytes = 0;
  int64_t limit_hit_count = 0;
  int64_t killed_process_count = 0;  // for want of memory
  int64_t program_time_ns = 0;
  int64_t processor_time_ns = 0;
  int64_t sandbox_time_ns = 0;  // all but the program's
  std::string standard_output_tail;
  std::string standard_error_tail;
};

absl::StatusOr<SandboxEnd> RunInSandbox(const SandboxRoot& root,
                                        const SandboxRun& run);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SANDBOX_SANDBOX_H_
