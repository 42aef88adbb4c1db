// Defines the messages between RunInSandbox and the first process of a sandbox.
//
//   InitReport report = {};
//   report.step = InitStep::kEnded;
//   write(kReportDescriptor, &report, sizeof(report));
//
// Plain data, thread-safe. Memory: a report is 48 bytes.

#ifndef FOOTPRINT_GATES_SANDBOX_SANDBOX_INIT_PROTOCOL_H_
#define FOOTPRINT_GATES_SANDBOX_SANDBOX_INIT_PROTOCOL_H_

#include <cstdint>

namespace footprint {

// Descriptors of the first process. 0 to 2 are the program's.
inline constexpr int kReportDescriptor = 3;
// The process begins when it reads a byte from this pipe. After its report it
// stays until the pipe is closed. While the program runs, closing ends nothing.
inline constexpr int kControlDescriptor = 4;
// cgroup.procs of the program's memory group; closed if there is none.
inline constexpr int kGroupDescriptor = 5;
// cgroup.procs of the program's group of processors, or a file that takes
// everything if there is none.
inline constexpr int kCpuGroupDescriptor = 6;
inline constexpr int kFirstFreeDescriptor = 7;

inline constexpr int kInsideUser = 1000;

enum class InitStep : int32_t {
  kEnded = 0,  // the program ran and ended
  kWaiting,
  kPrivateMounts,
  kRoot,
  kBind,
  kProc,
  kScratch,
  kPivot,
  kGroup,
  kFork,
  kLimits,
  kUser,
  kFolder,
  kFilter,
  kExecute,
};

struct InitReport {
  InitStep step = InitStep::kEnded;
  int32_t error_number = 0;  // of a step that failed
  int32_t argument = 0;      // index, if the step has several parts
  int32_t wait_status = 0;   // of the program, as wait gives it
  int64_t peak_resident_bytes = 0;
  int64_t processor_time_ns = 0;
  int64_t program_begin_ns = 0;  // CLOCK_MONOTONIC
  int64_t program_end_ns = 0;
};

}  // namespace footprint

// Tested by sandbox_test.

#endif  // FOOTPRINT_GATES_SANDBOX_SANDBOX_INIT_PROTOCOL_H_
