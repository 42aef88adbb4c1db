#include "footprint/profiling/python/interpreter_layout.h"

#include <string.h>

namespace footprint::profiling_internal {
namespace {

constexpr uint32_t kNone = InterpreterLayout::kNoMember;

constexpr InterpreterLayout kLayout311 = {
    /*thread_id=*/152,
    /*thread_current_frame=*/kNone,
    /*thread_c_frame=*/56,
    /*c_frame_current_frame=*/8,
    /*c_frame_previous=*/16,
    /*frame_code=*/32,
    /*frame_previous=*/48,
    /*frame_instruction=*/56,
    /*frame_owner=*/69,
    /*frame_is_entry=*/68,
    /*code_first_line=*/72,
    /*code_file_name=*/112,
    /*code_qualified_name=*/128,
    /*code_line_table=*/136,
    /*code_instructions=*/184,
    /*str_ascii=*/48,
    /*str_compact=*/72,
};

constexpr InterpreterLayout kLayout312 = {
    /*thread_id=*/136,
    /*thread_current_frame=*/kNone,
    /*thread_c_frame=*/56,
    /*c_frame_current_frame=*/0,
    /*c_frame_previous=*/8,
    /*frame_code=*/0,
    /*frame_previous=*/8,
    /*frame_instruction=*/56,
    /*frame_owner=*/70,
    /*frame_is_entry=*/kNone,
    /*code_first_line=*/68,
    /*code_file_name=*/112,
    /*code_qualified_name=*/128,
    /*code_line_table=*/136,
    /*code_instructions=*/192,
    /*str_ascii=*/40,
    /*str_compact=*/56,
};

// The beginning of _Py_DebugOffsets, whose members have one word each. Versions
// differ in the number of words about the interpreter's state.
template <int interpreter_word_count>
struct DebugOffsets {
  char cookie[8];
  uint64_t version;
  uint64_t free_threaded;
  uint64_t runtime[3];
  uint64_t interpreter[interpreter_word_count];
  struct {
    uint64_t size, prev, next, interp, current_frame, thread_id;
    uint64_t native_thread_id, datastack_chunk, status;
  } thread;
};

struct FrameOffsets313 {
  uint64_t size, previous, executable, instr_ptr, localsplus, owner;
};
struct FrameOffsets314 : FrameOffsets313 {
  uint64_t stackpointer, tlbc_index;
};

struct CodeOffsets {
  uint64_t size, filename, name, qualname, linetable, firstlineno, argcount;
  uint64_t localsplusnames, localspluskinds, co_code_adaptive;
};

// Reads the offsets that 3.13 and 3.14 store in _PyRuntime.
template <int interpreter_word_count, typename FrameOffsets>
bool ReadDebugOffsets(uint32_t version, const void* runtime,
                      InterpreterLayout* layout) {
  if (!IsWithGlobalLock(runtime)) return false;
  struct Offsets : DebugOffsets<interpreter_word_count> {
    FrameOffsets frame;
    CodeOffsets code;
  };
  const auto& offsets = *static_cast<const Offsets*>(runtime);
  if (offsets.version != version) return false;
  *layout = {
      static_cast<uint32_t>(offsets.thread.thread_id),
      static_cast<uint32_t>(offsets.thread.current_frame),
      kNone,
      kNone,
      kNone,
      static_cast<uint32_t>(offsets.frame.executable),
      static_cast<uint32_t>(offsets.frame.previous),
      static_cast<uint32_t>(offsets.frame.instr_ptr),
      static_cast<uint32_t>(offsets.frame.owner),
      kNone,
      static_cast<uint32_t>(offsets.code.firstlineno),
      static_cast<uint32_t>(offsets.code.filename),
      static_cast<uint32_t>(offsets.code.qualname),
      static_cast<uint32_t>(offsets.code.linetable),
      static_cast<uint32_t>(offsets.code.co_code_adaptive),
      kLayout312.str_ascii,
      kLayout312.str_compact,
  };
  return true;
}

}  // namespace

bool IsWithGlobalLock(const void* runtime) {
  if (runtime == nullptr) return false;
  const auto& offsets = *static_cast<const DebugOffsets<1>*>(runtime);
  return memcmp(offsets.cookie, "xdebugpy", sizeof(offsets.cookie)) == 0 &&
         offsets.free_threaded == 0;
}

bool FindInterpreterLayout(uint32_t version, const void* runtime,
                           InterpreterLayout* layout) {
  switch (version >> 16) {
    case 0x030b:
      *layout = kLayout311;
      return true;
    case 0x030c:
      *layout = kLayout312;
      return true;
    case 0x030d:
      return ReadDebugOffsets<13, FrameOffsets313>(version, runtime, layout);
    case 0x030e:
      return ReadDebugOffsets<16, FrameOffsets314>(version, runtime, layout);
    default:
      return false;
  }
}

}  // namespace footprint::profiling_internal
