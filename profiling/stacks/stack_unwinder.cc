#include "footprint/profiling/stacks/stack_unwinder.h"

#include <atomic>

#include "footprint/profiling/stacks/frame_rows.h"

namespace footprint::profiling_internal {
namespace {

// A larger frame is taken for an error.
constexpr uintptr_t kMaxFrameBytes = uintptr_t{1} << 30;

// A row in 32 bits: its kind, and its offsets in words. kPackedNone if it does
// not fit.
constexpr uint32_t kPackedNone = 0;
constexpr int kCfaBits = 18;
constexpr int kFramePointerBits = 11;

bool Fits(int64_t value, int bits) {
  return value >= -(int64_t{1} << (bits - 1)) && value < int64_t{1}
                                                             << (bits - 1);
}

uint32_t Pack(const FrameRow& row) {
  if (row.cfa_offset_bytes % 8 != 0 ||
      row.frame_pointer_offset_bytes % 8 != 0 ||
      !Fits(row.cfa_offset_bytes / 8, kCfaBits) ||
      !Fits(row.frame_pointer_offset_bytes / 8, kFramePointerBits)) {
    return kPackedNone;
  }
  const uint32_t cfa =
      static_cast<uint32_t>(row.cfa_offset_bytes / 8) & ((1u << kCfaBits) - 1);
  const uint32_t frame_pointer =
      static_cast<uint32_t>(row.frame_pointer_offset_bytes / 8) &
      ((1u << kFramePointerBits) - 1);
  return static_cast<uint32_t>(row.kind) | cfa << 3 |
         frame_pointer << (3 + kCfaBits);
}

FrameRow Unpack(uint32_t packed) {
  FrameRow row;
  row.kind = static_cast<FrameRow::Kind>(packed & 7);
  row.cfa_offset_bytes =
      (static_cast<int32_t>(packed << (29 - kCfaBits)) >> (32 - kCfaBits)) * 8;
  row.frame_pointer_offset_bytes =
      (static_cast<int32_t>(packed) >> (3 + kCfaBits)) * 8;
  return row;
}

// Rows by program counter. An entry is one word, so that no reader sees half of
// it. An invertible function mixes the program counter; some bits of the result
// choose the entry, and the other 32 are stored in it.
class RowTable {
 public:
  FrameRow Find(uintptr_t pc, bool is_return_address) {
    const uint64_t mixed = Mix(pc << 1 | (is_return_address ? 1 : 0));
    std::atomic<uint64_t>& entry = entries_[mixed >> 32];
    const uint64_t tag = mixed & 0xffffffff;
    const uint64_t known = entry.load(std::memory_order_relaxed);
    if (__builtin_expect(known >> 32 == tag && (known & 0xffffffff) != 0, 1)) {
      return Unpack(static_cast<uint32_t>(known));
    }
    const FrameRow row = FindFrameRow(pc, is_return_address);
    const uint32_t packed = Pack(row);
    if (packed != kPackedNone) {
      entry.store(tag << 32 | packed, std::memory_order_relaxed);
    }
    return row;
  }

  void Clear() {
    for (std::atomic<uint64_t>& entry : entries_) {
      entry.store(0, std::memory_order_relaxed);
    }
  }

 private:
  static constexpr int kIndexBits = 15;
  static constexpr int kKeyBits = kIndexBits + 32;
  static constexpr uint64_t kKeyMask = (uint64_t{1} << kKeyBits) - 1;

  // Maps kKeyBits bits, which user addresses have, one to one: the product with
  // an odd factor and the xor with a shift can each be inverted.
  static uint64_t Mix(uint64_t key) {
    key = key * 0x9e3779b97f4a7c15 & kKeyMask;
    return key ^ key >> (kKeyBits / 2 + 1);
  }

  std::atomic<uint64_t> entries_[1 << kIndexBits];
};

RowTable rows;

uintptr_t Load(uintptr_t address) {
  return *reinterpret_cast<const uintptr_t*>(address);
}

// Where the kernel saved the registers of the code that a signal interrupted:
// offsets in the ucontext_t at the stack pointer.
constexpr uintptr_t kSavedFramePointer = 120;
constexpr uintptr_t kSavedStackPointer = 160;
constexpr uintptr_t kSavedProgramCounter = 168;

class Walk {
 public:
  Walk(const StackFrame& frame, uintptr_t stack_end)
      : frame_(frame), stack_end_(stack_end) {}

  const StackFrame& frame() const { return frame_; }

  // Moves to the caller. Returns false if it is unknown or there is none.
  bool GoOut() {
    const FrameRow row =
        rows.Find(frame_.program_counter, frame_.is_return_address);
    switch (row.kind) {
      case FrameRow::kStackPointer:
        return GoTo(frame_.stack_pointer +
                        static_cast<uintptr_t>(intptr_t{row.cfa_offset_bytes}),
                    row);
      case FrameRow::kFramePointer:
        return GoTo(frame_.frame_pointer +
                        static_cast<uintptr_t>(intptr_t{row.cfa_offset_bytes}),
                    row);
      case FrameRow::kBehindFramePointer: {
        const uintptr_t at =
            frame_.frame_pointer +
            static_cast<uintptr_t>(intptr_t{row.cfa_offset_bytes});
        return IsAbove(at) && GoTo(Load(at), row);
      }
      case FrameRow::kSignal:
        return LeaveSignalHandler();
      case FrameRow::kUnknown:
        return FollowFramePointer();
      case FrameRow::kOutermost:
        return false;
    }
    return false;
  }

 private:
  // Returns whether a word can be read: it lies above the stack pointer, and in
  // the stack as far as its end is known.
  bool IsAbove(uintptr_t address) const {
    return address >= frame_.stack_pointer && address % 8 == 0 &&
           address - frame_.stack_pointer < kMaxFrameBytes &&
           (stack_end_ == 0 || stack_end_ < frame_.stack_pointer ||
            address + 8 <= stack_end_);
  }

  bool GoTo(uintptr_t cfa, const FrameRow& row) {
    if (!IsAbove(cfa - 8)) return false;
    if (row.frame_pointer_offset_bytes != 0) {
      const uintptr_t at = cfa + static_cast<uintptr_t>(
                                     intptr_t{row.frame_pointer_offset_bytes});
      if (!IsAbove(at)) return false;
      frame_.frame_pointer = Load(at);
    } else if (row.kind == FrameRow::kBehindFramePointer) {
      // The frame pointer is saved where it points to.
      if (!IsAbove(frame_.frame_pointer)) return false;
      frame_.frame_pointer = Load(frame_.frame_pointer);
    }
    frame_.program_counter = Load(cfa - 8);
    frame_.stack_pointer = cfa;
    frame_.is_return_address = true;
    return frame_.program_counter != 0;
  }

  bool LeaveSignalHandler() {
    const uintptr_t context = frame_.stack_pointer;
    frame_.frame_pointer = Load(context + kSavedFramePointer);
    frame_.program_counter = Load(context + kSavedProgramCounter);
    frame_.stack_pointer = Load(context + kSavedStackPointer);
    frame_.is_return_address = false;
    return frame_.program_counter != 0;
  }

  bool FollowFramePointer() {
    const uintptr_t at = frame_.frame_pointer;
    if (stack_end_ == 0 || stack_end_ < frame_.stack_pointer || !IsAbove(at) ||
        !IsAbove(at + 8)) {
      return false;
    }
    frame_.program_counter = Load(at + 8);
    frame_.stack_pointer = at + 16;
    frame_.frame_pointer = Load(at);
    frame_.is_return_address = true;
    return frame_.program_counter != 0;
  }

  StackFrame frame_;
  const uintptr_t stack_end_;
};

}  // namespace

int UnwindStack(StackFrame innermost, uintptr_t stack_end, uintptr_t* pcs,
                int capacity, uintptr_t* stack_pointers) {
  Walk walk(innermost, stack_end);
  int count = 0;
  while (count < capacity) {
    if (stack_pointers != nullptr) {
      stack_pointers[count] = walk.frame().stack_pointer;
    }
    pcs[count++] = walk.frame().program_counter;
    if (!walk.GoOut()) break;
  }
  return count;
}

void ForgetFrameRows() { rows.Clear(); }

}  // namespace footprint::profiling_internal
