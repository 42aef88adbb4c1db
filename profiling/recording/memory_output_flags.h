// The two flags of every measured program.
//
//   absl::StatusOr<footprint::MemoryOutputs> outputs =
//       footprint::TakeMemoryOutputFlags(&argc, argv);
//   // --memory_profile_out=x is gone from argv; outputs->profile_path == "x"
//
// Copies what it needs of argv. Thread-compatible. Memory: two paths, and for
// writing one serialized profile.

#ifndef FOOTPRINT_PROFILING_RECORDING_MEMORY_OUTPUT_FLAGS_H_
#define FOOTPRINT_PROFILING_RECORDING_MEMORY_OUTPUT_FLAGS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

struct MemoryOutputs {
  std::string profile_path;  // empty: no profile is wanted
  std::string samples_path;  // empty: no samples are wanted
};

// Takes --memory_profile_out=FILE and --memory_samples_out=FILE (also in two
// words) out of the command line, wherever they stand before "--".
// kInvalidArgument if one of them names no file, or both the same.
absl::StatusOr<MemoryOutputs> TakeMemoryOutputFlags(int* argc, char** argv);

// The text of --help on the two.
extern const char kMemoryOutputFlagsHelp[];

// Writes `profile` as measured by this one process: every metric, each with its
// class, under process_count 1. That the EXACT ones repeat, only more processes
// can show: the rule `memory_profile` has them agree. Sets label and
// environment. Does nothing in a child that the measured process forked. Errors
// as of memory_profile_file.h.
absl::Status WriteMemoryOutputs(MemoryProfile profile,
                                const MemoryOutputs& outputs);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RECORDING_MEMORY_OUTPUT_FLAGS_H_
