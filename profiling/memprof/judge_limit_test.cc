// Tests of the promises of judge_limit.h.

#include "footprint/profiling/memprof/judge_limit.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMiB = int64_t{1} << 20;

MeasuredRun RunWithPeaks(std::initializer_list<int64_t> peaks_bytes) {
  MeasuredRun run;
  for (const int64_t bytes : peaks_bytes) {
    MeasuredImage* const image = run.add_images();
    image->set_process_id(10 + run.images_size());
    image->set_peak_live_bytes(bytes);
  }
  return run;
}

TEST(JudgeLimitTest, TheLargestHeapIsHeldAgainstTheLimit) {
  const MeasuredRun run = RunWithPeaks({3 * kMiB, 5 * kMiB});
  EXPECT_EQ(JudgeLimit(run, 5 * kMiB).exit_status, 0);
  EXPECT_EQ(JudgeLimit(run, 5 * kMiB).text, "");
  const LimitJudgement over = JudgeLimit(run, 4 * kMiB);
  EXPECT_EQ(over.exit_status, 1);
  EXPECT_THAT(over.text, HasSubstr("over the limit of 4.00 MiB"));
}

TEST(JudgeLimitTest, AForksHeapCountsBeyondItsParents) {
  MeasuredRun run = RunWithPeaks({3 * kMiB, 5 * kMiB});
  run.mutable_images(1)->set_inherited_live_bytes(3 * kMiB);
  EXPECT_EQ(JudgeLimit(run, 3 * kMiB).exit_status, 0);
}

TEST(JudgeLimitTest, AProgramThatFailedIsNotJudged) {
  MeasuredRun run = RunWithPeaks({kMiB});
  run.set_exit_status(1);
  EXPECT_EQ(JudgeLimit(run, 5 * kMiB).exit_status, 3);
  run.set_exit_status(0);
  run.set_signal_number(9);
  EXPECT_EQ(JudgeLimit(run, 5 * kMiB).exit_status, 3);
}

TEST(JudgeLimitTest, WhatWasNotCountedIsNotAccepted) {
  EXPECT_EQ(JudgeLimit(RunWithPeaks({}), kMiB).exit_status, 3);
  EXPECT_EQ(JudgeLimit(RunWithPeaks({0}), kMiB).exit_status, 3);
  MeasuredRun run = RunWithPeaks({kMiB});
  ASSERT_EQ(JudgeLimit(run, kMiB).exit_status, 0);
  run.set_unrecorded_process_count(1);
  EXPECT_EQ(JudgeLimit(run, kMiB).exit_status, 3);
  EXPECT_THAT(JudgeLimit(run, kMiB).text,
              HasSubstr("not everything was counted"));
  run = RunWithPeaks({kMiB});
  run.set_has_lost_records(true);
  EXPECT_EQ(JudgeLimit(run, kMiB).exit_status, 3);
  run = RunWithPeaks({kMiB});
  run.mutable_images(0)->set_lost_child_count(1);
  EXPECT_EQ(JudgeLimit(run, kMiB).exit_status, 3);
  run = RunWithPeaks({kMiB});
  run.mutable_images(0)->set_has_foreign_new(true);
  EXPECT_EQ(JudgeLimit(run, kMiB).exit_status, 3);
}

TEST(JudgeLimitTest, AHeapThatTellsTooLittleIsJudgedByTheResidentSet) {
  MeasuredRun run = RunWithPeaks({16 * kMiB, kMiB});
  MeasuredImage* const image = run.mutable_images(0);
  image->set_peak_resident_bytes(160 * kMiB);
  ResidentParts* const parts = image->mutable_resident_at_peak();
  parts->set_resident_bytes(160 * kMiB);
  parts->set_anonymous_bytes(110 * kMiB);
  const LimitJudgement over = JudgeLimit(run, 64 * kMiB);
  EXPECT_EQ(over.exit_status, 1);
  EXPECT_THAT(over.text, HasSubstr("the heap of process 11 ("));
  EXPECT_THAT(over.text, HasSubstr("leaves out 94.0 MiB"));
  EXPECT_THAT(over.text, HasSubstr("over the limit of 64.0 MiB"));
  const LimitJudgement fits = JudgeLimit(run, 160 * kMiB);
  EXPECT_EQ(fits.exit_status, 0);
  EXPECT_THAT(fits.text, HasSubstr("its resident set is judged"));
}

}  // namespace
}  // namespace footprint
