#include "footprint/profiling/sites/current_stack.h"

#include "footprint/profiling/stacks/stack_end.h"

namespace footprint::profiling_internal {
namespace {

InterleaveCalls interleave_calls = nullptr;
// A signal handler reads it, so it is volatile.
__thread volatile bool is_reading __attribute__((tls_model("initial-exec"))) =
    false;

// A function of its own, so that stacks without an interpreter need no room for
// the array.
__attribute__((noinline)) int ReadInterleaved(const StackFrame& innermost,
                                              uintptr_t (&calls)[kMaxCalls]) {
  uintptr_t stack_pointers[kMaxCalls];
  const int count =
      UnwindStack(innermost, FindStackEnd(innermost.stack_pointer), calls,
                  kMaxCalls, stack_pointers);
  is_reading = true;
  const int more_count = interleave_calls(
      /*in_signal_handler=*/false, stack_pointers, count, calls, kMaxCalls);
  is_reading = false;
  return more_count;
}

}  // namespace

void SetInterpreterCalls(InterleaveCalls interleave) {
  interleave_calls = interleave;
}

bool IsReadingCurrentStack() { return is_reading; }

int AddInterpreterCalls(const uintptr_t* stack_pointers, int count,
                        uintptr_t* calls, int capacity) {
  if (interleave_calls == nullptr) return count;
  return interleave_calls(/*in_signal_handler=*/true, stack_pointers, count,
                          calls, capacity);
}

int ReadCurrentStack(const StackFrame& innermost,
                     uintptr_t (&calls)[kMaxCalls]) {
  if (interleave_calls != nullptr) return ReadInterleaved(innermost, calls);
  return UnwindStack(innermost, FindStackEnd(innermost.stack_pointer), calls,
                     kMaxCalls);
}

}  // namespace footprint::profiling_internal
