#include "footprint/profiling/sites/current_stack.h"

#include <dlfcn.h>

#include <string>
#include <thread>

#include "footprint/profiling/records/call_tree_record.h"
#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

// Counts the calls of a function that calls itself `depth` times.
__attribute__((noinline)) int CountCalls(int depth,
                                         uintptr_t (&calls)[kMaxCalls]) {
  const int count = depth == 0 ? ReadCurrentStack(CallingFrame(), calls)
                               : CountCalls(depth - 1, calls);
  asm volatile("" : : "r"(count));
  return count;
}

TEST(CurrentStackTest, HoldsEachCall) {
  uintptr_t calls[kMaxCalls];
  const int shallow = CountCalls(0, calls);
  EXPECT_EQ(CountCalls(10, calls), shallow + 10);
  for (int i = 2; i < 10; ++i) EXPECT_EQ(calls[i], calls[1]);
}

TEST(CurrentStackTest, OuterCallsOfADeepStackAreLeftOut) {
  uintptr_t calls[kMaxCalls];
  EXPECT_EQ(CountCalls(400, calls), kMaxCalls);
  EXPECT_EQ(calls[kMaxCalls - 1], calls[1]);
}

// Acts as an interpreter with one call, around the second native one.
int AddCall(bool in_signal_handler, const uintptr_t* stack_pointers, int count,
            uintptr_t* calls, int capacity) {
  EXPECT_EQ(in_signal_handler, capacity != kMaxCalls);
  EXPECT_EQ(IsReadingCurrentStack(), !in_signal_handler);
  EXPECT_LT(stack_pointers[0], stack_pointers[1]);
  for (int i = count; i > 2; --i) calls[i] = calls[i - 1];
  calls[2] = kInterpretedCall | 77;
  return count + 1;
}

TEST(CurrentStackTest, AnInterpretersCallsStandBetweenNativeOnes) {
  uintptr_t calls[kMaxCalls];
  const int native = CountCalls(3, calls);
  SetInterpreterCalls(AddCall);
  EXPECT_EQ(CountCalls(3, calls), native + 1);
  SetInterpreterCalls(nullptr);
  EXPECT_FALSE(IsReadingCurrentStack());
  EXPECT_EQ(calls[2], kInterpretedCall | 77);
  EXPECT_EQ(calls[3], calls[1]);
}

TEST(CurrentStackTest, WhoUnwindsByHimselfCanAddThem) {
  const uintptr_t stack_pointers[] = {16, 32, 48};
  uintptr_t calls[4] = {1, 2, 3, 0};
  EXPECT_EQ(AddInterpreterCalls(stack_pointers, 3, calls, 4), 3);
  SetInterpreterCalls(AddCall);
  EXPECT_EQ(AddInterpreterCalls(stack_pointers, 3, calls, 4), 4);
  SetInterpreterCalls(nullptr);
  EXPECT_EQ(calls[2], kInterpretedCall | 77);
}

TEST(CurrentStackTest, GoesToAThreadsStart) {
  std::thread([] {
    uintptr_t calls[kMaxCalls];
    const int count = CountCalls(3, calls);
    ASSERT_GT(count, 4);
    Dl_info found;
    ASSERT_NE(dladdr(reinterpret_cast<void*>(calls[count - 1]), &found), 0);
    EXPECT_NE(std::string(found.dli_fname).find("libc.so"), std::string::npos);
  }).join();
}

}  // namespace
}  // namespace footprint::profiling_internal
