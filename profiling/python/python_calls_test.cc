#include "footprint/profiling/python/python_calls.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/profiling/records/call_tree_record.h"
#include "footprint/profiling/records/python_record.h"
#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

constexpr uint32_t kObjectBytes = 256;
constexpr uint32_t kNoNumber = 999;

// An interpreter's memory, made by hand: the members that the layout names.
class FakeThread {
 public:
  explicit FakeThread(uint32_t version) {
    // 3.13's offsets are its own; any that do not overlap will do.
    static const uint64_t runtime[64] = {0x7970677562656478,
                                         0x030d00f0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         8,
                                         16,
                                         72,
                                         152,
                                         160,
                                         232,
                                         32,
                                         80,
                                         8,
                                         0,
                                         56,
                                         72,
                                         70,
                                         208,
                                         112,
                                         120,
                                         128,
                                         136,
                                         68,
                                         52,
                                         96,
                                         104,
                                         200};
    EXPECT_TRUE(FindInterpreterLayout(version, runtime, &layout_));
    thread_ = NewObject();
  }

  bool has_c_frames() const {
    return layout_.thread_c_frame != InterpreterLayout::kNoMember;
  }

  // Makes the native call whose stack frame contains the address evaluate later
  // frames.
  void EnterFunction(uintptr_t address_in_function) {
    if (has_c_frames()) {
      Set(address_in_function, layout_.c_frame_previous, c_frame_);
      Set(address_in_function, layout_.c_frame_current_frame, frame_);
      c_frame_ = address_in_function;
      Set(thread_, layout_.thread_c_frame, c_frame_);
      is_entry_ = true;
    }
    if (layout_.frame_is_entry == InterpreterLayout::kNoMember) {
      const uintptr_t mark = has_c_frames() ? NewObject() : address_in_function;
      Link(mark);
      SetByte(mark, layout_.frame_owner, kOwnedByEvaluation);
    }
  }

  void Call(uint32_t number, int instruction) {
    const uintptr_t code = NewObject();
    std::memcpy(reinterpret_cast<void*>(code), &number, sizeof(number));
    const uintptr_t frame = NewObject();
    Set(frame, layout_.frame_code, code);
    Set(frame, layout_.frame_instruction,
        code + layout_.code_instructions +
            static_cast<uintptr_t>(2 * instruction));
    Link(frame);
    if (layout_.frame_is_entry != InterpreterLayout::kNoMember) {
      SetByte(frame, layout_.frame_is_entry, is_entry_ ? 1 : 0);
    }
    is_entry_ = false;
  }

  // The calls as "native" or "3@7": number and instruction; innermost first.
  std::string Interleave(const std::vector<uintptr_t>& stack_pointers) const {
    uintptr_t calls[kMaxCalls];
    const int count = static_cast<int>(stack_pointers.size());
    for (int i = 0; i < count; ++i) calls[i] = static_cast<uintptr_t>(i);
    return Text(calls,
                InterleavePythonCalls(layout_, thread_, in_signal_handler_,
                                      stack_pointers.data(), count, NumberCode,
                                      calls, kMaxCalls));
  }

  // Makes later calls run as in a signal handler, where memory is read with
  // care.
  void BeInSignalHandler() { in_signal_handler_ = true; }
  // Makes the innermost frame's code unreadable.
  void BreakCode() { Set(frame_, layout_.frame_code, 0x10000); }
  void BreakFrame() { Set(frame_, layout_.frame_previous, 0x10000); }

 private:
  static uint32_t NumberCode(uintptr_t code) {
    uint32_t number;
    std::memcpy(&number, reinterpret_cast<const void*>(code), sizeof(number));
    return number == kNoNumber ? kNoCode : number;
  }

  static std::string Text(const uintptr_t* calls, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      const uint64_t call = calls[i] & ~kInterpretedCall;
      const int64_t instruction =
          static_cast<int64_t>(call & ((1 << kInstructionBits) - 1)) - 1;
      absl::StrAppend(&text, i == 0 ? "" : " ",
                      call == calls[i] ? absl::StrCat("n", call)
                                       : absl::StrCat(call >> kInstructionBits,
                                                      "@", instruction));
    }
    return text;
  }

  uintptr_t NewObject() {
    objects_.push_back(std::make_unique<uintptr_t[]>(kObjectBytes / 8));
    return reinterpret_cast<uintptr_t>(objects_.back().get());
  }

  static void Set(uintptr_t object, uint32_t offset, uintptr_t value) {
    std::memcpy(reinterpret_cast<void*>(object + offset), &value,
                sizeof(value));
  }
  static void SetByte(uintptr_t object, uint32_t offset, uint8_t value) {
    std::memcpy(reinterpret_cast<void*>(object + offset), &value, 1);
  }

  void Link(uintptr_t frame) {
    Set(frame, layout_.frame_previous, frame_);
    frame_ = frame;
    if (has_c_frames()) {
      Set(c_frame_, layout_.c_frame_current_frame, frame);
    } else {
      Set(thread_, layout_.thread_current_frame, frame);
    }
  }

  InterpreterLayout layout_;
  std::vector<std::unique_ptr<uintptr_t[]>> objects_;
  uintptr_t thread_ = 0;
  uintptr_t frame_ = 0;
  uintptr_t c_frame_ = 0;
  bool is_entry_ = false;
  bool in_signal_handler_ = false;
};

// A native stack: six calls of 256 bytes each.
class PythonCallsTest : public testing::TestWithParam<uint32_t> {
 protected:
  uintptr_t InCall(size_t call) const {
    return reinterpret_cast<uintptr_t>(stack_) + call * kObjectBytes + 16;
  }
  std::vector<uintptr_t> StackPointers(size_t count = 6) const {
    std::vector<uintptr_t> pointers;
    for (size_t i = 0; i < count; ++i) pointers.push_back(InCall(i) - 16);
    return pointers;
  }

  alignas(16) uintptr_t stack_[6 * kObjectBytes / 8] = {};
};

INSTANTIATE_TEST_SUITE_P(Versions, PythonCallsTest,
                         testing::Values(0x030b02f0, 0x030c01f0, 0x030d00f0));

TEST_P(PythonCallsTest, WithoutFramesNativeCallsStand) {
  FakeThread thread(GetParam());
  EXPECT_EQ(thread.Interleave(StackPointers()), "n0 n1 n2 n3 n4 n5");
}

TEST_P(PythonCallsTest, FramesStandBeforeTheirEvaluatingFunction) {
  FakeThread thread(GetParam());
  thread.EnterFunction(InCall(4));
  thread.Call(1, 10);
  thread.EnterFunction(InCall(2));
  thread.Call(2, 20);
  thread.Call(3, -1);
  EXPECT_EQ(thread.Interleave(StackPointers()),
            "n0 n1 3@-1 2@20 n2 n3 1@10 n4 n5");
}

TEST_P(PythonCallsTest, CodeWithoutANumberIsLeftOut) {
  FakeThread thread(GetParam());
  thread.EnterFunction(InCall(1));
  thread.Call(1, 1);
  thread.Call(kNoNumber, 2);
  thread.Call(3, 3);
  EXPECT_EQ(thread.Interleave(StackPointers(3)), "n0 3@3 1@1 n1 n2");
}

TEST_P(PythonCallsTest, WhereTheNativeStackEndsBeforePythonsCallsFollow) {
  FakeThread thread(GetParam());
  thread.EnterFunction(InCall(5));
  thread.Call(1, 1);
  EXPECT_EQ(thread.Interleave(StackPointers(3)), "n0 n1 n2 1@1");
}

TEST_P(PythonCallsTest, FramesOfAnotherStackAreLeftOut) {
  FakeThread thread(GetParam());
  thread.EnterFunction(InCall(0));
  thread.Call(1, 1);
  std::vector<uintptr_t> above = StackPointers();
  above.erase(above.begin());
  EXPECT_EQ(thread.Interleave(above), "n0 n1 n2 n3 n4");
}

// A signal may find a frame whose members are not all written yet.
TEST_P(PythonCallsTest, InASignalHandlerFramesMayBeHalfMade) {
  FakeThread thread(GetParam());
  thread.BeInSignalHandler();
  thread.EnterFunction(InCall(4));
  thread.Call(1, 10);
  thread.EnterFunction(InCall(2));
  thread.Call(2, 20);
  EXPECT_EQ(thread.Interleave(StackPointers()), "n0 n1 2@20 n2 n3 1@10 n4 n5");
  thread.BreakCode();
  EXPECT_EQ(thread.Interleave(StackPointers()), "n0 n1 n2 n3 1@10 n4 n5");
  thread.BreakFrame();
  EXPECT_EQ(thread.Interleave(StackPointers()).find("n0 n1"), 0u);
}

TEST_P(PythonCallsTest, OfADeepStackTheInnermostStay) {
  FakeThread thread(GetParam());
  thread.EnterFunction(InCall(2));
  for (uint32_t i = 0; i < 1200; ++i) thread.Call(i, 1);
  const std::string calls = thread.Interleave(StackPointers());
  EXPECT_EQ(calls.find("1199@1"), calls.find('@') - 4);
  EXPECT_NE(calls.find(" 1000@1"), std::string::npos);
  EXPECT_EQ(calls.find(" 900@1"), std::string::npos);
}

}  // namespace
}  // namespace footprint::profiling_internal
