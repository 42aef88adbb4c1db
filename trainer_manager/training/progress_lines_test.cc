#include "footprint/trainer_manager/training/progress_lines.h"

#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

constexpr int64_t kSecondNs = 1'000'000'000;

StepProgress Progress(int64_t step) {
  StepProgress progress;
  progress.step = step;
  progress.steps = 50;
  progress.epoch = 2;
  progress.rows = 3000;
  progress.loss = 0.25;
  progress.rate = 0.001f;
  return progress;
}

TEST(ProgressLinesTest, ALineInTwoSeconds) {
  std::ostringstream out;
  ProgressLines lines(&out, 12 << 20);
  lines.Begin(5 * kSecondNs);
  lines.Step(6 * kSecondNs, Progress(7));
  EXPECT_EQ(out.str(), "");
  lines.Step(7 * kSecondNs, Progress(8));
  EXPECT_THAT(out.str(),
              MatchesRegex("step 8 of 50 \\(epoch 2\\): loss 0.25, rate 0.001, "
                           "3,000 rows/s, 12.0 MiB planned, .* resident\n"));
  out.str("");
  lines.Step(8 * kSecondNs, Progress(9));
  EXPECT_EQ(out.str(), "");
  lines.Step(11 * kSecondNs, Progress(10));
  EXPECT_THAT(out.str(), HasSubstr("step 10 of 50"));
  EXPECT_THAT(out.str(), HasSubstr("1,500 rows/s"));
}

TEST(ProgressLinesTest, SaysWhatFreezingSavesAndNoRateThatIsNotKnown) {
  std::ostringstream out;
  ProgressLines lines(&out, 12 << 20, 3 << 20);
  StepProgress progress = Progress(1);
  progress.rate.reset();
  lines.Step(9 * kSecondNs, progress);
  EXPECT_THAT(out.str(),
              HasSubstr("12.0 MiB planned (freezing saves 3.00 MiB)"));
  EXPECT_THAT(out.str(), Not(HasSubstr("rate ")));
}

TEST(ProgressLinesTest, WithoutAStreamNothingIsPrinted) {
  ProgressLines lines(nullptr, 1);
  lines.Step(9 * kSecondNs, Progress(1));
}

}  // namespace
}  // namespace footprint
