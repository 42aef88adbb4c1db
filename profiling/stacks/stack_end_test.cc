#include "footprint/profiling/stacks/stack_end.h"

#include <pthread.h>
#include <unistd.h>

#include <thread>

#include "footprint/profiling/stacks/stack_unwinder.h"
#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

// The calling thread's stack as the C library reports it, which may allocate.
struct Stack {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};

Stack StackOfThread() {
  pthread_attr_t attributes;
  EXPECT_EQ(pthread_getattr_np(pthread_self(), &attributes), 0);
  void* begin = nullptr;
  size_t size = 0;
  EXPECT_EQ(pthread_attr_getstack(&attributes, &begin, &size), 0);
  pthread_attr_destroy(&attributes);
  const auto address = reinterpret_cast<uintptr_t>(begin);
  return {address, address + size};
}

void ExpectEndOfThisStack() {
  const StackFrame frame = CallingFrame();
  const Stack stack = StackOfThread();
  const uintptr_t end = FindStackEnd(frame.stack_pointer);
  EXPECT_GT(end, frame.stack_pointer);
  EXPECT_LE(end, stack.end);
  // All calls lie below the end, so without it the result is the same.
  uintptr_t with_end[256];
  uintptr_t without_end[256];
  const int count = UnwindStack(frame, end, with_end, 256);
  ASSERT_EQ(count, UnwindStack(frame, 0, without_end, 256));
  EXPECT_GT(count, 2);
}

TEST(StackEndTest, IsTheMainThreadsEnd) { ExpectEndOfThisStack(); }

TEST(StackEndTest, IsAThreadsEnd) { std::thread(ExpectEndOfThisStack).join(); }

TEST(StackEndTest, AnotherStackHasNone) {
  char* const block = new char[64];
  EXPECT_EQ(FindStackEnd(reinterpret_cast<uintptr_t>(block)), 0u);
  delete[] block;
  const uintptr_t here = CallingFrame().stack_pointer;
  std::thread([here] {
    // The main thread's end is found from any thread. A frame above a stack's
    // end is in no stack.
    EXPECT_EQ(FindStackEnd(FindStackEnd(here)), 0u);
  }).join();
}

// The stack has no outermost frame, so the unwinder must stop at its end.
TEST(StackEndTest, ABrokenStackDoesNotRunOff) {
  std::thread([] {
    StackFrame frame;
    const uintptr_t here = CallingFrame().stack_pointer;
    const uintptr_t end = FindStackEnd(here);
    ASSERT_NE(end, 0u);
    frame.program_counter = 0x10;  // no code lies there
    frame.stack_pointer = here;
    frame.frame_pointer = end - 8;
    uintptr_t pcs[8];
    EXPECT_EQ(UnwindStack(frame, end, pcs, 8), 1);
    frame.frame_pointer = end + (uintptr_t{64} << 20);
    EXPECT_EQ(UnwindStack(frame, end, pcs, 8), 1);
  }).join();
}

}  // namespace
}  // namespace footprint::profiling_internal
