// Puts the calls of Python code between the native ones: calls that an
// evaluating function (_PyEval_EvalFrameDefault) executes precede it.
//
//   count = InterleavePythonCalls(layout, thread_state, false, stack_pointers,
//                                 count, NumberCode, calls, kMaxCalls);
//
// Addresses show which native call evaluates which Python calls: the
// interpreter links its frames through a variable in the evaluating function's
// own stack frame. So no function's name or extent must be known, and
// generators, threads and subinterpreters need nothing special. If the native
// stack ends before that variable, the Python calls follow its last call.
//
// Reads the calling thread's own frames, which no other thread changes; whether
// it holds the interpreter's lock does not matter. Fills arrays that the caller
// owns and keeps nothing. Works inside malloc, and allocates nothing: some 5 ns
// a call. A signal handler may find an incomplete frame, so there the kernel
// checks what can be read: some 1 us a call.

#ifndef FOOTPRINT_PROFILING_PYTHON_PYTHON_CALLS_H_
#define FOOTPRINT_PROFILING_PYTHON_PYTHON_CALLS_H_

#include <cstdint>

#include "footprint/profiling/python/interpreter_layout.h"
#include "footprint/profiling/sites/current_stack.h"

namespace footprint::profiling_internal {

// Returns the number of a code object, or kNoCode if it has none. `code` may be
// any address.
using NumberCode = uint32_t (*)(uintptr_t code);
inline constexpr uint32_t kNoCode = ~uint32_t{0};

// `thread_state` is the calling thread's PyThreadState. Returns the new number
// of calls, at most `capacity`, which is at most kMaxCalls. If there are too
// many, the outermost are left out.
int InterleavePythonCalls(const InterpreterLayout& layout,
                          uintptr_t thread_state, bool in_signal_handler,
                          const uintptr_t* stack_pointers, int count,
                          NumberCode number_code, uintptr_t* calls,
                          int capacity);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_PYTHON_PYTHON_CALLS_H_
