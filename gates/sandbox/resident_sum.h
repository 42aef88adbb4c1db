// The resident bytes of all processes of a control group, at this moment: a
// page that several of them have counts once.
//
//   const int64_t bytes = ReadResidentSum(group.path());
//
// A control group counts a page where it is read first, and so leaves out pages
// of the host's files that were in memory before. Here they count as their
// processes have them. 0 where the group has fewer than two processes, whose
// resident peak the kernel itself keeps, and where a process came or went
// during the look.
//
// Thread-safe; keeps and owns nothing. Memory: some KiB. Time: some 100 us a
// process, more for large ones. There is no status: a look that cannot be made
// is 0.

#ifndef FOOTPRINT_GATES_SANDBOX_RESIDENT_SUM_H_
#define FOOTPRINT_GATES_SANDBOX_RESIDENT_SUM_H_

#include <cstdint>
#include <string>

namespace footprint {

int64_t ReadResidentSum(const std::string& group_path);

}  // namespace footprint

// Tested by sandbox_test.

#endif  // FOOTPRINT_GATES_SANDBOX_RESIDENT_SUM_H_
