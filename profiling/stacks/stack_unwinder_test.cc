#include "footprint/profiling/stacks/stack_unwinder.h"

#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <unwind.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

constexpr int kMaxFrames = 256;

_Unwind_Reason_Code AddFrame(_Unwind_Context* context, void* frames) {
  static_cast<std::vector<uintptr_t>*>(frames)->push_back(
      _Unwind_GetIP(context));
  return _URC_NO_REASON;
}

// Returns the frames of the compiler's own unwinder, which is slow and
// thorough.
__attribute__((noinline)) std::vector<uintptr_t> FramesOfCompiler() {
  std::vector<uintptr_t> frames;
  _Unwind_Backtrace(AddFrame, &frames);
  // It ends some stacks with a null.
  while (!frames.empty() && frames.back() == 0) frames.pop_back();
  // Its own first frame is this function.
  frames.erase(frames.begin());
  return frames;
}

// Compares the caller's callers from both unwinders. The innermost differs,
// because each starts at its own place.
__attribute__((noinline)) void ExpectSameFrames(const char* where) {
  uintptr_t pcs[kMaxFrames];
  const int count = UnwindStack(CallingFrame(), 0, pcs, kMaxFrames);
  const std::vector<uintptr_t> expected = FramesOfCompiler();
  ASSERT_EQ(static_cast<size_t>(count), expected.size()) << where;
  ASSERT_GT(count, 3) << where;
  for (int i = 1; i < count; ++i) {
    EXPECT_EQ(pcs[i], expected[static_cast<size_t>(i)])
        << where << ", frame " << i;
  }
}

using Function = void (*)();

// A frame whose size is not known before it runs.
__attribute__((noinline)) void InFrames(int count, Function function) {
  if (count == 0) {
    function();
    return;
  }
  volatile char* const bytes = static_cast<volatile char*>(
      alloca(static_cast<size_t>(count) * 17 % 300 + 1));
  bytes[0] = 1;
  InFrames(count - 1, function);
  asm volatile("" : : "r"(bytes));
}

// The stack is realigned, so the frame is found through a saved pointer.
__attribute__((noinline)) void InAlignedFrame() {
  alignas(64) volatile double values[8] = {};
  ExpectSameFrames("an aligned frame");
  asm volatile("" : : "m"(values));
}

int CompareAndLook(const void* a, const void* b) {
  ExpectSameFrames("below the C library");
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

void LookFromSignal(int) { ExpectSameFrames("a signal handler"); }

TEST(StackUnwinderTest, AgreesWithTheCompilersUnwinder) {
  ExpectSameFrames("a test");
  for (int depth : {1, 5, 40}) {
    InFrames(depth, [] { ExpectSameFrames("frames of any size"); });
    InFrames(depth, InAlignedFrame);
  }
}

TEST(StackUnwinderTest, GoesThroughLibraries) {
  int numbers[] = {3, 1, 2};
  qsort(numbers, 3, sizeof(int), CompareAndLook);
  std::vector<int> more = {3, 2, 1};
  std::sort(more.begin(), more.end(), [](int a, int b) {
    ExpectSameFrames("below a template");
    return a < b;
  });
}

TEST(StackUnwinderTest, GoesThroughSignalHandlers) {
  const auto before = signal(SIGUSR1, LookFromSignal);
  raise(SIGUSR1);
  InFrames(7, [] { raise(SIGUSR1); });
  signal(SIGUSR1, before);
}

jmp_buf after_the_look;

[[noreturn]] __attribute__((noinline)) void LookAndLeave() {
  ExpectSameFrames("below a function's last instruction");
  longjmp(after_the_look, 1);
}

// The function's last instruction is the call, so the call's return address
// lies beyond the function.
__attribute__((noinline)) void EndWithACall() { LookAndLeave(); }

TEST(StackUnwinderTest, GoesThroughCallsThatNeverReturn) {
  if (setjmp(after_the_look) == 0) EndWithACall();
}

TEST(StackUnwinderTest, GoesToAThreadsStart) {
  std::thread([] { ExpectSameFrames("a thread"); }).join();
}

TEST(StackUnwinderTest, RowsAreFoundAnewAfterTheyWereForgotten) {
  ExpectSameFrames("before");
  ForgetFrameRows();
  ExpectSameFrames("after");
}

TEST(StackUnwinderTest, StopsWhereThereIsNoMoreRoom) {
  uintptr_t all[kMaxFrames];
  uintptr_t some[3];
  const StackFrame frame = CallingFrame();
  ASSERT_GT(UnwindStack(frame, 0, all, kMaxFrames), 3);
  ASSERT_EQ(UnwindStack(frame, 0, some, 3), 3);
  EXPECT_TRUE(std::equal(some, some + 3, all));
}

// A variable of a call lies between its stack pointer and the next one.
__attribute__((noinline)) int FindVariable(int depth, const int* variable,
                                           uintptr_t* pcs) {
  volatile int own = depth;
  int found = -1;
  if (depth > 0) {
    found = FindVariable(depth - 1, variable, pcs);
  } else {
    uintptr_t stack_pointers[kMaxFrames];
    const int count =
        UnwindStack(CallingFrame(), 0, pcs, kMaxFrames, stack_pointers);
    const auto address = reinterpret_cast<uintptr_t>(variable);
    for (int i = 0; i + 1 < count; ++i) {
      EXPECT_LT(stack_pointers[i], stack_pointers[i + 1]);
      if (stack_pointers[i] <= address && address < stack_pointers[i + 1]) {
        found = i;
      }
    }
  }
  asm volatile("" : : "r"(own));
  return found;
}

__attribute__((noinline)) int FindOwnVariable(int depth) {
  int variable = 0;
  uintptr_t pcs[kMaxFrames];
  const int found = FindVariable(depth, &variable, pcs);
  asm volatile("" : : "r"(&variable) : "memory");
  return found;
}

TEST(StackUnwinderTest, TellsWhichPartOfTheStackIsACalls) {
  for (int depth : {0, 1, 7}) EXPECT_EQ(FindOwnVariable(depth), depth + 1);
}

// Frames without information are left by their frame pointer if it points into
// the stack.
TEST(StackUnwinderTest, FollowsFramePointersOfUnknownCode) {
  alignas(16) uintptr_t stack[16] = {};
  constexpr uintptr_t kUnknownCode = 0x10;
  stack[2] = reinterpret_cast<uintptr_t>(&stack[6]);  // saved frame pointer
  stack[3] = 0x20;                                    // return address
  stack[6] = 0;
  stack[7] = 0x30;
  StackFrame frame;
  frame.program_counter = kUnknownCode;
  frame.stack_pointer = reinterpret_cast<uintptr_t>(&stack[0]);
  frame.frame_pointer = reinterpret_cast<uintptr_t>(&stack[2]);
  uintptr_t pcs[8];
  const auto end = reinterpret_cast<uintptr_t>(&stack[16]);
  ASSERT_EQ(UnwindStack(frame, end, pcs, 8), 3);
  EXPECT_EQ(pcs[0], kUnknownCode);
  EXPECT_EQ(pcs[1], 0x20u);
  EXPECT_EQ(pcs[2], 0x30u);
  // If the stack's end is unknown, they may point anywhere.
  EXPECT_EQ(UnwindStack(frame, 0, pcs, 8), 1);
  // And where it is, not beyond it.
  frame.frame_pointer = end;
  EXPECT_EQ(UnwindStack(frame, end, pcs, 8), 1);
}

}  // namespace
}  // namespace footprint::profiling_internal
