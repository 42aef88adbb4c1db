// Defines operator new and delete, and jemalloc's mallocx, rallocx, xallocx,
// dallocx and sdallocx, for the preloaded agent. The program may be linked with
// an allocator that defines them too and does not call malloc from them, like
// tcmalloc. Each call goes to the next definition of the same form, and the
// blocks that the allocator returns are counted.
//
// libstdc++'s operators call malloc, which counts. In this case, and if no
// definition follows, the agent removes its names from the loader's table
// before the program begins (own_exports.h). Objects that were bound to the
// names earlier still call them. Such a call goes to libstdc++'s operator
// without a count or, if no definition follows, to the next allocator's
// memalign, realloc or free with a count.

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <new>

#include "footprint/profiling/malloc/next_allocator.h"
#include "footprint/profiling/malloc/own_exports.h"
#include "footprint/profiling/malloc/passing_calls.h"

namespace footprint::profiling_internal {
namespace {

// Returns the definition that follows the agent's, or null. It leaves no error
// of the loader behind: the first dlerror returns the error, and the second
// frees its text.
void* FindDefinition(const char* name) {
  FindNextAllocator();
  void* const next = dlsym(RTLD_NEXT, name);
  if (next == nullptr) {
    dlerror();
    dlerror();
  }
  return next;
}

// Returns whether the function lies in the code of the next allocator. Such a
// function need not call malloc and free, which would count. The code is empty
// if the C library's malloc serves the program.
bool IsNextAllocators(const void* function) {
  return reinterpret_cast<uintptr_t>(function) - next_allocator.code_begin <
         next_allocator.code_end - next_allocator.code_begin;
}

// Finds the `next` definition, and sets `way` to the function that serves the
// calls: `without_next` if nothing follows the agent, `counting` if the next
// function is the allocator's, and otherwise the next function itself.
template <typename Function>
void Choose(const char* name, Function counting, Function without_next,
            Function* next, Function* way) {
  *next = reinterpret_cast<Function>(FindDefinition(name));
  if (*next == nullptr) {
    *way = without_next;
  } else {
    *way = IsNextAllocators(reinterpret_cast<const void*>(*next)) ? counting
                                                                  : *next;
  }
}

// The meaning of the arguments after the size. jemalloc's flags hold the base-2
// logarithm of the alignment in the lowest six bits, and then MALLOCX_ZERO.
struct Request {
  size_t alignment = 16;
  bool is_zero = false;

  void Add(std::align_val_t wanted) { Align(static_cast<size_t>(wanted)); }
  void Add(const std::nothrow_t&) {}
  void Add(int flags) {
    Align(size_t{1} << (flags & 0x3f));
    is_zero = (flags & 0x40) != 0;
  }
  void Align(size_t wanted) {
    if (wanted > alignment) alignment = wanted;
  }
};

// A function that takes a size and returns a block: a form of operator new, or
// mallocx. `way` is the function that serves its calls; the first call finds
// it. If no definition follows, the caller is a C program with a weak
// reference, so UseMemalign returns null if there is no memory, and throws no
// exception.
template <const char* kName, typename... Rest>
class New {
 public:
  using Function = void* (*)(size_t, Rest...);
  static void* First(size_t size, Rest... rest) {
    Choose<Function>(kName, Count, UseMemalign, &next_, &way);
    return way(size, rest...);
  }
  static inline Function way = First;

 private:
  static void* Count(size_t size, Rest... rest) {
    return Counted([&] { return next_(size, rest...); });
  }
  static void* UseMemalign(size_t size, Rest... rest) {
    Request request;
    (request.Add(rest), ...);
    void* const block = Counted(
        [&] { return next_allocator.memalign(request.alignment, size); });
    if (block != nullptr && request.is_zero) memset(block, 0, size);
    return block;
  }

  static inline Function next_ = nullptr;
};

// A form of operator delete, dallocx or sdallocx.
template <const char* kName, typename... Rest>
class Delete {
 public:
  using Function = void (*)(void*, Rest...);
  static void First(void* block, Rest... rest) {
    Choose<Function>(kName, Count, UseFree, &next_, &way);
    way(block, rest...);
  }
  static inline Function way = First;

 private:
  static void Count(void* block, Rest... rest) {
    CountedFree(block, [&] { next_(block, rest...); });
  }
  static void UseFree(void* block, Rest...) {
    CountedFree(block, [&] { next_allocator.free(block); });
  }

  static inline Function next_ = nullptr;
};

// rallocx and xallocx, whose types fit neither template.
void* (*next_rallocx)(void*, size_t, int) = nullptr;
size_t (*next_xallocx)(void*, size_t, size_t, int) = nullptr;

void* CountRallocx(void* block, size_t size, int flags) {
  return CountedReallocation(block, /*null_frees=*/false,
                             [=] { return next_rallocx(block, size, flags); });
}
size_t CountXallocx(void* block, size_t size, size_t extra, int flags) {
  size_t usable = 0;
  CountedReallocation(block, /*null_frees=*/false, [=, &usable] {
    usable = next_xallocx(block, size, extra, flags);
    return block;
  });
  return usable;
}
// Moves the block to an address of that alignment, or returns null.
void* Realign(void* block, size_t size, size_t alignment) {
  void* const moved =
      Counted([=] { return next_allocator.memalign(alignment, size); });
  if (moved == nullptr) return nullptr;
  const size_t old_size = UsableSize(block);
  memcpy(moved, block, old_size < size ? old_size : size);
  CountedFree(block, [=] { next_allocator.free(block); });
  return moved;
}
// Reallocates the block with the next allocator. MALLOCX_ZERO zeroes the bytes
// after the block's former usable size.
void* UseRealloc(void* block, size_t size, int flags) {
  Request request;
  request.Add(flags);
  const size_t old_size = request.is_zero ? UsableSize(block) : 0;
  void* const moved =
      request.alignment > Request().alignment
          ? Realign(block, size, request.alignment)
          : CountedReallocation(block, /*null_frees=*/false, [=] {
              return next_allocator.realloc(block, size);
            });
  if (moved != nullptr && request.is_zero && size > old_size) {
    memset(static_cast<char*>(moved) + old_size, 0, size - old_size);
  }
  return moved;
}
// Without a next xallocx no block can grow in place, so its size stays.
size_t StayAsItIs(void* block, size_t, size_t, int) {
  return UsableSize(block);
}
void* (*way_of_rallocx)(void*, size_t, int) = nullptr;
size_t (*way_of_xallocx)(void*, size_t, size_t, int) = nullptr;

// The functions that this source defines, by their names in object files.
constexpr const char* kNames[] = {"_Znwm",
                                  "_ZnwmRKSt9nothrow_t",
                                  "_ZnwmSt11align_val_t",
                                  "_ZnwmSt11align_val_tRKSt9nothrow_t",
                                  "_Znam",
                                  "_ZnamRKSt9nothrow_t",
                                  "_ZnamSt11align_val_t",
                                  "_ZnamSt11align_val_tRKSt9nothrow_t",
                                  "_ZdlPv",
                                  "_ZdlPvRKSt9nothrow_t",
                                  "_ZdlPvm",
                                  "_ZdlPvSt11align_val_t",
                                  "_ZdlPvSt11align_val_tRKSt9nothrow_t",
                                  "_ZdlPvmSt11align_val_t",
                                  "_ZdaPv",
                                  "_ZdaPvRKSt9nothrow_t",
                                  "_ZdaPvm",
                                  "_ZdaPvSt11align_val_t",
                                  "_ZdaPvSt11align_val_tRKSt9nothrow_t",
                                  "_ZdaPvmSt11align_val_t",
                                  "mallocx",
                                  "rallocx",
                                  "xallocx",
                                  "dallocx",
                                  "sdallocx"};

// This runs before the program's own constructors, which may load objects.
__attribute__((constructor(101))) void WithdrawWhatIsNotNeeded() {
  for (const char* const name : kNames) {
    const void* const next = FindDefinition(name);
    if (next == nullptr || !IsNextAllocators(next)) WithdrawExport(name);
  }
}

// In mangled names one letter distinguishes the forms: new and new[], delete
// and delete[].
#define FOOTPRINT_NAME(variable, text) constexpr char variable[] = text;
#define FOOTPRINT_NAMES(Form, new_letter, delete_letter)                  \
  namespace Form {                                                        \
  FOOTPRINT_NAME(kNew, "_Zn" new_letter "m")                              \
  FOOTPRINT_NAME(kNewNothrow, "_Zn" new_letter "mRKSt9nothrow_t")         \
  FOOTPRINT_NAME(kNewAligned, "_Zn" new_letter "mSt11align_val_t")        \
  FOOTPRINT_NAME(kNewAlignedNothrow,                                      \
                 "_Zn" new_letter "mSt11align_val_tRKSt9nothrow_t")       \
  FOOTPRINT_NAME(kDelete, "_Zd" delete_letter "Pv")                       \
  FOOTPRINT_NAME(kDeleteNothrow, "_Zd" delete_letter "PvRKSt9nothrow_t")  \
  FOOTPRINT_NAME(kDeleteSized, "_Zd" delete_letter "Pvm")                 \
  FOOTPRINT_NAME(kDeleteAligned, "_Zd" delete_letter "PvSt11align_val_t") \
  FOOTPRINT_NAME(kDeleteAlignedNothrow,                                   \
                 "_Zd" delete_letter "PvSt11align_val_tRKSt9nothrow_t")   \
  FOOTPRINT_NAME(kDeleteSizedAligned,                                     \
                 "_Zd" delete_letter "PvmSt11align_val_t")                \
  }
FOOTPRINT_NAMES(single, "w", "l")
FOOTPRINT_NAMES(array, "a", "a")
constexpr char kMallocx[] = "mallocx";
constexpr char kDallocx[] = "dallocx";
constexpr char kSdallocx[] = "sdallocx";

}  // namespace
}  // namespace footprint::profiling_internal

using footprint::profiling_internal::Choose;
using footprint::profiling_internal::Delete;
using footprint::profiling_internal::New;
namespace internal = footprint::profiling_internal;

#define FOOTPRINT_DEFINE_PASSED(Form, brackets)                                \
  void* operator new brackets(size_t size) {                                   \
    return New<internal::Form::kNew>::way(size);                               \
  }                                                                            \
  void* operator new brackets(size_t size,                                     \
                              const std::nothrow_t& nothrow) noexcept {        \
    return New<internal::Form::kNewNothrow, const std::nothrow_t&>::way(       \
        size, nothrow);                                                        \
  }                                                                            \
  void* operator new brackets(size_t size, std::align_val_t alignment) {       \
    return New<internal::Form::kNewAligned, std::align_val_t>::way(size,       \
                                                                   alignment); \
  }                                                                            \
  void* operator new brackets(size_t size, std::align_val_t alignment,         \
                              const std::nothrow_t& nothrow) noexcept {        \
    return New<internal::Form::kNewAlignedNothrow, std::align_val_t,           \
               const std::nothrow_t&>::way(size, alignment, nothrow);          \
  }                                                                            \
  void operator delete brackets(void* block) noexcept {                        \
    Delete<internal::Form::kDelete>::way(block);                               \
  }                                                                            \
  void operator delete brackets(void* block,                                   \
                                const std::nothrow_t& nothrow) noexcept {      \
    Delete<internal::Form::kDeleteNothrow, const std::nothrow_t&>::way(        \
        block, nothrow);                                                       \
  }                                                                            \
  void operator delete brackets(void* block, size_t size) noexcept {           \
    Delete<internal::Form::kDeleteSized, size_t>::way(block, size);            \
  }                                                                            \
  void operator delete brackets(void* block,                                   \
                                std::align_val_t alignment) noexcept {         \
    Delete<internal::Form::kDeleteAligned, std::align_val_t>::way(block,       \
                                                                  alignment);  \
  }                                                                            \
  void operator delete brackets(void* block, std::align_val_t alignment,       \
                                const std::nothrow_t& nothrow) noexcept {      \
    Delete<internal::Form::kDeleteAlignedNothrow, std::align_val_t,            \
           const std::nothrow_t&>::way(block, alignment, nothrow);             \
  }                                                                            \
  void operator delete brackets(void* block, size_t size,                      \
                                std::align_val_t alignment) noexcept {         \
    Delete<internal::Form::kDeleteSizedAligned, size_t,                        \
           std::align_val_t>::way(block, size, alignment);                     \
  }

FOOTPRINT_DEFINE_PASSED(single, )
FOOTPRINT_DEFINE_PASSED(array, [])

extern "C" {

void* mallocx(size_t size, int flags) noexcept {
  return New<internal::kMallocx, int>::way(size, flags);
}

void* rallocx(void* block, size_t size, int flags) noexcept {
  if (internal::way_of_rallocx == nullptr) {
    Choose("rallocx", internal::CountRallocx, internal::UseRealloc,
           &internal::next_rallocx, &internal::way_of_rallocx);
  }
  return internal::way_of_rallocx(block, size, flags);
}

size_t xallocx(void* block, size_t size, size_t extra, int flags) noexcept {
  if (internal::way_of_xallocx == nullptr) {
    Choose("xallocx", internal::CountXallocx, internal::StayAsItIs,
           &internal::next_xallocx, &internal::way_of_xallocx);
  }
  return internal::way_of_xallocx(block, size, extra, flags);
}

void dallocx(void* block, int flags) noexcept {
  Delete<internal::kDallocx, int>::way(block, flags);
}

void sdallocx(void* block, size_t size, int flags) noexcept {
  Delete<internal::kSdallocx, size_t, int>::way(block, size, flags);
}

}  // extern "C"
