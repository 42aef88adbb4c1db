// Tests of standard_output.h's promises, on a device that is always full.

#include "footprint/base/files/standard_output.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ExitedWithCode;

constexpr char kLost[] =
    "program: standard output: cannot be written, results are lost";

void PrintTo(const char* device) {
  if (std::freopen(device, "w", stdout) == nullptr) std::exit(9);
}

TEST(StandardOutputDeathTest, KeepsTheExitCodeOfWhatWasWritten) {
  const auto end_with = [](int exit_code) {
    PrintTo("/dev/null");
    std::cout << "text";
    std::printf("text");
    std::exit(FinishStandardOutput("program", exit_code));
  };
  EXPECT_EXIT(end_with(0), ExitedWithCode(0), "^$");
  EXPECT_EXIT(end_with(3), ExitedWithCode(3), "^$");
}

TEST(StandardOutputDeathTest, TellsWhatIsLost) {
  const auto end_with = [](int exit_code) {
    PrintTo("/dev/full");
    std::printf("text");
    std::exit(FinishStandardOutput("program", exit_code));
  };
  EXPECT_EXIT(end_with(0), ExitedWithCode(1), kLost);
  EXPECT_EXIT(end_with(3), ExitedWithCode(3), kLost);
}

TEST(StandardOutputDeathTest, TellsWhatWasLostBefore) {
  const auto end_by = [](void (*print)()) {
    PrintTo("/dev/full");
    print();
    std::exit(FinishStandardOutput("program"));
  };
  EXPECT_EXIT(end_by([] { std::cout << "text" << std::endl; }),
              ExitedWithCode(1), kLost);
  EXPECT_EXIT(end_by([] {
                std::printf("text");
                std::fflush(stdout);
              }),
              ExitedWithCode(1), kLost);
}

}  // namespace
}  // namespace footprint
