// Gives the processes of a run a share of the processors.
//
//   absl::StatusOr<CpuGroup> group = CpuGroup::Create(400, "", false);
//   write(group->processes_descriptor(), "0\n", 2);   // the caller joins
//
// If two groups with weights 100 and 400 want the same processor all the time,
// one gets a fifth of it and the other the rest. A weight limits nothing while
// a processor is idle. It is the kernel's cpu.weight in version 2 of control
// groups, and cpu.shares in version 1, in proportion: 1024 for 100. Processes
// outside of such groups compete with these groups. Niceness would be no
// substitute: with autogroups, which Debian's kernels have, the kernel compares
// only processes of one session, and a program can start a session.
//
// Owns the group of version 1 and removes it at the end; all processes in it
// must have ended. The first Create of a process removes groups that killed
// processes left. Movable; thread-compatible, and Create is thread-safe.
// Memory: some KiB of the kernel's. Time: less than a millisecond; the
// destructor waits up to 100 ms while a process is still in the group. Errors:
// FailedPrecondition if there is no cpu controller, or this user may not use
// it, with the next step; ResourceExhausted if the kernel has no room.

#ifndef FOOTPRINT_BASE_MACHINE_CPU_GROUP_H_
#define FOOTPRINT_BASE_MACHINE_CPU_GROUP_H_

#include <string>

#include "absl/status/statusor.h"
#include "footprint/base/files/file_descriptor.h"

namespace footprint {

inline constexpr int kLeastCpuWeight = 1;
inline constexpr int kUsualCpuWeight = 100;
inline constexpr int kMostCpuWeight = 10000;

class CpuGroup {
 public:
  // Makes an empty group for processes that are also in `memory_group`, a
  // folder; empty if there is none. A weight below 1 counts as 1, and one above
  // 10000 as 10000. A process is in one group of version 2 only, so if the
  // memory group is of version 2, its weight is set and no group is made.
  // Returns FailedPrecondition if cpu and memory of version 1 share one
  // hierarchy.
  static absl::StatusOr<CpuGroup> Create(int weight,
                                         const std::string& memory_group,
                                         bool is_version_2);

  CpuGroup() = default;
  CpuGroup(CpuGroup&& other) noexcept;
  CpuGroup& operator=(CpuGroup&& other) noexcept;
  ~CpuGroup();

  // Returns the descriptor of cgroup.procs, which this object keeps; -1 for a
  // group of version 2, which its processes join anyway.
  int processes_descriptor() const { return processes_.get(); }
  // Returns the folder of the group of version 1; else empty.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  FileDescriptor processes_;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_MACHINE_CPU_GROUP_H_
