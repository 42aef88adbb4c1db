#include "footprint/profiling/python/python_calls.h"

#include <string.h>

#include <algorithm>

#include "footprint/profiling/python/object_memory.h"
#include "footprint/profiling/records/call_tree_record.h"
#include "footprint/profiling/records/python_record.h"

namespace footprint::profiling_internal {
namespace {

constexpr uint64_t kMaxInstruction = (uint64_t{1} << kInstructionBits) - 1;
constexpr uint32_t kNoMember = InterpreterLayout::kNoMember;
// Of one evaluating function, beyond which its begin is not looked for; deeper
// stacks lose their outer calls anyway.
constexpr int kMostFramesOfFunction = 1000;

// Goes from the innermost Python frame outwards.
class FrameCursor {
 public:
  FrameCursor(const InterpreterLayout& layout, uintptr_t thread_state)
      : layout_(layout) {
    if (layout.thread_c_frame == kNoMember) {
      frame_ = Member(thread_state, layout.thread_current_frame);
      return;
    }
    c_frame_ = Member(thread_state, layout.thread_c_frame);
    if (MayBeObject(c_frame_)) {
      frame_ = Member(c_frame_, layout.c_frame_current_frame);
    }
  }

  bool IsAtEnd() const { return !MayBeObject(frame_); }

  // A frame without code, which lies in the evaluating function's own.
  bool IsBeginOfFunction() const {
    return layout_.frame_is_entry == kNoMember &&
           LoadAs<uint8_t>(frame_ + layout_.frame_owner) == kOwnedByCStack;
  }

  // Whether the evaluating function began with this frame.
  bool IsOutermostOfFunction() const {
    return layout_.frame_is_entry == kNoMember
               ? IsBeginOfFunction()
               : LoadAs<uint8_t>(frame_ + layout_.frame_is_entry) != 0;
  }

  // An address in the stack frame of the function that evaluates this frame.
  uintptr_t AddressInFunction() const {
    if (c_frame_ != 0) return c_frame_;
    FrameCursor outer = *this;
    for (int i = 0; i < kMostFramesOfFunction && !outer.IsAtEnd(); ++i) {
      if (outer.IsBeginOfFunction()) return outer.frame_;
      outer.GoOut();
    }
    return UINTPTR_MAX;
  }

  // 3.14 marks the pointer in its lowest bits.
  uintptr_t code() const {
    return Member(frame_, layout_.frame_code) & ~uintptr_t{3};
  }

  // In code units; -1 before the first.
  int64_t Instruction() const {
    const uintptr_t at = Member(frame_, layout_.frame_instruction);
    return static_cast<int64_t>(at - code() - layout_.code_instructions) / 2;
  }

  void GoOut() {
    if (c_frame_ != 0 && IsOutermostOfFunction()) {
      c_frame_ = Member(c_frame_, layout_.c_frame_previous);
      if (!MayBeObject(c_frame_)) {
        frame_ = 0;
        return;
      }
    }
    frame_ = Member(frame_, layout_.frame_previous);
  }

 private:
  static uintptr_t Member(uintptr_t object, uint32_t offset) {
    return LoadAs<uintptr_t>(object + offset);
  }

  const InterpreterLayout& layout_;
  uintptr_t frame_ = 0;
  // 0: the version has none.
  uintptr_t c_frame_ = 0;
};

class Merge {
 public:
  Merge(const uintptr_t* native, const uintptr_t* stack_pointers, int count)
      : native_(native), stack_pointers_(stack_pointers), count_(count) {}

  bool IsFull() const { return size_ == kMaxCalls; }
  void Add(uintptr_t call) {
    if (!IsFull()) calls_[size_++] = call;
  }

  // The native calls inside of the one in whose stack frame the address lies.
  void AddNativeBelow(uintptr_t address) {
    while (next_ < count_ && !IsFull() &&
           (next_ + 1 == count_ || stack_pointers_[next_ + 1] <= address)) {
      Add(native_[next_++]);
    }
  }
  void AddNativeLeft() {
    while (next_ < count_ && !IsFull()) Add(native_[next_++]);
  }

  int CopyTo(uintptr_t (&calls)[kMaxCalls]) const {
    memcpy(calls, calls_, static_cast<size_t>(size_) * sizeof(calls[0]));
    return size_;
  }

 private:
  const uintptr_t* const native_;
  const uintptr_t* const stack_pointers_;
  const int count_;
  int next_ = 0;
  int size_ = 0;
  uintptr_t calls_[kMaxCalls];
};

// 0: its code has no number.
uintptr_t CallOf(const FrameCursor& cursor, NumberCode number_code) {
  const uint32_t number = number_code(cursor.code());
  if (number == kNoCode) return 0;
  const auto instruction = static_cast<uint64_t>(cursor.Instruction() + 1);
  return kInterpretedCall | uint64_t{number} << kInstructionBits |
         std::min(instruction, kMaxInstruction);
}

}  // namespace

int InterleavePythonCalls(const InterpreterLayout& layout,
                          uintptr_t thread_state,
                          const uintptr_t* stack_pointers, int count,
                          NumberCode number_code,
                          uintptr_t (&calls)[kMaxCalls]) {
  FrameCursor cursor(layout, thread_state);
  if (cursor.IsAtEnd() || count == 0) return count;
  Merge merge(calls, stack_pointers, count);
  bool is_at_begin_of_function = true;
  for (; !cursor.IsAtEnd() && !merge.IsFull(); cursor.GoOut()) {
    if (is_at_begin_of_function) {
      const uintptr_t address = cursor.AddressInFunction();
      // On another stack than the native calls.
      if (address < stack_pointers[0]) break;
      merge.AddNativeBelow(address);
    }
    is_at_begin_of_function = cursor.IsOutermostOfFunction();
    if (cursor.IsBeginOfFunction()) continue;
    const uintptr_t call = CallOf(cursor, number_code);
    if (call != 0) merge.Add(call);
  }
  merge.AddNativeLeft();
  return merge.CopyTo(calls);
}

}  // namespace footprint::profiling_internal
