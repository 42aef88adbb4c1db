// A control group of one's own, which counts all memory of the processes in it:
// also page cache, tmpfs and the kernel's own.
//
//   absl::StatusOr<std::unique_ptr<MemoryGroup>> group = MemoryGroup::Make();
//   // in the child, before execve:
//   write((*group)->entrance(), "0", 1);
//   // after its end:
//   absl::StatusOr<int64_t> bytes = (*group)->PeakBytes();
//
// It stands below the group of this process, as version 1 or 2 of the kernel's
// controllers has it. The peak has pages of files that its processes were first
// to read, which the kernel would give up under a limit, and not those that
// another group had read before: it says more and less than a resident set.
//
// Owns the group, which goes with it; what still runs in it then keeps it.
// Thread-compatible. Memory: two paths. Time: some milliseconds. Errors of
// Make: kFailedPrecondition, with the reason, where no group may be made: no
// controller for memory, a read-only file system (as in most sandboxes), no
// permission. Source: Linux, admin-guide/cgroup-v1/memory.rst and
// cgroup-v2.rst.

#ifndef FOOTPRINT_PROFILING_OUTSIDE_MEMORY_GROUP_H_
#define FOOTPRINT_PROFILING_OUTSIDE_MEMORY_GROUP_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/file_descriptor.h"

namespace footprint {

// The folder of this process's group by the texts of /proc/self/mountinfo and
// /proc/self/cgroup. Empty: there is none.
struct MemoryGroupPlace {
  std::string folder;
  bool is_version_2 = false;
};
MemoryGroupPlace FindMemoryGroup(absl::string_view mounts,
                                 absl::string_view groups);

class MemoryGroup {
 public:
  static absl::StatusOr<std::unique_ptr<MemoryGroup>> Make();
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;
  ~MemoryGroup();

  // A file: a process that writes "0" to it is in the group from then on.
  int entrance() const { return entrance_.get(); }

  // The highest so far. kNotFound: this kernel keeps no peak.
  absl::StatusOr<int64_t> PeakBytes() const;

 private:
  MemoryGroup(std::string folder, bool is_version_2, FileDescriptor entrance);

  const std::string folder_;
  const bool is_version_2_;
  const FileDescriptor entrance_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_OUTSIDE_MEMORY_GROUP_H_
