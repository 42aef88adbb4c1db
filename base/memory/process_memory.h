// Reads this process's memory as the operating system reports it, in addition
// to the exact accounting of its heap (heap_accounting.h).
//
//   int64_t code_bytes = footprint::LoadedImageBytes();
//
// Thread-safety: any thread may call every function. A result is true at the
// moment of the call. Memory: about 40 KiB while the children of all threads
// are listed; a ChildProcessMark owns its list.

#ifndef FOOTPRINT_BASE_MEMORY_PROCESS_MEMORY_H_
#define FOOTPRINT_BASE_MEMORY_PROCESS_MEMORY_H_

#include <cstdint>
#include <vector>

namespace footprint {

// Returns the address space of the program and of its shared libraries: code
// and static data, in whole pages. It is the same in every run of the same
// files. The kernel's own addition (vdso) is left out.
int64_t LoadedImageBytes();

// Returns whether this process has a child process or has waited for one.
bool HasHadChildProcess();

// Marks a moment, and says later whether this process has started children
// since then, also by vfork, posix_spawn or system(). A child that was started
// earlier counts as a new one if it ends and is waited for later, since it
// looks the same. A process that ignores SIGCHLD loses its children without a
// trace, so it always counts as having started one. If the kernel does not list
// children (CONFIG_PROC_CHILDREN), a new child that still runs is not noticed
// beside an earlier one. Memory: the numbers of the children that live at that
// moment.
class ChildProcessMark {
 public:
  ChildProcessMark();
  bool HasStartedSince() const;

 private:
  int64_t ended_work_;
  std::vector<int> alive_;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_MEMORY_PROCESS_MEMORY_H_
