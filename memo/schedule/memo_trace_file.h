// Plans and traces as messages and files.
//
//   MemoTrace trace;
//   *trace.mutable_plan() = DescribePlan(request, schedule);
//   absl::Status status = WriteMemoTraceFile(trace, "run.trace.binpb");
//   absl::StatusOr<MemoTrace> earlier = ReadMemoTraceFile("run.trace.binpb");
//
// Thread-safe: no state is kept. Memory: the file's bytes and the message.

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

MemoPlan DescribePlan(const ScheduleRequest& request, const Schedule& schedule);

struct LoadedSize {
  int64_t bytes = 0;            // allocated or mapped
  int64_t resident_bytes = 0;   // 0 if not counted
  int64_t load_peak_bytes = 0;  // 0 if not measured
  // The bytes of other memos whose handles the value holds.
  int64_t held_bytes = 0;
  int64_t held_resident_bytes = 0;
  // The time of the quickest load, as reloads are; 0 if not measured.
  int64_t load_nanoseconds = 0;
  // kMeasured, kGuessed (measured in doubt), kDeclared, or kUnknown: only the
  // time is known.
  SizeSource source = SizeSource::kDeclared;
};
// Returns the largest size of each value that was loaded, by name.
std::map<std::string, LoadedSize> LoadedSizes(const MemoTrace& trace);

// A trace of loads alone that has these sizes, for a later plan.
MemoTrace TraceOfSizes(const std::map<std::string, LoadedSize>& sizes);

// The errors of ReadSealedProto (//base/files:sealed_proto_file), such as
// NotFound, DataLoss and FailedPrecondition.
absl::StatusOr<MemoTrace> ReadMemoTraceFile(const std::string& path);

// Sizes of earlier runs; none where the file is missing or empty. Else the
// errors of ReadMemoTraceFile.
absl::StatusOr<std::map<std::string, LoadedSize>> ReadRememberedSizes(
    const std::string& path);
// Puts what was measured among `sizes` into such a file, beside what is there;
// of a declared size, only how long its load took.
// A resident size that was not counted stays if the value is of the same size.
// Several processes may do that at once: each waits for the one before.
absl::Status RememberSizes(const std::map<std::string, LoadedSize>& sizes,
                           const std::string& path);

// Sets the schema version in the file. Replaces an old file in one step; the
// errors are those of ReplaceFile (//base/files:whole_file).
absl::Status WriteMemoTraceFile(const MemoTrace& trace,
                                const std::string& path);

}  // namespace footprint

#endif  // FOOTPRINT_MEMO_SCHEDULE_MEMO_TRACE_FILE_H_
