// mmap and related functions, counted. What the program maps by itself is
// counted apart from the heap. An allocator's own mappings are not counted:
// jemalloc calls these functions under other names (jemalloc_renames.txt),
// calls by the allocator behind the agent are recognised by the caller's
// address, and the C library's never reach these functions. Thread stacks and
// shared libraries do not reach them either.

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "footprint/base/threads/blocked_signals.h"
#include "footprint/base/threads/fork_handlers.h"
#include "footprint/base/threads/pthread_mutex.h"
#include "footprint/profiling/heap/heap_counters.h"
#include "footprint/profiling/heap/mapped_ranges.h"
#include "footprint/profiling/heap/mapping_hooks.h"
#include "footprint/profiling/heap/process_counters.h"
#include "footprint/profiling/heap/system_mmap.h"
#include "footprint/profiling/heap/thread_registration.h"

namespace footprint::profiling_internal {
namespace {

PthreadMutex ranges_lock;
MappedRanges ranges ABSL_GUARDED_BY(ranges_lock);

// Signals stay blocked while the lock is held, since their handlers may map.
class ABSL_SCOPED_LOCKABLE RangesLock {
 public:
  RangesLock() ABSL_EXCLUSIVE_LOCK_FUNCTION(ranges_lock) {
    // Registration comes before the lock: under it, registration could wait for
    // the allocator's lock, which a fork may hold that waits for this one. In a
    // signal handler it could wait for the lock that its thread holds.
    if (!uses_process_lock) RegisterThread();
    ranges_lock.Lock();
  }
  ~RangesLock() ABSL_UNLOCK_FUNCTION() { ranges_lock.Unlock(); }
  RangesLock(const RangesLock&) = delete;
  RangesLock& operator=(const RangesLock&) = delete;

 private:
  const BlockedSignals blocked_;
};

// The forking thread's mask of signals before the fork.
sigset_t mask_before_fork ABSL_GUARDED_BY(ranges_lock);

void BeforeFork() ABSL_EXCLUSIVE_LOCK_FUNCTION(ranges_lock) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  ranges_lock.Lock();
  mask_before_fork = before;
}
void AfterFork() ABSL_UNLOCK_FUNCTION(ranges_lock) {
  const sigset_t before = mask_before_fork;
  ranges_lock.Unlock();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Runs after the constructors of the counters (101) and of the recorder of call
// sites (102), so that a fork takes this lock first, as mmap does.
__attribute__((constructor(103))) void WatchForks() {
  AddForkHandlers({&ranges_lock, BeforeFork, AfterFork, AfterFork});
}

size_t RoundedToPages(size_t size) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return (size + page - 1) / page * page;
}

int SystemMunmap(void* address, size_t size) {
  return static_cast<int>(syscall(SYS_munmap, address, size));
}

bool IsCalledByAllocator(const void* caller) {
  return IsAllocatorsCode != nullptr &&
         IsAllocatorsCode(reinterpret_cast<uintptr_t>(caller));
}

void CountChange(int64_t change_bytes)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(ranges_lock) {
  CountMappedBytes(change_bytes);
  if (ProgramMappingsChanged != nullptr) ProgramMappingsChanged(ranges);
}

// AddRange and RemoveRange return by how many bytes they changed the set.
int64_t AddRange(const void* address, size_t size)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(ranges_lock) {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  const size_t size_bytes = RoundedToPages(size);
  const int64_t added_bytes = ranges.Add(begin, size_bytes);
  if (ProgramMapped != nullptr) ProgramMapped(begin, size_bytes);
  return added_bytes;
}

int64_t RemoveRange(const void* address, size_t size)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(ranges_lock) {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  const size_t size_bytes = RoundedToPages(size);
  const int64_t removed_bytes = ranges.Remove(begin, size_bytes);
  if (ProgramUnmapped != nullptr) ProgramUnmapped(begin, size_bytes);
  return -removed_bytes;
}

void* CountedMmap(void* address, size_t size, int protection, int flags,
                  int file, off_t offset, const void* caller) {
  if (IsCalledByAllocator(caller)) {
    return SystemMmap(address, size, protection, flags, file, offset);
  }
  RangesLock lock;
  void* mapped = SystemMmap(address, size, protection, flags, file, offset);
  if (mapped != MAP_FAILED) CountChange(AddRange(mapped, size));
  return mapped;
}

}  // namespace

void ReportProgramMappings() {
  RangesLock lock;
  if (ProgramMappingsChanged != nullptr) ProgramMappingsChanged(ranges);
}

}  // namespace footprint::profiling_internal

using footprint::profiling_internal::AddRange;
using footprint::profiling_internal::CountChange;
using footprint::profiling_internal::CountedMmap;
using footprint::profiling_internal::IsCalledByAllocator;
using footprint::profiling_internal::ranges_lock;
using footprint::profiling_internal::RangesLock;
using footprint::profiling_internal::RemoveRange;
using footprint::profiling_internal::SystemMmap;
using footprint::profiling_internal::SystemMunmap;

extern "C" {

void* footprint_system_mmap(void* address, size_t size, int protection,
                            int flags, int file, off_t offset) noexcept {
  return SystemMmap(address, size, protection, flags, file, offset);
}

int footprint_system_munmap(void* address, size_t size) noexcept {
  return SystemMunmap(address, size);
}

void* mmap(void* address, size_t size, int protection, int flags, int file,
           off_t offset) noexcept {
  return CountedMmap(address, size, protection, flags, file, offset,
                     __builtin_return_address(0));
}

void* mmap64(void* address, size_t size, int protection, int flags, int file,
             off_t offset) noexcept {
  return CountedMmap(address, size, protection, flags, file, offset,
                     __builtin_return_address(0));
}

int munmap(void* address, size_t size) noexcept {
  if (IsCalledByAllocator(__builtin_return_address(0))) {
    return SystemMunmap(address, size);
  }
  RangesLock lock;
  const int result = SystemMunmap(address, size);
  if (result == 0) CountChange(RemoveRange(address, size));
  return result;
}

void* mremap(void* address, size_t old_size, size_t new_size, int flags,
             ...) noexcept {
  // Only MREMAP_FIXED requires the last argument. MREMAP_DONTUNMAP alone would
  // take it as a hint, and callers often omit it.
  va_list arguments;
  va_start(arguments, flags);
  void* wanted =
      (flags & MREMAP_FIXED) != 0 ? va_arg(arguments, void*) : nullptr;
  va_end(arguments);
  const auto remap = [&] {
    return reinterpret_cast<void*>(
        syscall(SYS_mremap, address, old_size, new_size, flags, wanted));
  };
  if (IsCalledByAllocator(__builtin_return_address(0))) return remap();
  RangesLock lock;
  void* const moved = remap();
  if (moved != MAP_FAILED) {
    int64_t change_bytes = 0;
    if ((flags & MREMAP_DONTUNMAP) == 0) {
      change_bytes += RemoveRange(address, old_size);
    }
    change_bytes += AddRange(moved, new_size);
    CountChange(change_bytes);
  }
  return moved;
}

}  // extern "C"
