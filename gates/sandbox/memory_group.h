// A cgroup of one run: its memory limited and its peak told by the kernel, page
// cache and kernel memory included.
//
//   absl::StatusOr<MemoryGroup> group = MemoryGroup::Create(100 << 20);
//   write(group->processes_descriptor(), "0\n", 2);  // the caller joins
//   group->peak_bytes();
//
// Of version 1 or 2, whichever has the memory controller, below this process's
// own group. Groups that a killed process of this library left are removed by
// the next Create. Owns the group, which is removed with it; whoever is in it
// must have ended. Movable; thread-compatible, and Create is thread-safe.
// Memory: some KiB of the kernel's. Time: about a millisecond. Errors:
// kFailedPrecondition: no such controller, or not for this user, with the way
// out; kResourceExhausted: the kernel has no room.

#ifndef FOOTPRINT_GATES_SANDBOX_MEMORY_GROUP_H_
#define FOOTPRINT_GATES_SANDBOX_MEMORY_GROUP_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "footprint/base/files/file_descriptor.h"

namespace footprint {

class MemoryGroup {
 public:
  static absl::StatusOr<MemoryGroup> Create(int64_t limit_bytes);

  MemoryGroup(MemoryGroup&& other) noexcept;
  MemoryGroup& operator=(MemoryGroup&& other) noexcept;
  ~MemoryGroup();

  int processes_descriptor() const { return processes_.get(); }
  // -1: the kernel does not tell.
  int64_t peak_bytes() const;
  // How often the limit was met: pages were taken back, or a process killed.
  int64_t limit_hit_count() const;
  int64_t killed_process_count() const;
  const std::string& path() const { return path_; }
  bool is_version_2() const { return is_version_2_; }

 private:
  MemoryGroup() = default;
  int64_t Number(const char* file, const char* key) const;

  std::string path_;
  bool is_version_2_ = false;
  FileDescriptor processes_;
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SANDBOX_MEMORY_GROUP_H_
