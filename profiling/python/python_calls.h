// Puts the calls of Python code between the native ones: those that an
// evaluating function (_PyEval_EvalFrameDefault) executes stand before it.
//
//   count = InterleavePythonCalls(layout, thread_state, false, stack_pointers,
//                                 count, NumberCode, calls, kMaxCalls);
//
// Which native call evaluates which Python calls is told by addresses: the
// interpreter links its frames through a variable in the evaluating function's
// own stack frame. So no function need be known by its name or extent, and
// generators, threads and subinterpreters need nothing special. Where the
// native stack ends before that variable, the Python calls follow its last
// call.
//
// Reads the calling thread's own frames, which nobody else changes; whether it
// holds the interpreter's lock does not matter. Fills what the caller owns and
// keeps nothing. Works inside malloc, and allocates nothing: some 5 ns a call.
// A signal handler may find a frame half made, so there the kernel is asked
// what can be read: some 1 us a call.

#ifndef FOOTPRINT_PROFILING_PYTHON_PYTHON_CALLS_H_
#define FOOTPRINT_PROFILING_PYTHON_PYTHON_CALLS_H_

#include <cstdint>

#include "footprint/profiling/python/interpreter_layout.h"
#include "footprint/profiling/sites/current_stack.h"

namespace footprint::profiling_internal {

// The number of a code object, which is one of Python's or nothing at all;
// kNoCode: it has none.
using NumberCode = uint32_t (*)(uintptr_t code);
inline constexpr uint32_t kNoCode = ~uint32_t{0};

// `thread_state` is the calling thread's PyThreadState. Returns the number of
// calls then, at most `capacity`, which is at most kMaxCalls; the outermost are
// left out where there are too many.
int InterleavePythonCalls(const InterpreterLayout& layout,
                          uintptr_t thread_state, bool in_signal_handler,
                          const uintptr_t* stack_pointers, int count,
                          NumberCode number_code, uintptr_t* calls,
                          int capacity);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_PYTHON_PYTHON_CALLS_H_
