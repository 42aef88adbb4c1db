// Reads the resident bytes of all processes of a control group at this moment.
// A page that only these processes share counts once.
//
//   const absl::StatusOr<int64_t> bytes = ReadResidentSum(group.path());
//
// A page is charged to the control group that reads it first, so the group's
// own count leaves out pages of the host's files that were already in memory.
// This function adds up proportional set sizes instead: a page that n processes
// of the host map counts 1/n for each of them. Returns 0 if the group has fewer
// than two processes (the kernel itself keeps the resident peak of one
// process), or if a process started or ended during the measurement.
//
// Thread-safe; keeps nothing. Memory: a few KiB. Time: about 100 us for each
// process, more for large ones. PermissionDenied: this process may not read the
// size of one of them; a sum without it would be too small. NotFound: there is
// no such group.

#ifndef FOOTPRINT_GATES_SANDBOX_RESIDENT_SUM_H_
#define FOOTPRINT_GATES_SANDBOX_RESIDENT_SUM_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace footprint {

// Returns the bytes, or 0. `group_path` is the folder of the control group.
absl::StatusOr<int64_t> ReadResidentSum(const std::string& group_path);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SANDBOX_RESIDENT_SUM_H_
