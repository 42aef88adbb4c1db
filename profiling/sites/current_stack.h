// The calls that are active in the calling thread, in the form that a call tree
// takes.
//
//   uintptr_t calls[kMaxCalls];
//   const int count = ReadCurrentStack(CallingFrame(), calls);
//   const uint32_t node = tree.FindNode(calls, count);
//
// Fills an array that the caller owns. The function that SetInterpreterCalls
// was given must stay loaded as long as the process. Works inside malloc: it
// allocates nothing. Thread-safe.

#ifndef FOOTPRINT_PROFILING_SITES_CURRENT_STACK_H_
#define FOOTPRINT_PROFILING_SITES_CURRENT_STACK_H_

#include <cstdint>

#include "footprint/profiling/stacks/stack_unwinder.h"

namespace footprint::profiling_internal {

inline constexpr int kMaxCalls = 256;

// Puts an interpreter's calls between the `count` native ones, whose stack
// pointers are given. Returns the new number of calls, at most `capacity`. The
// interpreter's calls have a bit that no return address has, kInterpretedCall
// (call_tree_record.h). In a signal handler it never waits for a lock, and
// checks each address before it reads it.
using InterleaveCalls = int (*)(bool in_signal_handler,
                                const uintptr_t* stack_pointers, int count,
                                uintptr_t* calls, int capacity);

// Sets the function. Call it before there is a second thread. Null means that
// there is no interpreter.
void SetInterpreterCalls(InterleaveCalls interleave);

// Returns whether this thread is reading its stack and may hold the
// interpreter's lock. A signal handler that interrupted it must not read its
// own stack.
bool IsReadingCurrentStack();

// Adds the interpreter's calls to the native ones, for a caller that unwinds
// the stack itself, in a signal handler or where the recorder's own code may be
// on the stack. `capacity` is at most kMaxCalls. Returns the new number of
// calls.
int AddInterpreterCalls(const uintptr_t* stack_pointers, int count,
                        uintptr_t* calls, int capacity);

// Fills `calls`, innermost first, and returns their number. It leaves out the
// outermost calls of a deeper stack.
int ReadCurrentStack(const StackFrame& innermost,
                     uintptr_t (&calls)[kMaxCalls]);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_SITES_CURRENT_STACK_H_
