// Finds how to leave a frame. For a program counter, it finds where the
// caller's registers are, from the call frame information (.eh_frame) of the
// object that contains it.
//
//   FrameRow row = FindFrameRow(pc, /*is_return_address=*/true);
//   if (row.kind == FrameRow::kStackPointer) cfa = sp + row.cfa_offset_bytes;
//
// Supports x86-64 as gcc and clang write it: the canonical frame address (CFA)
// is the stack or frame pointer plus a constant, or is stored at such an
// address; the return address is just below the CFA. Rows of other forms are
// kUnknown.
//
// A row is a plain value, valid as long as the object stays loaded. Works
// inside malloc and in signal handlers: it allocates nothing and takes no lock
// (nor does glibc's _dl_find_object). Thread-safe. Time: some 200 ns a call;
// the unwinder caches rows. Source: the System V ABI for AMD64, section 6.2,
// and DWARF 5, section 6.4.

#ifndef FOOTPRINT_PROFILING_STACKS_FRAME_ROWS_H_
#define FOOTPRINT_PROFILING_STACKS_FRAME_ROWS_H_

#include <cstdint>

namespace footprint::profiling_internal {

struct FrameRow {
  enum Kind : uint8_t {
    kUnknown,
    kStackPointer,        // CFA = sp + offset
    kFramePointer,        // CFA = bp + offset
    kBehindFramePointer,  // CFA = *(bp + offset), where the stack was aligned
    kSignal,              // the kernel's frame of a signal handler
    kOutermost,           // has no caller
  };
  Kind kind = kUnknown;
  int32_t cfa_offset_bytes = 0;
  // Where the caller's frame pointer is saved, as an offset from the CFA. 0 if
  // it is unchanged or, with kBehindFramePointer, if it is saved where the
  // frame pointer points to.
  int32_t frame_pointer_offset_bytes = 0;

  friend bool operator==(const FrameRow& a, const FrameRow& b) {
    return a.kind == b.kind && a.cfa_offset_bytes == b.cfa_offset_bytes &&
           a.frame_pointer_offset_bytes == b.frame_pointer_offset_bytes;
  }
};

// Returns the row for `pc`. A return address belongs to the call before it,
// which may be the last instruction of its function.
FrameRow FindFrameRow(uintptr_t pc, bool is_return_address);

// Returns the row from a given .eh_frame_hdr section, which must be readable
// completely. For tests.
FrameRow FindFrameRowIn(const uint8_t* eh_frame_header, uintptr_t pc);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_STACKS_FRAME_ROWS_H_
