// Finds the control group of a process, and makes and removes groups, for
// memory_group.h and cpu_group.h.
//
//   const std::string folder = FindControlGroup(
//       "cpu", ReadKernelFile("/proc/self/mountinfo").value_or(""),
//       ReadKernelFile("/proc/self/cgroup").value_or(""));
//   // "/sys/fs/cgroup/cpu/user.slice", or empty
//   const std::string path = NewControlGroupPath(folder);
//
// Thread-safe; keeps nothing. Memory: the texts. Source: Linux,
// admin-guide/cgroup-v1 and cgroup-v2.rst.

#ifndef FOOTPRINT_BASE_MACHINE_CONTROL_GROUP_H_
#define FOOTPRINT_BASE_MACHINE_CONTROL_GROUP_H_

#include <string>

#include "absl/strings/string_view.h"

namespace footprint {

// Returns the folder of a process's group in the hierarchy of version 1 that
// has this controller, or with an empty `controller` in that of version 2, from
// the texts of the process's /proc/PID/mountinfo and /proc/PID/cgroup. Returns
// an empty text if there is no such hierarchy.
std::string FindControlGroup(absl::string_view controller,
                             absl::string_view mounts,
                             absl::string_view groups);

// Returns whether a file of the kernel has the word, among others that are
// separated by this character.
bool HasWord(absl::string_view text, char separator, absl::string_view word);

// Writes a text to an existing file in one step. Returns false, and leaves
// errno set, if that fails.
bool WriteControlFile(const std::string& path, absl::string_view text);

// Returns a new name for a group below `folder`. It has the process's number,
// by which RemoveStaleControlGroups knows whether its maker still runs.
std::string NewControlGroupPath(const std::string& folder);

// Removes the groups below `folder` that killed processes left.
void RemoveStaleControlGroups(const std::string& folder);

// Removes a group, whose processes must have ended. The kernel removes an ended
// process from its group a moment later, so this waits for at most 100 ms.
void RemoveControlGroup(const std::string& path);

}  // namespace footprint

// Tested by memory_group_test.

#endif  // FOOTPRINT_BASE_MACHINE_CONTROL_GROUP_H_
