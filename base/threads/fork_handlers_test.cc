#include "footprint/base/threads/fork_handlers.h"

#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "absl/base/thread_annotations.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

PthreadMutex first_lock;
PthreadMutex second_lock;
char calls[16];

void Called(char call) { calls[std::strlen(calls)] = call; }

void LockFirst() ABSL_EXCLUSIVE_LOCK_FUNCTION(first_lock) {
  first_lock.Lock();
  Called('1');
}
void UnlockFirst() ABSL_UNLOCK_FUNCTION(first_lock) {
  Called('a');
  first_lock.Unlock();
}
void LockSecond() ABSL_EXCLUSIVE_LOCK_FUNCTION(second_lock) {
  second_lock.Lock();
  Called('2');
}
void UnlockSecond() ABSL_UNLOCK_FUNCTION(second_lock) {
  Called('b');
  second_lock.Unlock();
}
void InChild() { Called('c'); }

void AddAllOnce() {
  static const bool is_added = [] {
    AddForkHandlers({&first_lock, LockFirst, UnlockFirst, UnlockFirst});
    AddForkHandlers({&second_lock, LockSecond, UnlockSecond, UnlockSecond});
    AddForkHandlers({nullptr, nullptr, nullptr, InChild});
    return true;
  }();
  static_cast<void>(is_added);
  std::memset(calls, 0, sizeof(calls));
}

[[maybe_unused]] bool AllAreFree()
    ABSL_NO_THREAD_SAFETY_ANALYSIS {  // of each try's result
  return first_lock.TryLock() && second_lock.TryLock();
}

// Returns the status of a child that ends with the result of `in_child`.
template <typename Function>
int StatusOfChild(pid_t process, Function in_child) {
  if (process == 0) {
    alarm(20);
    _exit(in_child());
  }
  int status = -1;
  waitpid(process, &status, 0);
  return status;
}

TEST(ForkHandlersTest, AForkCallsAll) {
  AddAllOnce();
  EXPECT_EQ(
      StatusOfChild(fork(),
                    [] { return std::strcmp(calls, "21abc") == 0 ? 0 : 1; }),
      0);
  EXPECT_STREQ(calls, "21ab");
}

// ThreadSanitizer treats a lock that is reset in place as held.
#ifndef __SANITIZE_THREAD__
TEST(ForkHandlersTest, AChildWithoutForkCatchesUp) {
  AddAllOnce();
  // Another thread of the parent may hold a lock.
  first_lock.Lock();
  const auto process =
      static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  const int status = StatusOfChild(process, [] {
    CatchUpWithFork();
    return std::strcmp(calls, "21abc") == 0 && AllAreFree() ? 0 : 1;
  });
  first_lock.Unlock();
  EXPECT_EQ(status, 0);
  EXPECT_STREQ(calls, "");
}
#endif

}  // namespace
}  // namespace footprint
