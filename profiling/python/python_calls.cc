#include "footprint/profiling/python/python_calls.h"

#include <string.h>

#include <algorithm>

#include "footprint/base/memory/readable_memory.h"
#include "footprint/profiling/python/object_memory.h"
#include "footprint/profiling/records/call_tree_record.h"
#include "footprint/profiling/records/python_record.h"

namespace footprint::profiling_internal {
namespace {

constexpr uint64_t kMaxInstruction = (uint64_t{1} << kInstructionBits) - 1;
constexpr uint32_t kNoMember = InterpreterLayout::kNoMember;
// The most frames of one evaluating function through which its start is
// searched; deeper stacks lose their outer calls anyway.
constexpr int kMostFramesOfFunction = 1000;

// The bytes of a frame before its variables.
constexpr size_t kFrameBytes = 80;

// Goes from the innermost Python frame outwards.
class FrameCursor {
 public:
  FrameCursor(const InterpreterLayout& layout, uintptr_t thread_state,
              bool in_signal_handler)
      : layout_(layout), is_checked_(in_signal_handler) {
    if (layout.thread_c_frame == kNoMember) {
      GoTo(Pointer(thread_state + layout.thread_current_frame));
      return;
    }
    c_frame_ = Pointer(thread_state + layout.thread_c_frame);
    if (c_frame_ != 0) GoTo(Pointer(c_frame_ + layout.c_frame_current_frame));
  }

  bool IsAtEnd() const { return frame_ == 0; }

  // Returns whether it is a frame without code, which lies in the evaluating
  // function's own.
  bool IsBeginOfFunction() const {
    return layout_.frame_is_entry == kNoMember &&
           static_cast<uint8_t>(content_[layout_.frame_owner]) ==
               kOwnedByEvaluation;
  }

  // Returns whether the evaluating function began with this frame.
  bool IsOutermostOfFunction() const {
    return layout_.frame_is_entry == kNoMember
               ? IsBeginOfFunction()
               : content_[layout_.frame_is_entry] != 0;
  }

  // Returns an address in the stack frame of the function that evaluates this
  // frame.
  uintptr_t AddressInFunction() const {
    if (c_frame_ != 0) return c_frame_;
    FrameCursor outer = *this;
    for (int i = 0; i < kMostFramesOfFunction && !outer.IsAtEnd(); ++i) {
      if (outer.IsBeginOfFunction()) return outer.frame_;
      outer.GoOut();
    }
    return UINTPTR_MAX;
  }

  // Returns 0 if it has no readable code. 3.14 uses the pointer's lowest bits
  // as marks.
  uintptr_t code() const {
    const uintptr_t code = Member(layout_.frame_code) & ~uintptr_t{3};
    uintptr_t head[2];
    const bool can_be_read =
        MayBeObject(code) &&
        (!is_checked_ || CopyIfReadable(code, head, sizeof(head)));
    return can_be_read ? code : 0;
  }

  // Returns the instruction in code units; -1 before the first.
  int64_t Instruction(uintptr_t code) const {
    return static_cast<int64_t>(Member(layout_.frame_instruction) - code -
                                layout_.code_instructions) /
           2;
  }

  void GoOut() {
    if (c_frame_ != 0 && IsOutermostOfFunction()) {
      c_frame_ = Pointer(c_frame_ + layout_.c_frame_previous);
      if (c_frame_ == 0) {
        frame_ = 0;
        return;
      }
    }
    GoTo(Member(layout_.frame_previous));
  }

 private:
  bool Read(uintptr_t address, void* bytes, size_t size_bytes) const {
    if (is_checked_) return CopyIfReadable(address, bytes, size_bytes);
    memcpy(bytes, reinterpret_cast<const void*>(address), size_bytes);
    return true;
  }

  // Returns 0 if nothing valid is there.
  uintptr_t Pointer(uintptr_t address) const {
    uintptr_t pointer;
    return Read(address, &pointer, sizeof(pointer)) && MayBeObject(pointer)
               ? pointer
               : 0;
  }

  void GoTo(uintptr_t frame) {
    frame_ =
        MayBeObject(frame) && Read(frame, content_, kFrameBytes) ? frame : 0;
  }

  uintptr_t Member(uint32_t offset) const {
    uintptr_t value;
    memcpy(&value, content_ + offset, sizeof(value));
    return value;
  }

  const InterpreterLayout& layout_;
  const bool is_checked_;
  uintptr_t frame_ = 0;
  // 0 if the version has none.
  uintptr_t c_frame_ = 0;
  char content_[kFrameBytes];
};

class Merge {
 public:
  Merge(const uintptr_t* native, const uintptr_t* stack_pointers, int count,
        int capacity)
      : native_(native),
        stack_pointers_(stack_pointers),
        count_(count),
        capacity_(std::min(capacity, kMaxCalls)) {}

  bool IsFull() const { return size_ == capacity_; }
  void Add(uintptr_t call) {
    if (!IsFull()) calls_[size_++] = call;
  }

  // Adds the native calls inside the one whose stack frame contains the
  // address.
  void AddNativeBelow(uintptr_t address) {
    while (next_ < count_ && !IsFull() &&
           (next_ + 1 == count_ || stack_pointers_[next_ + 1] <= address)) {
      Add(native_[next_++]);
    }
  }
  void AddNativeLeft() {
    while (next_ < count_ && !IsFull()) Add(native_[next_++]);
  }

  int CopyTo(uintptr_t* calls) const {
    memcpy(calls, calls_, static_cast<size_t>(size_) * sizeof(calls[0]));
    return size_;
  }

 private:
  const uintptr_t* const native_;
  const uintptr_t* const stack_pointers_;
  const int count_;
  const int capacity_;
  int next_ = 0;
  int size_ = 0;
  uintptr_t calls_[kMaxCalls];
};

// Returns 0 if its code has no number.
uintptr_t FindCall(const FrameCursor& cursor, NumberCode number_code) {
  const uintptr_t code = cursor.code();
  const uint32_t number = code == 0 ? kNoCode : number_code(code);
  if (number == kNoCode) return 0;
  const auto instruction = static_cast<uint64_t>(cursor.Instruction(code) + 1);
  return kInterpretedCall | uint64_t{number} << kInstructionBits |
         std::min(instruction, kMaxInstruction);
}

}  // namespace

int InterleavePythonCalls(const InterpreterLayout& layout,
                          uintptr_t thread_state, bool in_signal_handler,
                          const uintptr_t* stack_pointers, int count,
                          NumberCode number_code, uintptr_t* calls,
                          int capacity) {
  FrameCursor cursor(layout, thread_state, in_signal_handler);
  if (cursor.IsAtEnd() || count == 0) return count;
  Merge merge(calls, stack_pointers, count, capacity);
  bool is_at_begin_of_function = true;
  for (; !cursor.IsAtEnd() && !merge.IsFull(); cursor.GoOut()) {
    if (is_at_begin_of_function) {
      const uintptr_t address = cursor.AddressInFunction();
      // The frame is on another stack than the native calls.
      if (address < stack_pointers[0]) break;
      merge.AddNativeBelow(address);
    }
    is_at_begin_of_function = cursor.IsOutermostOfFunction();
    if (cursor.IsBeginOfFunction()) continue;
    const uintptr_t call = FindCall(cursor, number_code);
    if (call != 0) merge.Add(call);
  }
  merge.AddNativeLeft();
  return merge.CopyTo(calls);
}

}  // namespace footprint::profiling_internal
