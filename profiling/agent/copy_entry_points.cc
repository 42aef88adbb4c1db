// memcpy and related functions, counted. This is a shared object of its own,
// which is preloaded beside the agent only if copies are to be counted, so that
// other runs' copies have no overhead.
//
// A copy subtracts its bytes from a number in the thread's own storage, and
// calls the C library's function. Copies that the compiler inlines, and those
// inside the C library, do not come here.
//
// memcpy is called before any constructor has run, also this object's; until
// then bytes are moved one by one. memcpy calls memmove, which is the same
// function on x86-64: programs that were linked with the older memcpy may pass
// ranges that overlap.

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

extern "C" {
// Defined by the agent (agent.cc); null without it.
__attribute__((weak)) int64_t footprint_sample_copy(size_t size_bytes,
                                                    const void* caller);
__attribute__((weak)) int64_t footprint_next_copy_distance();
}

namespace {

using MoveFunction = void* (*)(void*, const void*, size_t);

void* MoveBytes(void* to, const void* from, size_t size_bytes) {
  auto* const target = static_cast<volatile char*>(to);
  const auto* const source = static_cast<const volatile char*>(from);
  if (reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from) >=
      size_bytes) {
    for (size_t i = 0; i < size_bytes; ++i) target[i] = source[i];
  } else {
    for (size_t i = size_bytes; i-- > 0;) target[i] = source[i];
  }
  return to;
}

MoveFunction next_memmove = MoveBytes;

// Zero-initialised, as all of a thread's storage here: no code runs for it.
struct CopyBudget {
  int64_t bytes_left;
  bool has_begun;
  // The agent itself also copies.
  bool is_in_agent;
};
__thread CopyBudget budget __attribute__((tls_model("initial-exec")));

// A function of its own, so that a copy without a sample needs no frame.
__attribute__((noinline)) void* MoveSample(void* to, const void* from,
                                           size_t size_bytes,
                                           const void* caller) {
  CopyBudget* const own = &budget;
  if (!own->is_in_agent && footprint_sample_copy != nullptr) {
    own->is_in_agent = true;
    if (!own->has_begun) {
      own->has_begun = true;
      own->bytes_left =
          footprint_next_copy_distance() - static_cast<int64_t>(size_bytes);
    }
    if (own->bytes_left < 0) {
      own->bytes_left = footprint_sample_copy(size_bytes, caller);
    }
    own->is_in_agent = false;
  }
  return next_memmove(to, from, size_bytes);
}

inline void* Move(void* to, const void* from, size_t size_bytes,
                  const void* caller) {
  budget.bytes_left -= static_cast<int64_t>(size_bytes);
  if (__builtin_expect(budget.bytes_left < 0, 0)) {
    return MoveSample(to, from, size_bytes, caller);
  }
  return next_memmove(to, from, size_bytes);
}

// Ends the program, as the C library does when a copy is larger than its
// target.
[[noreturn]] void Overflow(size_t size_bytes, size_t target_bytes) {
  const auto check =
      reinterpret_cast<void* (*)(void*, const void*, size_t, size_t)>(
          dlsym(RTLD_NEXT, "__memcpy_chk"));
  char byte = 0;
  if (check != nullptr) check(&byte, &byte, size_bytes, target_bytes);
  __builtin_trap();
}

__attribute__((constructor(101))) void FindNext() {
  const auto found =
      reinterpret_cast<MoveFunction>(dlsym(RTLD_NEXT, "memmove"));
  if (found != nullptr) next_memmove = found;
}

}  // namespace

extern "C" {

void* memcpy(void* to, const void* from, size_t size_bytes) noexcept {
  return Move(to, from, size_bytes, __builtin_return_address(0));
}

void* memmove(void* to, const void* from, size_t size_bytes) noexcept {
  return Move(to, from, size_bytes, __builtin_return_address(0));
}

void* mempcpy(void* to, const void* from, size_t size_bytes) noexcept {
  Move(to, from, size_bytes, __builtin_return_address(0));
  return static_cast<char*>(to) + size_bytes;
}

void bcopy(const void* from, void* to, size_t size_bytes) noexcept {
  Move(to, from, size_bytes, __builtin_return_address(0));
}

void* __memcpy_chk(void* to, const void* from, size_t size_bytes,
                   size_t target_bytes) noexcept {
  if (size_bytes > target_bytes) Overflow(size_bytes, target_bytes);
  return Move(to, from, size_bytes, __builtin_return_address(0));
}

void* __memmove_chk(void* to, const void* from, size_t size_bytes,
                    size_t target_bytes) noexcept {
  if (size_bytes > target_bytes) Overflow(size_bytes, target_bytes);
  return Move(to, from, size_bytes, __builtin_return_address(0));
}

void* __mempcpy_chk(void* to, const void* from, size_t size_bytes,
                    size_t target_bytes) noexcept {
  if (size_bytes > target_bytes) Overflow(size_bytes, target_bytes);
  Move(to, from, size_bytes, __builtin_return_address(0));
  return static_cast<char*>(to) + size_bytes;
}

}  // extern "C"
