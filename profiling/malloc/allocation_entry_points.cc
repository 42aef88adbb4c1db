// malloc and related functions, counted. Each call goes straight to jemalloc,
// whose own names were renamed (jemalloc_renames.txt). heap_counters.h decides
// before the call whether a check must follow; if not, the call ends in
// jemalloc.
//
// Compiled three times: as exact_heap; with FOOTPRINT_COUNT_REQUESTED_BYTES as
// exact_heap_with_requested_bytes; and with FOOTPRINT_RECORD_CALL_SITES for
// tests. The preloaded agent has passing_entry_points.cc instead.

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>

#include "footprint/profiling/heap/heap_counters.h"
#include "footprint/profiling/malloc/operator_definitions.h"
#ifdef FOOTPRINT_COUNT_REQUESTED_BYTES
#include "footprint/profiling/heap/requested_bytes.h"
#endif
#ifdef FOOTPRINT_RECORD_CALL_SITES
#include "footprint/profiling/sites/recorded_calls.h"
#endif

extern "C" {
void* footprint_jemalloc_malloc(size_t size) noexcept;
void* footprint_jemalloc_calloc(size_t count, size_t size) noexcept;
void* footprint_jemalloc_realloc(void* block, size_t size) noexcept;
void footprint_jemalloc_free(void* block) noexcept;
void* footprint_jemalloc_memalign(size_t alignment, size_t size) noexcept;
void* footprint_jemalloc_aligned_alloc(size_t alignment, size_t size) noexcept;
int footprint_jemalloc_posix_memalign(void** block, size_t alignment,
                                      size_t size) noexcept;
void* footprint_jemalloc_mallocx(size_t size, int flags) noexcept;
void* footprint_jemalloc_rallocx(void* block, size_t size, int flags) noexcept;
size_t footprint_jemalloc_xallocx(void* block, size_t size, size_t extra,
                                  int flags) noexcept;
void footprint_jemalloc_dallocx(void* block, int flags) noexcept;
void footprint_jemalloc_sdallocx(void* block, size_t size, int flags) noexcept;
size_t footprint_jemalloc_sallocx(const void* block, int flags) noexcept;
}

namespace footprint::profiling_internal {
namespace {

#ifdef FOOTPRINT_COUNT_REQUESTED_BYTES
constexpr bool kEveryCallIsSeen = true;
#else
constexpr bool kEveryCallIsSeen = false;
#endif

#ifdef FOOTPRINT_RECORD_CALL_SITES

int64_t SizeOf(const void* block) {
  return static_cast<int64_t>(footprint_jemalloc_sallocx(block, 0));
}

#endif

// Makes the check after a call that was counted already.
__attribute__((noinline)) void* CheckNewBlock(void* block,
                                              [[maybe_unused]] size_t size) {
  if (__builtin_expect(block == nullptr, 0)) {
    CountCalls(-1);
    return nullptr;
  }
#ifdef FOOTPRINT_COUNT_REQUESTED_BYTES
  AddRequestedBlock(block, size);
#endif
#ifdef FOOTPRINT_RECORD_CALL_SITES
  RecordSample<SizeOf>(block);
#endif
  return CheckAllocation(block);
}

// Counts and checks after any call that returned `block`.
inline void* Counted(void* block, size_t size) {
  CountCalls(1);
  return CheckNewBlock(block, size);
}

inline bool NeedsLook(size_t size) {
  if (kEveryCallIsSeen) {
    CountCalls(1);
    return true;
  }
  return !MaySkipCheck(size);
}

// Removes the block's records. It comes before the block is freed and another
// block may have its address.
inline void ForgetBlock([[maybe_unused]] void* block) {
#ifdef FOOTPRINT_COUNT_REQUESTED_BYTES
  if (block != nullptr) RemoveRequestedBlock(block);
#endif
#ifdef FOOTPRINT_RECORD_CALL_SITES
  ForgetRecordedBlock<SizeOf>(block);
#endif
}

// Frees in a thread without counters. A thread that never called must not begin
// to count for null: the C library frees null at a thread's end, when nothing
// would close the counters again.
__attribute__((noinline)) void FreeUnregistered(void* block) {
  if (block == nullptr) return;
  footprint_jemalloc_free(block);
  CountFree();
}

void SeenFree(void* block) {
  ForgetBlock(block);
  footprint_jemalloc_free(block);
}

#ifdef FOOTPRINT_RECORD_CALL_SITES

// Frees when blocks are sampled: only the few sampled blocks need more work.
void SampledFree(void* block) {
  if (MayBeRecorded(block)) return SeenFree(block);
  footprint_jemalloc_free(block);
}

#endif

__attribute__((noinline)) void SeenSizedFree(void* block, size_t size,
                                             int flags) {
  ForgetBlock(block);
  footprint_jemalloc_sdallocx(block, size, flags);
  if (!ThreadIsRegistered()) CountFree();
}

void FreeByThreadFunction(void* block) {
  return thread_counters.free_function(block);
}

// Every free reads these members, so no member that is written often shares
// their cache line.
struct alignas(64) {
  // How each free starts: the only thread's function, or the one that calls the
  // thread's own.
  FreeFunction function = FreeByThreadFunction;
  // How registered threads free a block.
  FreeFunction of_registered = SeenFree;
  // Whether a free with a size is checked.
  bool are_seen = true;
} frees;

inline void CountedFree(void* block) { return frees.function(block); }

inline void CountedSizedFree(void* block, size_t size, int flags) {
  if (block == nullptr) return;
  if (__builtin_expect(frees.are_seen, 0)) {
    return SeenSizedFree(block, size, flags);
  }
  footprint_jemalloc_sdallocx(block, size, flags);
}

// `call` calls jemalloc. It has no arguments and returns the block, or null.
// Null leaves the old block as it was unless `null_frees`.
template <typename Call>
void* CountedReallocation([[maybe_unused]] void* block,
                          [[maybe_unused]] size_t size,
                          [[maybe_unused]] bool null_frees, Call call) {
#ifdef FOOTPRINT_RECORD_CALL_SITES
  RecordedReallocation<SizeOf> recorded(block);
#endif
  Reallocation reallocation;
#ifdef FOOTPRINT_COUNT_REQUESTED_BYTES
  const size_t old_bytes = DetachRequestedBlock(block);
#endif
  void* moved = call();
#ifdef FOOTPRINT_RECORD_CALL_SITES
  recorded.After(moved, null_frees, /*in_place=*/moved == block,
                 reallocation.taken_back_bytes());
#endif
  reallocation.After(/*in_place=*/moved == block,
                     /*succeeded=*/moved != nullptr);
#ifdef FOOTPRINT_RECORD_CALL_SITES
  recorded.AfterLook();
#endif
#ifdef FOOTPRINT_COUNT_REQUESTED_BYTES
  if (moved != nullptr) {
    ReplaceRequestedBlock(old_bytes, moved, size, moved == block);
  } else if (null_frees) {
    DropRequestedBytes(old_bytes);
  } else {
    ReplaceRequestedBlock(old_bytes, block, old_bytes, /*in_place=*/true);
  }
#endif
  return moved;
}

// jemalloc's MALLOCX_ALIGN for powers of two.
int AlignmentFlag(std::align_val_t alignment) {
  return __builtin_ctzl(static_cast<size_t>(alignment));
}

// Calls the new handler and allocates again until there is memory, as operator
// new must. Returns null for nothrow.
template <typename Allocate>
void* AllocateOrHandle(Allocate allocate, bool may_throw) {
  for (;;) {
    std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) {
      if (may_throw) throw std::bad_alloc();
      return nullptr;
    }
    if (may_throw) {
      handler();
    } else {
      try {
        handler();
      } catch (const std::bad_alloc&) {
        return nullptr;
      }
    }
    if (void* block = allocate()) return block;
  }
}

__attribute__((noinline)) void* NewWithLook(size_t size, bool may_throw) {
  void* block = footprint_jemalloc_malloc(size);
  if (__builtin_expect(block == nullptr, 0)) {
    CountCalls(-1);
    block = AllocateOrHandle([size] { return footprint_jemalloc_malloc(size); },
                             may_throw);
    CountCalls(1);
  }
  return CheckNewBlock(block, size);
}

inline void* CountedNew(size_t size, bool may_throw) {
  if (__builtin_expect(NeedsLook(size), 0)) return NewWithLook(size, may_throw);
  void* const block = footprint_jemalloc_malloc(size);
  if (__builtin_expect(block != nullptr, 1)) return block;
  return NewWithLook(size, may_throw);
}

inline void* CountedNew(size_t size, std::align_val_t alignment,
                        bool may_throw) {
  const auto allocate = [size, alignment] {
    return footprint_jemalloc_mallocx(size == 0 ? 1 : size,
                                      AlignmentFlag(alignment));
  };
  void* block = allocate();
  if (__builtin_expect(block == nullptr, 0)) {
    block = AllocateOrHandle(allocate, may_throw);
  }
  return Counted(block, size);
}

inline void CountedDelete(void* block) { CountedFree(block); }
inline void CountedDelete(void* block, std::align_val_t) { CountedFree(block); }
inline void CountedDelete(void* block, size_t size) {
  CountedSizedFree(block, size == 0 ? 1 : size, 0);
}
inline void CountedDelete(void* block, size_t size,
                          std::align_val_t alignment) {
  CountedSizedFree(block, size == 0 ? 1 : size, AlignmentFlag(alignment));
}

}  // namespace

void ChooseThreadFreeFunction(ThreadCounters* counters) {
  const bool is_registered =
      counters->state == ThreadCounters::State::kRegistered;
  const FreeFunction function =
      is_registered ? frees.of_registered : footprint_first_free;
  // A store without a change would take the cache line away from the thread.
  if (counters->free_function == function) return;
  __atomic_store_n(&counters->free_function, function, __ATOMIC_RELEASE);
}

// Frees of the only thread need no checks, unless blocks are recorded.
void ChooseFreeFunctions() {
  const bool every_free_is_seen =
      kEveryCallIsSeen || process.sampling_interval_bytes == 0;
  frees.are_seen = every_free_is_seen || process.has_recorded_blocks ||
                   !has_one_thread.load();
  frees.of_registered = footprint_jemalloc_free;
#ifdef FOOTPRINT_RECORD_CALL_SITES
  if (process.has_recorded_blocks) frees.of_registered = SampledFree;
#endif
  if (every_free_is_seen) frees.of_registered = SeenFree;
  frees.function =
      has_one_thread.load() ? frees.of_registered : FreeByThreadFunction;
  for (ThreadCounters* each = process.first_thread; each != nullptr;
       each = each->next) {
    ChooseThreadFreeFunction(each);
  }
}

}  // namespace footprint::profiling_internal

using footprint::profiling_internal::CheckNewBlock;
using footprint::profiling_internal::Counted;
using footprint::profiling_internal::CountedFree;
using footprint::profiling_internal::CountedReallocation;
using footprint::profiling_internal::CountedSizedFree;
using footprint::profiling_internal::CountFree;
using footprint::profiling_internal::DelayNextLook;
using footprint::profiling_internal::ForgetBlock;
using footprint::profiling_internal::FreeUnregistered;
using footprint::profiling_internal::kEveryCallIsSeen;
using footprint::profiling_internal::NeedsLook;
using footprint::profiling_internal::thread_counters;
using footprint::profiling_internal::ThreadIsRegistered;

extern "C" {

// Frees for a thread that is not registered yet, or no longer is.
void footprint_first_free(void* block) {
  ForgetBlock(block);
  FreeUnregistered(block);
}

__attribute__((visibility("hidden"))) void* footprint_malloc_with_look(
    size_t size) noexcept {
  void* const block = footprint_jemalloc_malloc(size);
  if (!kEveryCallIsSeen && block != nullptr &&
      DelayNextLook(&thread_counters)) {
    return block;
  }
  return CheckNewBlock(block, size);
}

#if defined(__x86_64__) && !defined(FOOTPRINT_COUNT_REQUESTED_BYTES)

// The same as the C++ below, with a jump to the other function that depends on
// the subtraction's flags, which C++ cannot express. A rejected size that wraps
// around counts as a call.
using footprint::profiling_internal::kBytesPerCall;
using footprint::profiling_internal::ThreadCounters;
static_assert(kBytesPerCall == 13);
static_assert(offsetof(ThreadCounters, allocated_bytes) == 0);
static_assert(offsetof(ThreadCounters, allocation_count) == 16);
static_assert(offsetof(ThreadCounters, budget_bytes) == 24);
static_assert(offsetof(ThreadCounters, check_at_bytes) == 32);
asm(R"(
  .text
  .p2align 5
  .globl malloc
  .type malloc, @function
malloc:
  .cfi_startproc
  movq footprint_thread_counters@gottpoff(%rip), %rdx
  addq $1, %fs:16(%rdx)
  leaq 13(%rdi), %rax
  subq %rax, %fs:24(%rdx)
  jae footprint_jemalloc_malloc@PLT
  movq $0, %fs:24(%rdx)
  movq %fs:0(%rdx), %rax
  movq (%rax), %rax
  addq %rdi, %rax
  cmpq %fs:32(%rdx), %rax
  jb footprint_jemalloc_malloc@PLT
  jmp footprint_malloc_with_look
  .cfi_endproc
  .size malloc, .-malloc
)");
void* malloc(size_t size) noexcept;

#else

void* malloc(size_t size) noexcept {
  return NeedsLook(size) ? footprint_malloc_with_look(size)
                         : footprint_jemalloc_malloc(size);
}

#endif

void* calloc(size_t count, size_t size) noexcept {
  size_t product;
  if (__builtin_mul_overflow(size, count, &product)) {
    errno = ENOMEM;
    return nullptr;
  }
  if (NeedsLook(product)) {
    return CheckNewBlock(footprint_jemalloc_calloc(count, size), product);
  }
  return footprint_jemalloc_calloc(count, size);
}

void* realloc(void* block, size_t size) noexcept {
  if (block == nullptr) return malloc(size);
  return CountedReallocation(block, size, /*null_frees=*/size == 0, [&] {
    return footprint_jemalloc_realloc(block, size);
  });
}

void free(void* block) noexcept { CountedFree(block); }

void* memalign(size_t alignment, size_t size) noexcept {
  return Counted(footprint_jemalloc_memalign(alignment, size), size);
}

void* aligned_alloc(size_t alignment, size_t size) noexcept {
  return Counted(footprint_jemalloc_aligned_alloc(alignment, size), size);
}

int posix_memalign(void** block, size_t alignment, size_t size) noexcept {
  const int error = footprint_jemalloc_posix_memalign(block, alignment, size);
  if (error == 0) Counted(*block, size);
  return error;
}

void* valloc(size_t size) noexcept {
  return memalign(static_cast<size_t>(sysconf(_SC_PAGESIZE)), size);
}

void* pvalloc(size_t size) noexcept {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (size > SIZE_MAX - page) {
    errno = ENOMEM;
    return nullptr;
  }
  return memalign(page, size == 0 ? page : (size + page - 1) / page * page);
}

void* mallocx(size_t size, int flags) noexcept {
  return Counted(footprint_jemalloc_mallocx(size, flags), size);
}

void* rallocx(void* block, size_t size, int flags) noexcept {
  return CountedReallocation(block, size, /*null_frees=*/false, [&] {
    return footprint_jemalloc_rallocx(block, size, flags);
  });
}

size_t xallocx(void* block, size_t size, size_t extra, int flags) noexcept {
  size_t usable = 0;
  CountedReallocation(block, size, /*null_frees=*/false, [&] {
    usable = footprint_jemalloc_xallocx(block, size, extra, flags);
    return block;
  });
  return usable;
}

void dallocx(void* block, int flags) noexcept {
  ForgetBlock(block);
  footprint_jemalloc_dallocx(block, flags);
  if (!ThreadIsRegistered()) CountFree();
}

size_t sallocx(const void* block, int flags) noexcept {
  return footprint_jemalloc_sallocx(block, flags);
}

void sdallocx(void* block, size_t size, int flags) noexcept {
  CountedSizedFree(block, size, flags);
}

}  // extern "C"

using footprint::profiling_internal::CountedDelete;
using footprint::profiling_internal::CountedNew;

FOOTPRINT_DEFINE_OPERATORS(CountedNew, CountedDelete)
