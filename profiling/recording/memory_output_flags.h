// Parses the two flags of every measured program, and writes the files that
// they name.
//
//   absl::StatusOr<footprint::MemoryOutputs> outputs =
//       footprint::TakeMemoryOutputFlags(&argc, argv);
//   // --memory_profile_out=x is gone from argv; outputs->profile_path == "x"
//
// Copies what it needs of argv. Thread-compatible. Memory: two paths; while
// writing, also the profile, its samples, and one of them serialized.

#ifndef FOOTPRINT_PROFILING_RECORDING_MEMORY_OUTPUT_FLAGS_H_
#define FOOTPRINT_PROFILING_RECORDING_MEMORY_OUTPUT_FLAGS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

struct MemoryOutputs {
  std::string profile_path;  // Empty if no profile is wanted.
  std::string samples_path;  // Empty if no samples are wanted.
};

// Removes --memory_profile_out=FILE and --memory_samples_out=FILE (or as two
// words) from the command line, wherever they are before "--", even if it
// returns an error. Returns kInvalidArgument if one of them names no file, or
// both name the same file.
absl::StatusOr<MemoryOutputs> TakeMemoryOutputFlags(int* argc, char** argv);

// The text of --help for the two flags.
extern const char kMemoryOutputFlagsHelp[];

// Writes `profile` as measured by this one process: every metric with its
// class, and process_count 1. Only more processes can show whether the EXACT
// ones repeat; the rule `memory_profile` compares them. Sets label and
// environment. Does nothing in a child that the measured process forked. Errors
// are those of memory_profile_file.h.
absl::Status WriteMemoryOutputs(MemoryProfile profile,
                                const MemoryOutputs& outputs);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RECORDING_MEMORY_OUTPUT_FLAGS_H_
