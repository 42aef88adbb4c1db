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

// What a call changed in the set of mapped ranges; a range of no bytes stands
// for none. The first range is removed before the second is added.
struct RangeChange {
  const void* removed = nullptr;
  size_t removed_bytes = 0;
  const void* added = nullptr;
  size_t added_bytes = 0;
};

// Changes by signal handlers that must not wait for a lock; the thread's next
// call counts them. A handler makes few calls; more than these are not counted.
constexpr int kMostDeferredChanges = 16;
struct DeferredChanges {
  int count;
  RangeChange changes[kMostDeferredChanges];
};
__thread DeferredChanges deferred
    __attribute__((tls_model("initial-exec"))) = {};

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

// AddRange and RemoveRange return by how many bytes they changed the set.
int64_t AddRange(const void* address, size_t size, bool by_this_call)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(ranges_lock) {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  const size_t size_bytes = RoundedToPages(size);
  const int64_t added_bytes = ranges.Add(begin, size_bytes);
  if (ProgramMapped != nullptr) ProgramMapped(begin, size_bytes, by_this_call);
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

void Count(const RangeChange& change, bool by_this_call)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(ranges_lock) {
  int64_t change_bytes = 0;
  if (change.removed_bytes > 0) {
    change_bytes += RemoveRange(change.removed, change.removed_bytes);
  }
  if (change.added_bytes > 0) {
    change_bytes += AddRange(change.added, change.added_bytes, by_this_call);
  }
  CountMappedBytes(change_bytes);
  if (ProgramMappingsChanged != nullptr) ProgramMappingsChanged(ranges);
}

// Returns whether a signal handler runs that interrupted its thread's use of
// the counters' or the recorder's lock. The owner of the ranges' lock may wait
// for these, so the handler must not wait for that owner.
bool MustNotWait() {
  return uses_process_lock ||
         (InterruptsRecorder != nullptr && InterruptsRecorder());
}

// Counts a call that maps or unmaps, and that returns its change. The lock is
// held around the call, so that the set changes in the kernel's order. Signals
// are blocked, since their handlers may map, too.
template <typename Call>
void CountCall(const Call& call) {
  const BlockedSignals blocked;
  if (MustNotWait()) {
    const RangeChange change = call();
    if (deferred.count < kMostDeferredChanges) {
      deferred.changes[deferred.count++] = change;
    }
    return;
  }
  // Registration comes before the lock: under it, registration could wait for
  // the allocator's lock, which a fork may hold that waits for this one.
  RegisterThread();
  PthreadMutexLock guard(&ranges_lock);
  for (int i = 0; i < deferred.count; ++i) {
    Count(deferred.changes[i], /*by_this_call=*/false);
  }
  deferred.count = 0;
  const RangeChange change = call();
  if (change.removed_bytes + change.added_bytes > 0) {
    Count(change, /*by_this_call=*/true);
  }
}

void* CountedMmap(void* address, size_t size, int protection, int flags,
                  int file, off_t offset, const void* caller) {
  if (IsCalledByAllocator(caller)) {
    return SystemMmap(address, size, protection, flags, file, offset);
  }
  void* mapped = MAP_FAILED;
  CountCall([&] {
    mapped = SystemMmap(address, size, protection, flags, file, offset);
    if (mapped == MAP_FAILED) return RangeChange();
    return RangeChange{nullptr, 0, mapped, size};
  });
  return mapped;
}

}  // namespace

void ReportProgramMappings() {
  const BlockedSignals blocked;
  PthreadMutexLock guard(&ranges_lock);
  if (ProgramMappingsChanged != nullptr) ProgramMappingsChanged(ranges);
}

}  // namespace footprint::profiling_internal

using footprint::profiling_internal::CountCall;
using footprint::profiling_internal::CountedMmap;
using footprint::profiling_internal::IsCalledByAllocator;
using footprint::profiling_internal::RangeChange;
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
  int result = -1;
  CountCall([&] {
    result = SystemMunmap(address, size);
    if (result != 0) return RangeChange();
    return RangeChange{address, size, nullptr, 0};
  });
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
  void* moved = MAP_FAILED;
  CountCall([&] {
    moved = remap();
    if (moved == MAP_FAILED) return RangeChange();
    const bool keeps_old = (flags & MREMAP_DONTUNMAP) != 0;
    return RangeChange{address, keeps_old ? 0 : old_size, moved, new_size};
  });
  return moved;
}

}  // extern "C"
