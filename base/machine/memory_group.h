// A control group for one run. The kernel reports the group's peak, which
// includes page cache, tmpfs and kernel memory, and can limit its memory.
//
//   absl::StatusOr<MemoryGroup> group = MemoryGroup::Create(100 << 20);
//   write(group->processes_descriptor(), "0\n", 2);  // the caller joins
//   group->peak_bytes();
//
// The group is of version 1 or 2, whichever has the memory controller, and lies
// below this process's own group. A group of version 2 has either processes or
// controllers. So if this process's group is delegated (to a container, or by
// systemd's Delegate=memory), the processes in it move into a group below it,
// footprint-self; otherwise new groups are made beside it. The peak includes
// pages of files that the group's processes were the first to read, which the
// kernel would give up under a limit. It does not include pages that another
// group had read before. So it may be more or less than a resident set.
//
// Owns the group and removes it at the end. All processes in it must have
// ended; a process that still runs keeps the group. The first Create of a
// process removes groups that killed processes of this library left. Movable;
// thread-compatible, and Create is thread-safe. Memory: some KiB of the
// kernel's. Time: about a millisecond; the destructor waits up to 100 ms while
// a process is still in the group. Errors: FailedPrecondition if there is no
// memory controller, if this user may not use it (the message says what to do),
// or if the limit cannot be set; ResourceExhausted if the kernel has no room.
// Source: Linux, admin-guide/cgroup-v1/memory.rst and cgroup-v2.rst.

#ifndef FOOTPRINT_BASE_MACHINE_MEMORY_GROUP_H_
#define FOOTPRINT_BASE_MACHINE_MEMORY_GROUP_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/file_descriptor.h"

namespace footprint {

// The folder of a process's group. FindMemoryGroup finds it in the texts of the
// process's /proc/PID/mountinfo and /proc/PID/cgroup. The path is empty if
// there is no group.
struct MemoryGroupFolder {
  std::string path;
  bool is_version_2 = false;
};
MemoryGroupFolder FindMemoryGroup(absl::string_view mounts,
                                  absl::string_view groups);

// Bytes that a group is charged for at one moment.
struct MemoryGroupUse {
  int64_t used_bytes = 0;
  // The used bytes without the page cache of files, which the kernel gives up
  // under a limit: memory of processes, shared memory and tmpfs, whether mapped
  // or not, and the kernel's own (page tables, buffers of pipes and sockets).
  // Bytes that the kernel charged in advance, at most 512 KiB per processor,
  // are left out, too.
  int64_t needed_bytes = 0;

  // Returns the bytes that the kernel gives up under a limit, most of them page
  // cache, and the bytes charged in advance.
  int64_t rest_bytes() const { return used_bytes - needed_bytes; }
};

class MemoryGroup {
 public:
  static constexpr int64_t kNoLimit = -1;
  // Makes an empty group. With a limit, and if the kernel counts swap, its
  // processes cannot swap in version 2, and swap at most 1 MiB in version 1. In
  // version 2 the kernel kills all of them if it must kill one.
  static absl::StatusOr<MemoryGroup> Create(int64_t limit_bytes = kNoLimit);

  MemoryGroup(MemoryGroup&& other) noexcept;
  MemoryGroup& operator=(MemoryGroup&& other) noexcept;
  ~MemoryGroup();

  // Returns the descriptor of cgroup.procs, which this object keeps. A process
  // that writes "0" to it joins the group.
  int processes_descriptor() const { return processes_.get(); }
  // Returns the most bytes that the group was charged for at once, or -1 if the
  // kernel does not report it.
  int64_t peak_bytes() const;
  // Returns the bytes at this moment. A figure that the kernel does not report
  // counts as 0.
  MemoryGroupUse ReadUse() const;
  // Returns how often the limit was hit, so that the kernel took pages back or
  // killed a process; -1 if the kernel does not report it.
  int64_t limit_hit_count() const;
  // Returns how many processes the kernel killed because of the limit; negative
  // if it does not report that.
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
