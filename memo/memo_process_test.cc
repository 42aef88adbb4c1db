// Memos at the end of threads and processes, and across a fork.

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/memo/memo.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::AnyOf;

using Values = std::vector<int>;

Memo<Values> MakeValues(const std::string& name) {
  return *MakeMemo<Values>(name, [] { return Values(1000, 7); });
}

// Uses a memo when its thread ends, after other destructors have used it too.
struct LateReader {
  absl::optional<Memo<Values>> memo;
  int* sum = nullptr;
  ~LateReader() {
    if (!memo.has_value()) return;
    for (int i = 0; i < 2; ++i) {
      const auto handle = memo->Get();
      if (handle.ok()) *sum += (**handle)[999];
      if (!memo->Evict().ok() && !handle.ok()) *sum = -1;
    }
    // This also loads on this thread, which needs the thread's record once
    // more.
    const Memo<Values> other = MakeValues("late");
    if (other.Get().ok()) ++*sum;
  }
};

LateReader& ThisThreadsReader() {
  static thread_local LateReader reader;
  return reader;
}

TEST(MemoProcessTest, DestructorsOfThreadLocalObjectsMayUseMemos) {
  const Memo<Values> memo = MakeValues("thread_local");
  int sum = 0;
  std::thread([&] {
    ThisThreadsReader().sum = &sum;  // It begins first and so ends last.
    ThisThreadsReader().memo = memo;
    ASSERT_THAT(memo.Get(), IsOk());
  }).join();
  EXPECT_EQ(sum, 15);
}

[[noreturn]] void ExitWithLivingValues() {
  static const Memo<Values> memo = MakeValues("static");
  static const Memo<Values> outer = *MakeMemo<Values>(
      "outer", [] { return memo.Get().ok() ? Values(3) : Values(); });
  if (!outer.Get().ok()) std::_Exit(1);
  std::exit(0);
}

// This is what happens at the end of main, whose thread ends before static
// objects do.
[[noreturn]] void ExitWhileAThreadHoldsAHandle() {
  static const Memo<Values> memo = MakeValues("held");
  std::atomic<bool> holds{false};
  std::thread([&] {
    const auto handle = memo.Get();
    holds = handle.ok();
    while (true) std::this_thread::sleep_for(std::chrono::seconds(1));
  }).detach();
  while (!holds) std::this_thread::yield();
  std::exit(0);
}

class MemoProcessDeathTest : public testing::Test {
 protected:
  void SetUp() override {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
  }
};

TEST_F(MemoProcessDeathTest, AStaticMemosValueMayBeAliveAtExit) {
  EXPECT_EXIT(ExitWithLivingValues(), testing::ExitedWithCode(0), "");
}

TEST_F(MemoProcessDeathTest, AThreadMayHoldAHandleAtExit) {
  EXPECT_EXIT(ExitWhileAThreadHoldsAHandle(), testing::ExitedWithCode(0), "");
}

// Returns the exit status of `child` in a process of its own; -1 if the process
// was killed, for example by the alarm that ends one that hangs.
template <typename Child>
int StatusOfFork(const Child& child) {
  const pid_t process = fork();
  if (process == 0) {
    alarm(20);
    std::_Exit(child());
  }
  int status = 0;
  if (waitpid(process, &status, 0) != process) return -2;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// One thread that loads and evicts without pause. A load takes long enough for
// a fork to happen during it.
class Loader {
 public:
  explicit Loader(const std::string& name)
      : memo_(*MakeMemo<Values>(name,
                                [] {
                                  std::this_thread::sleep_for(
                                      std::chrono::milliseconds(2));
                                  return Values(1000, 7);
                                })),
        thread_([this] {
          while (!stop_) {
            if (memo_.Get().ok()) ++load_count_;
            memo_.Evict(AfterEviction::kKeepFreeMemory).IgnoreError();
          }
        }) {
    while (load_count_ == 0) std::this_thread::yield();
  }
  ~Loader() {
    stop_ = true;
    thread_.join();
  }
  const Memo<Values>& memo() const { return memo_; }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<int> load_count_{0};
  const Memo<Values> memo_;
  std::thread thread_;
};

TEST(MemoProcessTest, AForkDuringOtherThreadsLoadsGetsTheValueOrAnError) {
  const Loader loader("forked");
  const Memo<Values> other = MakeValues("other");
  int error_count = 0;
  for (int i = 0; i < 20; ++i) {
    const int status = StatusOfFork([&] {
      if (!other.Get().ok()) return 10;
      const auto handle = loader.memo().Get();
      if (handle.ok()) return (**handle)[0] == 7 ? 0 : 11;
      const bool is_right =
          handle.status().code() == absl::StatusCode::kFailedPrecondition &&
          std::string(handle.status().message()).find("forked") !=
              std::string::npos &&
          !loader.memo().Evict().ok();
      return is_right ? 1 : 12;
    });
    EXPECT_TRUE(status == 0 || status == 1) << status;
    error_count += status == 1 ? 1 : 0;
  }
  EXPECT_GT(error_count, 0);
}

TEST(MemoProcessTest, AFactoryMayForkAndBothProcessesGoOn) {
  int child_status = -3;
  const Memo<Values> inner = MakeValues("before the fork");
  const Memo<Values> memo = *MakeMemo<Values>("forks", [&] {
    child_status = StatusOfFork([&] {
      if (!inner.Get().ok()) return 1;
      return inner.Evict().ok() ? 0 : 2;
    });
    return Values(1);
  });
  EXPECT_THAT(memo.Get(), IsOk());
  EXPECT_EQ(child_status, 0);
}

// The child runs the destructors of static objects as it ends, but exits before
// a sanitizer looks for leaks: what the absent thread owned is a leak.
[[noreturn]] void ForkWhileAThreadHoldsAHandle() {
  std::atexit([] { std::_Exit(0); });
  static const Memo<Values> memo = MakeValues("held by the parent");
  std::atomic<bool> holds{false};
  std::atomic<bool> stop{false};
  std::thread thread([&] {
    const auto handle = memo.Get();
    holds = handle.ok();
    while (!stop) std::this_thread::yield();
  });
  while (!holds) std::this_thread::yield();
  const pid_t process = fork();
  if (process == 0) {
    alarm(20);
    // The child gets a hit, and an error for the eviction, which the absent
    // thread's handle prevents.
    if (!memo.Get().ok() || memo.Evict().ok()) std::_Exit(1);
    std::exit(0);
  }
  int status = 0;
  waitpid(process, &status, 0);
  stop = true;
  thread.join();
  std::_Exit(status == 0 ? 0 : 2);
}

TEST_F(MemoProcessDeathTest, AForkedChildMayExitWhileTheParentHoldsAHandle) {
  EXPECT_EXIT(ForkWhileAThreadHoldsAHandle(), testing::ExitedWithCode(0), "");
}

TEST(MemoProcessTest, AThreadMayBeCancelledInAFactory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "these sanitizers lose track of a thread that is cancelled: "
                  "one fails a check of its own, one sees no locks any more";
#endif
  std::atomic<int> load_count{0};
  const Memo<Values> memo = *MakeMemo<Values>("cancelled", [&] {
    // The loop reaches a cancellation point until the thread is cancelled.
    for (++load_count; load_count == 1;) usleep(1000);
    return Values(1);
  });
  std::thread loading([&] { (void)memo.Get().ok(); });
  while (load_count == 0) std::this_thread::yield();
  absl::Status waited;
  std::thread waiting([&] { waited = memo.Get().status(); });
  // The other thread may already wait or may come too late; it must not hang.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  pthread_cancel(loading.native_handle());
  loading.join();
  waiting.join();
  EXPECT_THAT(waited, AnyOf(IsOk(), StatusIs(absl::StatusCode::kCancelled)));
  EXPECT_THAT(memo.Get(), IsOk());
  EXPECT_EQ(memo.statistics().failed_load_count, 1u);
}

}  // namespace
}  // namespace footprint
