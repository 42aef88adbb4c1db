// A measured run as a file: saved by one memprof, read by another, later or on
// another machine.
//
//   absl::Status status = WriteMeasuredRunFile(run, "before.run");
//   absl::StatusOr<MeasuredRun> before = ReadMeasuredRunFile("before.run");
//
// A file is read whole or not at all: one in which a bit changed, one that was
// cut short, one of another kind and one of a later version are refused
// (//base/files:sealed_proto_file). A run that was read is consistent: each
// index leads somewhere, so that readers need not look. Equal runs give equal
// bytes.
//
// Keeps nothing; the caller owns the run. Thread-safe. Memory: the file's bytes
// and the message, at once.

#ifndef FOOTPRINT_PROFILING_RUNS_MEASURED_RUN_FILE_H_
#define FOOTPRINT_PROFILING_RUNS_MEASURED_RUN_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

inline constexpr int kMeasuredRunSchemaVersion = 1;

// The errors of ReadSealedProto, with the path, the reason and the next step;
// kInvalidArgument also for a run that CheckMeasuredRun refuses.
absl::StatusOr<MeasuredRun> ReadMeasuredRunFile(const std::string& path);

// The errors of ReplaceFile (//base/files:whole_file).
absl::Status WriteMeasuredRunFile(const MeasuredRun& run,
                                  const std::string& path);

// kInvalidArgument for an index that leads nowhere or back, a variance that is
// no variance, and a time or a process's live bytes below zero; says which.
absl::Status CheckMeasuredRun(const MeasuredRun& run);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_MEASURED_RUN_FILE_H_
