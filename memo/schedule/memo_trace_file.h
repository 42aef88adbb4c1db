// Converts plans and traces to messages, and reads and writes them as files.
//
//   MemoTrace trace;
//   *trace.mutable_plan() = DescribePlan(request, schedule);
//   absl::Status status = WriteMemoTraceFile(trace, "run.trace.binpb");
//   absl::StatusOr<MemoTrace> earlier = ReadMemoTraceFile("run.trace.binpb");
//
// Thread-safe, since it keeps no state. Memory: the file's bytes and the
// message.

#ifndef FOOTPRINT_MEMO_SCHEDULE_MEMO_TRACE_FILE_H_
#define FOOTPRINT_MEMO_SCHEDULE_MEMO_TRACE_FILE_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/memo/schedule/memo_trace.pb.h"
#include "footprint/memo/schedule/schedule_planner.h"

namespace footprint {

inline constexpr int kMemoTraceSchemaVersion = 1;

// Returns the plan as a message. `schedule` must be a schedule of `request`.
MemoPlan DescribePlan(const ScheduleRequest& request, const Schedule& schedule);

struct LoadedSize {
  int64_t bytes = 0;            // allocated or mapped
  int64_t resident_bytes = 0;   // 0 if not counted
  int64_t load_peak_bytes = 0;  // 0 if not measured
  // The bytes of other memos to which the value holds handles.
  int64_t held_bytes = 0;
  int64_t held_resident_bytes = 0;
  // The time of the quickest load, since reloads are quick; 0 if not measured.
  int64_t load_nanoseconds = 0;
  // kMeasured, kGuessed (measured in doubt), kDeclared, or kUnknown if only the
  // time is known.
  SizeSource source = SizeSource::kDeclared;
};
// Returns the largest size, and the shortest load, of each value that was
// loaded or found loaded, by name.
std::map<std::string, LoadedSize> LoadedSizes(const MemoTrace& trace);

// Returns a trace whose only events are loads of these sizes, for a later plan.
MemoTrace TraceOfSizes(const std::map<std::string, LoadedSize>& sizes);

// Reads a trace. Returns the errors of ReadSealedProto
// (//base/files:sealed_proto_file), such as NotFound, DataLoss and
// FailedPrecondition.
absl::StatusOr<MemoTrace> ReadMemoTraceFile(const std::string& path);

// Reads the sizes of earlier runs. Returns an empty map if the file is missing
// or empty, and otherwise the errors of ReadMemoTraceFile.
absl::StatusOr<std::map<std::string, LoadedSize>> ReadRememberedSizes(
    const std::string& path);
// Writes the measured sizes over those in the file, also if they are in doubt,
// and keeps the other values of the file. A declared size adds only the time of
// its load. A known resident size stays if this run did not count it and the
// value has about the same size. Several processes may do this at once: each
// waits for the one before. Returns the errors of FileLock::Acquire
// (//base/files:file_lock), ReadRememberedSizes and WriteMemoTraceFile.
absl::Status RememberSizes(const std::map<std::string, LoadedSize>& sizes,
                           const std::string& path);

// Writes a trace with the schema version. Replaces an old file in one step, and
// does not wait until the bytes reach the disk.
// Returns the errors of WriteSealedProto (//base/files:sealed_proto_file).
absl::Status WriteMemoTraceFile(const MemoTrace& trace,
                                const std::string& path);

}  // namespace footprint

#endif  // FOOTPRINT_MEMO_SCHEDULE_MEMO_TRACE_FILE_H_
