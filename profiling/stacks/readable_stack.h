// Finds how far a stack can be read from a place in it, whether it is a
// thread's own, a signal handler's or a coroutine's.
//
//   const uintptr_t stack_end = ReadableStackEnd(stack_pointer);
//   int count = UnwindStack(frame, stack_end, pcs, 128);
//
// The kernel is asked, at most 256 KiB far, since what was readable a moment
// ago need not be. Refers to nothing: what can be read may be unmapped a moment
// later by its owner. Works in signal handlers: no allocation, no lock, 300
// bytes of stack. Thread-safe. Time: 1 to 10 us. 0 where the kernel does not
// tell (a filter of system calls): then only what needs no bound can be read.

#ifndef FOOTPRINT_PROFILING_STACKS_READABLE_STACK_H_
#define FOOTPRINT_PROFILING_STACKS_READABLE_STACK_H_

#include <cstdint>

namespace footprint::profiling_internal {

// The first address above `stack_pointer` that cannot be read, or is 256 KiB
// away; 0: not even `stack_pointer` can.
uintptr_t ReadableStackEnd(uintptr_t stack_pointer);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_STACKS_READABLE_STACK_H_
