// A control group of one run: its peak told by the kernel, page cache, tmpfs
// and kernel memory included, and its memory limited if wanted.
//
//   absl::StatusOr<MemoryGroup> group = MemoryGroup::Create(100 << 20);
//   write(group->processes_descriptor(), "0\n", 2);  // the caller joins
//   group->peak_bytes();
//
// The group is one of version 1 or 2, whichever has the memory controller, and
// lies below this process's own group. A group of version 2 has either
// processes or controllers, so where the own group is delegated (a container's,
// or by systemd's Delegate=memory), its processes move into one below it,
// footprint-self; elsewhere groups are made beside the own one. The peak has
// pages of files that its processes were first to read, which the kernel would
// give up under a limit, and not those that another group had read before: it
// says more and less than a resident set.
//
// Owns the group, which is removed with it; whoever is in it must have ended;
// what still runs then keeps it. Groups that a killed process of this library
// left are removed by the next Create. Movable; thread-compatible, and Create
// is thread-safe. Memory: some KiB of the kernel's. Time: about a millisecond.
// Errors: kFailedPrecondition: no such controller, or not for this user, with
// the way out; kResourceExhausted: the kernel has no room. Source: Linux,
// admin-guide/cgroup-v1/memory.rst and cgroup-v2.rst.

#ifndef FOOTPRINT_BASE_MACHINE_MEMORY_GROUP_H_
#define FOOTPRINT_BASE_MACHINE_MEMORY_GROUP_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/file_descriptor.h"

namespace footprint {

// The folder of a process's group by its /proc/PID/mountinfo and cgroup. Empty:
// there is none.
struct MemoryGroupFolder {
  std::string path;
  bool is_version_2 = false;
};
MemoryGroupFolder FindMemoryGroup(absl::string_view mounts,
                                  absl::string_view groups);

// Bytes that a group is charged for at one moment.
struct MemoryGroupUse {
  int64_t used_bytes = 0;
  // The group needs what is used less the page cache of files, which the kernel
  // gives up under a limit: memory of processes, shared memory and tmpfs,
  // whether mapped or not, and the kernel's own (page tables, buffers of pipes
  // and sockets). What the kernel only has at hand for the group, 512 KiB a
  // processor at most, is left out, too.
  int64_t needed_bytes = 0;

  // Page cache, and what the kernel has at hand.
  int64_t rest_bytes() const { return used_bytes - needed_bytes; }
};

class MemoryGroup {
 public:
  static constexpr int64_t kNoLimit = -1;
  static absl::StatusOr<MemoryGroup> Create(int64_t limit_bytes = kNoLimit);

  MemoryGroup(MemoryGroup&& other) noexcept;
  MemoryGroup& operator=(MemoryGroup&& other) noexcept;
  ~MemoryGroup();

  int processes_descriptor() const { return processes_.get(); }
  // -1: the kernel does not tell.
  int64_t peak_bytes() const;
  // Zeros: the kernel does not tell.
  MemoryGroupUse ReadUse() const;
  // Returns how often the limit was met: pages were taken back, or a process
  // killed.
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

#endif  // FOOTPRINT_BASE_MACHINE_MEMORY_GROUP_H_
