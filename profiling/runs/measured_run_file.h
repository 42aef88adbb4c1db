// Reads and writes a measured run as a file, which another memprof may read
// later or on another machine.
//
//   absl::Status status = WriteMeasuredRunFile(run, "before.run");
//   absl::StatusOr<MeasuredRun> before = ReadMeasuredRunFile("before.run");
//
// A file is read whole or not at all. A file in which a bit changed, or that
// was cut short, or is of another kind or a later version is refused
// (//base/files:sealed_proto_file). A run that was read is consistent: every
// index is in range, so readers need not check. Equal runs give equal bytes.
//
// Keeps nothing; the caller owns the run. Thread-safe. Memory: the file's bytes
// and the message at once.

#ifndef FOOTPRINT_PROFILING_RUNS_MEASURED_RUN_FILE_H_
#define FOOTPRINT_PROFILING_RUNS_MEASURED_RUN_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

inline constexpr int kMeasuredRunSchemaVersion = 1;

// Reads the file. Returns the errors of ReadSealedProto, with the path, the
// reason and the next step, and kInvalidArgument for a run that
// CheckMeasuredRun refuses.
absl::StatusOr<MeasuredRun> ReadMeasuredRunFile(const std::string& path);

// Writes the file without checking the run. Returns the errors of
// WriteSealedProto.
absl::Status WriteMeasuredRunFile(const MeasuredRun& run,
                                  const std::string& path);

// Returns kInvalidArgument, with the reason, for an index out of range, a
// moment or a point of the timeline out of order, an invalid variance, or a
// negative time or number of live bytes of a process. It does not check other
// figures.
absl::Status CheckMeasuredRun(const MeasuredRun& run);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_MEASURED_RUN_FILE_H_
