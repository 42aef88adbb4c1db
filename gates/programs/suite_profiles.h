// Reads the profiles that a gate measures now, to compare them with others.
//
//   absl::StatusOr<std::vector<MemoryProfile>> now = ReadSuiteProfiles(flags);
//   if (!now.ok()) return Complain("diff", now.status().message());
//
// Thread-safe; the caller owns what was read. Memory: the profiles.

#ifndef FOOTPRINT_GATES_PROGRAMS_SUITE_PROFILES_H_
#define FOOTPRINT_GATES_PROGRAMS_SUITE_PROFILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/gates/commands/command_flags.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// Returns the profiles that the suite's manifest names, without whole
// processes. Returns kFailedPrecondition if there is no manifest, or if a file
// cannot be read.
absl::StatusOr<std::vector<MemoryProfile>> ReadSuiteProfiles(
    const CommandFlags& flags);

// Removes the profiles whose label does not match `glob`. Returns
// kInvalidArgument if the glob is not valid, or matches no profile on either
// side.
absl::Status KeepOnly(const std::string& glob,
                      std::vector<MemoryProfile>* before,
                      std::vector<MemoryProfile>* after);

}  // namespace footprint

// Tested by explaining_programs_test and compare_main_test.

#endif  // FOOTPRINT_GATES_PROGRAMS_SUITE_PROFILES_H_
