#include "footprint/base/machine/stop_signals.h"

#include <csignal>
#include <cstdlib>

#include "gtest/gtest.h"

namespace footprint {
namespace {

// Each test is in a process of its own, since a signal stays noted.
class StopSignalsTest : public testing::TestWithParam<int> {
 protected:
  StopSignalsTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_P(StopSignalsTest, IsNotedAndThenEndsTheProcess) {
  const int number = GetParam();
  EXPECT_EXIT(
      {
        std::signal(number, SIG_DFL);
        StopSignals::EndIfStopped();
        {
          const StopSignals signals;
          if (signals.is_stopped()) std::exit(1);
          std::raise(number);
          if (!signals.is_stopped()) std::exit(2);
        }
        StopSignals::EndIfStopped();
        std::exit(3);
      },
      testing::KilledBySignal(number), "");
}

TEST_P(StopSignalsTest, TheSecondOneEndsTheProcessAtOnce) {
  const int number = GetParam();
  EXPECT_EXIT(
      {
        std::signal(number, SIG_DFL);
        const StopSignals signals;
        std::raise(number);
        std::raise(number);
        std::exit(3);
      },
      testing::KilledBySignal(number), "");
}

TEST_P(StopSignalsTest, AnIgnoredOneStaysIgnored) {
  const int number = GetParam();
  EXPECT_EXIT(
      {
        std::signal(number, SIG_IGN);
        const StopSignals signals;
        std::raise(number);
        std::exit(signals.is_stopped() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_P(StopSignalsTest, TheFormerHandlingComesBack) {
  const int number = GetParam();
  EXPECT_EXIT(
      {
        std::signal(number, [](int) { _Exit(4); });
        { const StopSignals signals; }
        std::raise(number);
        std::exit(1);
      },
      testing::ExitedWithCode(4), "");
}

INSTANTIATE_TEST_SUITE_P(Signals, StopSignalsTest,
                         testing::Values(SIGINT, SIGTERM, SIGHUP));

}  // namespace
}  // namespace footprint
