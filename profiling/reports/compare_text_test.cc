#include <string>

#include "footprint/base/random/random_sequence.h"
#include "footprint/profiling/example_runs/random_run.h"
#include "footprint/profiling/reports/text_report.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kMiB = int64_t{1} << 20;

// A run with Fit at that line, and Load.
MeasuredRun RunWithFit(int64_t fit_bytes, int line, double variance = 0) {
  MeasuredRun run;
  run.add_program("train");
  run.set_wall_time_ns(1'000'000'000);
  if (variance > 0) run.set_sampling_interval_bytes(1 << 19);
  MeasuredImage* const image = run.add_images();
  image->set_has_sites(true);
  image->set_peak_live_bytes(fit_bytes + kMiB);
  for (const char* function : {"Fit", "Load"}) {
    CodeFrame* const frame = run.add_frames();
    frame->set_function(function);
    frame->set_file("/home/train.cc");
    frame->set_line(line);
    run.add_calls()->set_frame(static_cast<uint32_t>(run.frames_size()) - 1);
    SiteAmounts* const site = image->add_sites();
    site->set_call(static_cast<uint32_t>(run.calls_size()));
    site->mutable_at_peak()->set_bytes(function[0] == 'F' ? fit_bytes : kMiB);
    site->mutable_at_peak()->set_variance(variance);
  }
  return run;
}

TEST(CompareTextTest, SaysWhatChangedAndWhere) {
  EXPECT_EQ(CompareText(RunWithFit(3 * kMiB, 10), RunWithFit(5 * kMiB, 20)),
            "before     train\n"
            "after      train\n"
            "\n"
            "   change       by    before     after  figure\n"
            "+2.00 MiB  +50.0 %  4.00 MiB  6.00 MiB  peak heap\n"
            "  0.000 s   +0.0 %   1.000 s   1.000 s  time\n"
            "\n"
            "at the peak    before     after  function  where\n"
            "  +2.00 MiB  3.00 MiB  5.00 MiB  Fit       /home/train.cc:20\n");
}

TEST(CompareTextTest, ADifferenceOfEstimatesThatMayBeChanceIsNoRow) {
  const double variance = static_cast<double>(kMiB) * static_cast<double>(kMiB);
  const std::string small = CompareText(RunWithFit(3 * kMiB, 1, variance),
                                        RunWithFit(5 * kMiB, 1, variance));
  EXPECT_THAT(small, Not(HasSubstr("Fit")));
  EXPECT_THAT(small,
              HasSubstr("no place has surely changed; 1 place changed by "
                        "less than two sigma, which may be chance\n"));
  const std::string large = CompareText(RunWithFit(3 * kMiB, 1, variance),
                                        RunWithFit(9 * kMiB, 1, variance));
  EXPECT_THAT(large, HasSubstr("+6.00 MiB  1.50 MiB  3.00 MiB"));
  EXPECT_THAT(large, Not(HasSubstr("chance")));
}

MeasuredRun RunWithStages(int64_t epoch_bytes) {
  MeasuredRun run = RunWithFit(kMiB, 1);
  run.mutable_images(0)->add_stages();
  StageFigures* const fit = run.mutable_images(0)->add_stages();
  fit->set_name("fit");
  fit->set_peak_live_bytes(3 * kMiB);
  StageFigures* const epoch = run.mutable_images(0)->add_stages();
  epoch->set_name("epoch\x1b[2J");
  epoch->set_parent(1);
  epoch->set_peak_live_bytes(epoch_bytes);
  return run;
}

TEST(CompareTextTest, StagesWhosePeakChangedAreNamed) {
  const std::string text =
      CompareText(RunWithStages(kMiB), RunWithStages(2 * kMiB));
  EXPECT_THAT(text, HasSubstr("peak above    before     after  stage\n"
                              " +1.00 MiB  1.00 MiB  2.00 MiB  fit / epoch"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(CompareText(RunWithStages(kMiB), RunWithStages(kMiB)),
              HasSubstr("\n\nno stage has changed\n"));
}

TEST(CompareTextTest, ResidentIsThatOfAllProcessesTogether) {
  MeasuredRun before = RunWithFit(kMiB, 1);
  before.mutable_images(0)->set_peak_resident_bytes(7 * kMiB);
  MeasuredRun after = before;
  after.mutable_images(0)->set_peak_resident_bytes(9 * kMiB);
  EXPECT_THAT(CompareText(before, after),
              HasSubstr("+2.00 MiB  +28.6 %  7.00 MiB  9.00 MiB  resident"));
}

TEST(CompareTextTest, WhatOneRunDidNotMeasureIsNotCalledNew) {
  MeasuredRun before = RunWithFit(kMiB, 1);
  before.mutable_images(0)->set_has_sites(false);
  MeasuredRun after = RunWithFit(kMiB, 1);
  after.mutable_images(0)->set_has_totals(true);
  after.mutable_images(0)->set_allocated_bytes(9 * kMiB);
  const std::string text = CompareText(before, after);
  EXPECT_THAT(text, HasSubstr("\"Lines of code at the peak\" is not compared: "
                              "only the later run has it\n"));
  EXPECT_THAT(text, Not(HasSubstr("Fit")));
  EXPECT_THAT(text, HasSubstr("         -  9.00 MiB  allocated\n"));
}

TEST(CompareTextTest, ARunIsItsOwnEqual) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    RandomSequence random(seed);
    const MeasuredRun run = RandomRun(&random);
    const std::string text = CompareText(run, run);
    EXPECT_THAT(text, Not(HasSubstr("*"))) << seed;
  }
}

TEST(CompareTextTest, AnEmptyRunIsNamed) {
  EXPECT_THAT(CompareText(RunWithFit(1, 1), MeasuredRun()),
              HasSubstr("after: nothing was measured"));
}

}  // namespace
}  // namespace footprint
