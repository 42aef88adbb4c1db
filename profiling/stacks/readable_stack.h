// Finds how far a stack can be read from a stack pointer, for a thread's own
// stack, a signal handler's or a coroutine's.
//
//   const uintptr_t stack_end = ReadableStackEnd(stack_pointer);
//   int count = UnwindStack(frame, stack_end, pcs, 128);
//
// It asks the kernel, at most 256 KiB far, since memory that was readable a
// moment ago may not be. It keeps no reference: the owner may unmap the memory
// a moment later. Works in signal handlers: no allocation, no lock, and 300
// bytes of stack. Thread-safe. Time: 1 to 10 us. Returns 0 if the kernel
// refuses to answer (a filter of system calls); then only memory that needs no
// bound can be read.

#ifndef FOOTPRINT_PROFILING_STACKS_READABLE_STACK_H_
#define FOOTPRINT_PROFILING_STACKS_READABLE_STACK_H_

#include <cstdint>

namespace footprint::profiling_internal {

// Returns the first address above `stack_pointer` that cannot be read or is 256
// KiB away. Returns 0 if not even `stack_pointer` can be read.
uintptr_t ReadableStackEnd(uintptr_t stack_pointer);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_STACKS_READABLE_STACK_H_
