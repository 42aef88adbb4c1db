// The layout of CPython's record of running code: offsets of members, by
// version, so that the agent reads them without Python's headers.
//
//   InterpreterLayout layout;
//   if (FindInterpreterLayout(0x030b02f0, runtime, &layout)) ...
//
// The layouts of 3.11 and 3.12 are a table, which interpreter_layout_test
// compares with the interpreter that runs it. 3.13 and 3.14 store theirs at the
// beginning of _PyRuntime. Other versions, and builds without the global lock
// (3.13t), have no layout here. Pure, thread-safe: it reads only constants of
// the runtime. Allocates nothing.
//
// Source: CPython's Include/cpython/{pystate,code,unicodeobject}.h and
// Include/internal/pycore_{frame,runtime}.h; from 3.14 on also
// pycore_{debug_offsets,interpframe_structs}.h.

#ifndef FOOTPRINT_PROFILING_PYTHON_INTERPRETER_LAYOUT_H_
#define FOOTPRINT_PROFILING_PYTHON_INTERPRETER_LAYOUT_H_

#include <cstdint>

namespace footprint::profiling_internal {

// Offsets in bytes; kNoMember if a version has no such member.
struct InterpreterLayout {
  static constexpr uint32_t kNoMember = ~uint32_t{0};

  // PyThreadState. Before 3.13 the frame is behind `thread_c_frame`.
  uint32_t thread_id;
  uint32_t thread_current_frame;
  uint32_t thread_c_frame;
  // _PyCFrame, which lies in the stack frame of the evaluating function.
  uint32_t c_frame_current_frame;
  uint32_t c_frame_previous;
  // _PyInterpreterFrame.
  uint32_t frame_code;
  uint32_t frame_previous;
  uint32_t frame_instruction;
  uint32_t frame_owner;
  // 3.11: not 0 for the outermost frame of an evaluating function.
  uint32_t frame_is_entry;
  // PyCodeObject.
  uint32_t code_first_line;
  uint32_t code_file_name;
  uint32_t code_qualified_name;
  uint32_t code_line_table;
  uint32_t code_instructions;
  // The place where the characters of a str begin.
  uint32_t str_ascii;
  uint32_t str_compact;
};

// Members that no version moved.
inline constexpr uint32_t kObjectType = 8;
inline constexpr uint32_t kBytesSize = 16;
inline constexpr uint32_t kBytesContent = 32;
inline constexpr uint32_t kStrLength = 16;
inline constexpr uint32_t kStrState = 32;
// The value of `frame_owner`, from 3.12 on, in the first frame of an evaluating
// function: FRAME_OWNED_BY_CSTACK in 3.12 and 3.13, FRAME_OWNED_BY_INTERPRETER
// from 3.14 on. That frame lies on the C stack and runs no code of the program.
inline constexpr uint8_t kOwnedByEvaluation = 3;

// Finds the layout. `version` is Py_Version, `runtime` the address of
// _PyRuntime or null. Returns false for an unknown version; from 3.13 on also
// without a runtime, without the global lock, or if the runtime is of another
// version.
bool FindInterpreterLayout(uint32_t version, const void* runtime,
                           InterpreterLayout* layout);

// Returns whether an interpreter of version 3.13 or later has the global lock.
// It may be built without the lock, and its objects may then come from any
// allocator. Returns false for an earlier version, and if `runtime` is null.
bool IsWithGlobalLock(const void* runtime);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_PYTHON_INTERPRETER_LAYOUT_H_
