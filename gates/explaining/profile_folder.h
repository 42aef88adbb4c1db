// Reads and saves the memory profiles of a file or a folder.
//
//   absl::StatusOr<std::vector<MemoryProfile>> before =
//       ReadProfiles("/tmp/old");
//   if (!before.ok()) return before.status();
//
// Thread-safe, without state; the caller owns what was read. Memory: the
// profiles. Time: linear in the profiles and in the number of files of the
// folder.

#ifndef FOOTPRINT_GATES_EXPLAINING_PROFILE_FOLDER_H_
#define FOOTPRINT_GATES_EXPLAINING_PROFILE_FOLDER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// Returns the profile of a file, or those of a folder: all files below it that
// end in ".binpb", except ".samples.binpb", in the order of their paths.
// Returns kNotFound if a folder has no profiles, kUnavailable if it cannot be
// listed, and else the errors of ReadMemoryProfileFile.
absl::StatusOr<std::vector<MemoryProfile>> ReadProfiles(
    const std::string& path);

// Writes each profile to its own file in `folder`, and makes the folder if it
// is missing. Returns kAlreadyExists if it contains profiles, so that old and
// new ones are never mixed; kUnavailable if the folder cannot be made or
// listed; and else the errors of WriteMemoryProfileFile.
absl::Status SaveProfiles(absl::Span<const MemoryProfile> profiles,
                          const std::string& folder);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_EXPLAINING_PROFILE_FOLDER_H_
