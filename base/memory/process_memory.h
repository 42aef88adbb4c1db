// This process's memory as the operating system and the allocator report it,
// beside the exact accounting of its heap (heap_accounting.h).
//
//   int64_t code_bytes = footprint::LoadedImageBytes();
//
// Thread-safety: every function may be called from any thread. The results are
// numbers that hold for the moment of the call. Memory: about 40 KiB while the
// children of all threads are listed; a ChildProcessMark owns its list.

#ifndef FOOTPRINT_BASE_MEMORY_PROCESS_MEMORY_H_
#define FOOTPRINT_BASE_MEMORY_PROCESS_MEMORY_H_

#include <cstdint>
#include <vector>

namespace footprint {

// Address space of the program and of its shared libraries as loaded: code and
// static data, in whole pages. The same in every run of the same files. The
// kernel's own addition (vdso) is left out.
int64_t LoadedImageBytes();

// Returns whether this process has, or waited for, a child process.
bool HasHadChildProcess();

// A moment, to be asked later whether this process started children since, also
// by vfork, posix_spawn or system(). A child from before that is waited for
// meanwhile cannot be told from a new one, and counts as one. A process that
// ignores SIGCHLD loses its children without a trace, so it may have started
// one, and counts as having done so. Memory: the numbers of the children that
// live at that moment.
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
