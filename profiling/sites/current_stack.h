// The calls that are under way in the calling thread, as a call tree takes
// them.
//
//   uintptr_t calls[kMaxCalls];
//   const int count = ReadCurrentStack(CallingFrame(), calls);
//   const uint32_t node = tree.FindNode(calls, count);
//
// Fills what the caller owns; the function that SetInterpreterCalls was given
// must stay loaded as long as the process. Works inside malloc: no allocation.
// Thread-safe.

#ifndef FOOTPRINT_PROFILING_SITES_CURRENT_STACK_H_
#define FOOTPRINT_PROFILING_SITES_CURRENT_STACK_H_

#include <cstdint>

#include "footprint/profiling/stacks/stack_unwinder.h"

namespace footprint::profiling_internal {

inline constexpr int kMaxCalls = 256;

// Puts an interpreter's calls between the `count` native ones, whose stack
// pointers are given; returns how many there are then, at most `capacity`. They
// have a bit that no return address has, kInterpretedCall (call_tree_record.h).
// In a signal handler it waits for nobody, and believes nothing unseen.
using InterleaveCalls = int (*)(bool in_signal_handler,
                                const uintptr_t* stack_pointers, int count,
                                uintptr_t* calls, int capacity);

// Called before there is a second thread. Null: there is no interpreter.
void SetInterpreterCalls(InterleaveCalls interleave);

// Adds the interpreter's calls to the native ones, for who unwinds by himself,
// in a signal handler or wherever the recorder's own code may be below.
// `capacity` is at most kMaxCalls.
int AddInterpreterCalls(const uintptr_t* stack_pointers, int count,
                        uintptr_t* calls, int capacity);

// Fills `calls`, innermost first; returns their number. The outermost calls of
// a deeper stack are left out.
int ReadCurrentStack(const StackFrame& innermost,
                     uintptr_t (&calls)[kMaxCalls]);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_SITES_CURRENT_STACK_H_
