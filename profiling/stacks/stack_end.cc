#include "footprint/profiling/stacks/stack_end.h"

// The dynamic loader's variable: the stack pointer at the process's start.
extern "C" void* __libc_stack_end;

namespace footprint::profiling_internal {
namespace {

constexpr uintptr_t kMainStackBytes = uintptr_t{128} << 20;
// This is shorter than most threads' stacks, so that no gap lies between a
// stack pointer in this range and the control block.
constexpr uintptr_t kThreadStackBytes = uintptr_t{1} << 20;

uintptr_t ThreadPointer() {
  uintptr_t pointer = 0;
#ifdef __x86_64__
  asm("movq %%fs:0, %0" : "=r"(pointer));
#endif
  return pointer;
}

bool IsWithin(uintptr_t address, uintptr_t size_bytes, uintptr_t end) {
  return address < end && end - address <= size_bytes;
}

}  // namespace

uintptr_t FindStackEnd(uintptr_t stack_pointer) {
  const auto main_end = reinterpret_cast<uintptr_t>(__libc_stack_end);
  if (IsWithin(stack_pointer, kMainStackBytes, main_end)) return main_end;
  const uintptr_t thread = ThreadPointer();
  if (IsWithin(stack_pointer, kThreadStackBytes, thread)) return thread;
  return 0;
}

}  // namespace footprint::profiling_internal
