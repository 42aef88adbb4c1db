#include "footprint/base/threads/blocked_signals.h"

#include <pthread.h>
#include <signal.h>

#include "gtest/gtest.h"

namespace footprint {
namespace {

volatile sig_atomic_t handled = 0;

TEST(BlockedSignalsTest, ASignalIsHandledAtTheEndOfTheScope) {
  struct sigaction action = {};
  action.sa_handler = [](int) { ++handled; };
  ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
  {
    const BlockedSignals outer;
    {
      const BlockedSignals inner;
      ASSERT_EQ(pthread_kill(pthread_self(), SIGUSR1), 0);
    }
    EXPECT_EQ(handled, 0);
  }
  EXPECT_EQ(handled, 1);
}

TEST(BlockedSignalsTest, AMaskOfTheCallerStays) {
  sigset_t mine;
  sigemptyset(&mine);
  sigaddset(&mine, SIGUSR2);
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, &mine, nullptr), 0);
  { const BlockedSignals blocked; }
  sigset_t after;
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, nullptr, &after), 0);
  EXPECT_EQ(sigismember(&after, SIGUSR2), 1);
  EXPECT_EQ(sigismember(&after, SIGUSR1), 0);
}

}  // namespace
}  // namespace footprint
