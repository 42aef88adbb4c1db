// Finds the end of the calling thread's stack, as far as is possible without a
// lock or an allocation.
//
//   uintptr_t end = FindStackEnd(frame.stack_pointer);
//   int count = UnwindStack(frame, end, pcs, capacity);
//
// All memory from the stack pointer to the end can be read. The result is 0 if
// the end is unknown, as on a signal's own stack or a coroutine's.
//
// The main thread's stack ends at the stack pointer with which the process
// started, which the C library keeps; the kernel maps nothing in the 128 MiB
// below. Another thread's stack has the thread's control block at its end; a
// stack pointer more than 1 MiB below it is taken for another stack's. The
// address is valid as long as the thread is on that stack. Works inside malloc
// and in signal handlers. Thread-safe. It needs Linux and glibc. On other
// processors than x86-64 it finds only the end of the main thread's stack.

#ifndef FOOTPRINT_PROFILING_STACKS_STACK_END_H_
#define FOOTPRINT_PROFILING_STACKS_STACK_END_H_

#include <cstdint>

namespace footprint::profiling_internal {

// Returns the end, which is the highest address, of the stack that holds the
// calling thread's `stack_pointer`; 0 if it is unknown.
uintptr_t FindStackEnd(uintptr_t stack_pointer);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_STACKS_STACK_END_H_
