#include "footprint/profiling/scaling/scaled_runs.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/scaling/scaling_report.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

template <typename Owner>
void AddMetric(MetricKind kind, int64_t value, Owner* owner) {
  Metric* const metric = owner->add_metrics();
  metric->set_kind(kind);
  metric->set_determinism(EXACT);
  metric->set_value(value);
}

void AddPhase(const std::string& name, int parent, int64_t before, int64_t peak,
              int64_t volume, BenchmarkMemory* memory) {
  Phase* const phase = memory->add_phases();
  phase->set_name(name);
  phase->set_parent(parent);
  AddMetric(PEAK_LIVE_USABLE_BYTES, peak, phase);
  AddMetric(PEAK_LIVE_ABSOLUTE_USABLE_BYTES, before + peak, phase);
  AddMetric(ALLOCATED_USABLE_BYTES, volume, phase);
}

// A program that loads 8 bytes a number on top of 5,000, and fits in 100.
MemoryProfile MakeProfile(const std::string& program, int features, int rows) {
  MemoryProfile profile;
  profile.set_label("//a:" + program);
  BenchmarkMemory* const memory = profile.add_benchmarks();
  memory->set_name(absl::StrCat(program, "/features:", features));
  for (const auto& [name, value] : std::vector<std::pair<std::string, int>>{
           {"features", features}, {"rows", rows}}) {
    Argument* const argument = memory->add_arguments();
    argument->set_name(name);
    argument->set_value(absl::StrCat(value));
  }
  const int64_t bytes = 8 * features * rows;
  AddMetric(PEAK_LIVE_USABLE_BYTES, 5100 + bytes, memory);
  AddMetric(ALLOCATED_USABLE_BYTES, 9000 + bytes, memory);
  AddPhase("load", -1, 5000, bytes, bytes, memory);
  AddPhase("load/parse", 0, 5000, 1, 1, memory);
  AddPhase("fit", -1, 5000 + bytes, 100, 3000, memory);
  return profile;
}

ScaledRuns MakeRuns(const std::vector<MemoryProfile>& profiles) {
  ScaledRuns runs = {{"features", "rows"}, {}};
  for (const MemoryProfile& profile : profiles) {
    EXPECT_THAT(AddProfile(profile, "", &runs), IsOk());
  }
  return runs;
}

ScaledRuns MeasureGrid(const std::string& program) {
  std::vector<MemoryProfile> profiles;
  for (int features : {10, 100, 500}) {
    for (int rows : {1000, 10000, 100000}) {
      profiles.push_back(MakeProfile(program, features, rows));
    }
  }
  return MakeRuns(profiles);
}

std::string DescribeLaw(const ScaledRuns& runs, const std::string& stage,
                        ScaledFigure figure) {
  for (const StageLaw& law : StageLaws(runs)) {
    if (law.stage == stage && law.figure == figure) {
      return LawText(*law.law, runs.variables);
    }
  }
  return "none";
}

TEST(ScaledRunsTest, OutermostPhasesAreStages) {
  const ScaledRuns runs = MakeRuns({MakeProfile("train", 10, 1000)});
  ASSERT_EQ(runs.runs.size(), 1u);
  const ScaledRun& run = runs.runs[0];
  EXPECT_EQ(run.program, "train");
  EXPECT_THAT(run.values, ElementsAre("10", "1000"));
  ASSERT_EQ(run.stages.size(), 3u);
  EXPECT_EQ(run.stages[0].name, "load");
  EXPECT_EQ(run.stages[0].peak_bytes, 80000);
  EXPECT_EQ(run.stages[2].name, kOutside);
  EXPECT_EQ(run.stages[2].peak_bytes, 5000);
  EXPECT_EQ(run.stages[2].volume_bytes, 6000);
}

TEST(ScaledRunsTest, APeakOutsideOfAllStagesIsTheirs) {
  MemoryProfile profile = MakeProfile("train", 10, 1000);
  BenchmarkMemory* const memory = profile.mutable_benchmarks(0);
  AddMetric(PEAK_LIVE_ABSOLUTE_USABLE_BYTES, 900000, memory);
  for (Phase& phase : *memory->mutable_phases()) {
    AddMetric(NET_GROWTH_USABLE_BYTES, 50, &phase);
  }
  EXPECT_EQ(MakeRuns({profile}).runs[0].stages[2].peak_bytes, 900000 - 100);
}

// They may free what was allocated before them.
TEST(ScaledRunsTest, APeakOutsideIsNeverAboveThatOfTheRun) {
  MemoryProfile profile = MakeProfile("train", 10, 1000);
  BenchmarkMemory* const memory = profile.mutable_benchmarks(0);
  AddMetric(PEAK_LIVE_ABSOLUTE_USABLE_BYTES, 900000, memory);
  for (Phase& phase : *memory->mutable_phases()) {
    AddMetric(NET_GROWTH_USABLE_BYTES, -50, &phase);
  }
  EXPECT_EQ(MakeRuns({profile}).runs[0].stages[2].peak_bytes, 900000);
}

TEST(ScaledRunsTest, APeakOutsideIsUnknownWhereStagesDoNotTellTheirGrowth) {
  MemoryProfile profile = MakeProfile("train", 10, 1000);
  AddMetric(PEAK_LIVE_ABSOLUTE_USABLE_BYTES, 900000,
            profile.mutable_benchmarks(0));
  EXPECT_FALSE(MakeRuns({profile}).runs[0].stages[2].peak_bytes.has_value());
}

// If the run was as high as its highest stage, the peak was in that stage.
TEST(ScaledRunsTest, APeakOfAStageIsNotOneOutside) {
  MemoryProfile profile = MakeProfile("train", 10, 1000);
  BenchmarkMemory* const memory = profile.mutable_benchmarks(0);
  AddMetric(PEAK_LIVE_ABSOLUTE_USABLE_BYTES, 85100, memory);
  for (Phase& phase : *memory->mutable_phases()) {
    AddMetric(NET_GROWTH_USABLE_BYTES, 50, &phase);
  }
  EXPECT_EQ(MakeRuns({profile}).runs[0].stages[2].peak_bytes, 5000);
}

TEST(ScaledRunsTest, WhatTheHeapLeavesOutIsNoStage) {
  MemoryProfile profile = MakeProfile("train", 10, 1000);
  Phase* const phase = profile.mutable_benchmarks(0)->add_phases();
  phase->set_name("unaccounted");
  phase->set_parent(-1);
  AddMetric(RESIDENT_ANONYMOUS_BYTES, 50'000'000, phase);
  const ScaledRun run = MakeRuns({profile}).runs[0];
  ASSERT_EQ(run.stages.size(), 3u);
  EXPECT_EQ(run.stages[2].name, kOutside);
  EXPECT_EQ(run.stages[2].volume_bytes, 6000);
}

TEST(ScaledRunsTest, WithoutPhasesTheRunIsTheStage) {
  MemoryProfile profile = MakeProfile("train", 10, 1000);
  profile.mutable_benchmarks(0)->clear_phases();
  const ScaledRun run = MakeRuns({profile}).runs[0];
  ASSERT_EQ(run.stages.size(), 1u);
  EXPECT_EQ(run.stages[0].name, kWholeRun);
  EXPECT_EQ(run.stages[0].peak_bytes, 85100);
}

TEST(ScaledRunsTest, EachStageHasItsLaws) {
  const ScaledRuns runs = MeasureGrid("train");
  EXPECT_EQ(DescribeLaw(runs, kWholeRun, ScaledFigure::kPeak),
            "8 B x features x rows + 5.0 KiB");
  EXPECT_EQ(DescribeLaw(runs, "load", ScaledFigure::kPeak),
            "8 B x features x rows");
  EXPECT_EQ(DescribeLaw(runs, "fit", ScaledFigure::kPeak), "100 B");
  EXPECT_EQ(DescribeLaw(runs, "fit", ScaledFigure::kVolume), "2.9 KiB");
  EXPECT_EQ(DescribeLaw(runs, kOutside, ScaledFigure::kPeak), "4.9 KiB");
}

TEST(ScaledRunsTest, VariablesThatAreNoNumbersTellSeriesApart) {
  ScaledRuns runs = MeasureGrid("train");
  runs.variables.push_back("io");
  for (size_t i = 0; i < runs.runs.size(); ++i) {
    runs.runs[i].values.push_back(i % 2 == 0 ? "csv" : "binary");
  }
  EXPECT_THAT(NumericVariables(runs), ElementsAre(0, 1));
  EXPECT_EQ(StageLaws(runs).front().program, "train io=csv");
  EXPECT_EQ(StageLaws(runs).back().program, "train io=binary");
  const StagedRuns staged = CollectStages(runs, ScaledFigure::kPeak);
  EXPECT_THAT(ListPrograms(staged),
              ElementsAre("train io=binary", "train io=csv"));
  EXPECT_THAT(staged.label_names, ElementsAre("features", "rows"));
  EXPECT_THAT(staged.runs[0].labels, ElementsAre("10", "1000"));
  EXPECT_THAT(ScalingPage(runs),
              HasSubstr("Peak of the whole run against rows at features=500"));
}

TEST(ScaledRunsTest, NumbersAreFiniteAndNotBelowZero) {
  ScaledRuns runs = MakeRuns({MakeProfile("train", 10, 1000)});
  runs.variables = {"zero", "below", "endless", "none", "half"};
  runs.runs[0].values = {"0", "-1", "inf", "nan", "0.5"};
  EXPECT_THAT(NumericVariables(runs), ElementsAre(0, 4));
}

TEST(ScaledRunsTest, ManyStagesAreGathered) {
  MemoryProfile profile = MakeProfile("train", 10, 1000);
  for (int i = 0; i < 12; ++i) {
    AddPhase(absl::StrCat("small", i), -1, 0, 1 + i, 1,
             profile.mutable_benchmarks(0));
  }
  const StagedRuns staged =
      CollectStages(MakeRuns({profile}), ScaledFigure::kPeak);
  ASSERT_EQ(staged.stages.size(), 8u);
  EXPECT_EQ(staged.stages.back(), "other stages");
  EXPECT_EQ(staged.stages[6], kOutside);
  int64_t sum = 0;
  for (const StageBytes& bytes : staged.runs[0].bytes) sum += *bytes;
  EXPECT_EQ(sum, 80000 + 100 + 5000 + 12 * 13 / 2);
}

TEST(ScaledRunsTest, ProfilesThatDoNotFitAreRefused) {
  ScaledRuns runs = {{"features", "epochs"}, {}};
  EXPECT_THAT(AddProfile(MakeProfile("train", 1, 2), "", &runs),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("has no argument \"epochs\"")));
  MemoryProfile failed;
  failed.set_label("//a:b");
  failed.mutable_failure()->set_standard_error_tail("no disk");
  EXPECT_THAT(AddProfile(failed, "", &runs),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("//a:b gave no measurement: no disk")));
}

TEST(ScalingReportTest, EachFormSaysSharesAbsolutesAndLaws) {
  ScaledRuns runs = MeasureGrid("train");
  ASSERT_THAT(AddProfile(MakeProfile("other", 10, 1000), "native", &runs),
              IsOk());
  const std::string text = ScalingText(runs);
  EXPECT_THAT(text, HasSubstr("Share of the stages' peaks"));
  EXPECT_THAT(text, HasSubstr("Share of the allocated bytes"));
  EXPECT_THAT(text, HasSubstr("8 B x features x rows"));
  EXPECT_THAT(text, HasSubstr("not known: too few runs"));
  EXPECT_THAT(text, Not(HasSubstr("not measured")));
  const std::string page = ScalingPage(runs);
  EXPECT_THAT(page, HasSubstr("Peak in bytes"));
  EXPECT_THAT(page, HasSubstr("Share of the volume"));
  EXPECT_THAT(page, HasSubstr("8 B x features x rows"));
  EXPECT_THAT(page, HasSubstr("native"));
  const std::string json = ScalingJson(runs);
  EXPECT_THAT(json, HasSubstr("\"text\": \"8 B x features x rows\""));
  EXPECT_THAT(json, HasSubstr("\"peak_bytes\": 80000"));
}

// The runs that differ in one variable are drawn wide and narrow.
TEST(ScalingReportTest, DrawsEachPointOfTheRunsThatAreCompared) {
  const std::string page = ScalingPage(MeasureGrid("train"));
  const std::string peaks =
      page.substr(0, page.find("Volume of the whole run"));
  for (const char* point :
       {"<circle class=\"point\" r=\"5\" cx=\"84.00\" cy=\"252.16\" "
        "style=\"fill:var(--c0)\"><title>train, 1,000: 4.005 MB</title>",
        "<circle class=\"point\" r=\"5\" cx=\"402.00\" cy=\"159.54\" "
        "style=\"fill:var(--c0)\"><title>train, 10,000: 40.01 MB</title>",
        "<circle class=\"point\" r=\"5\" cx=\"720.00\" cy=\"66.88\" "
        "style=\"fill:var(--c0)\"><title>train, 100,000: 400 MB</title>"}) {
    EXPECT_THAT(peaks, HasSubstr(point));
  }
  size_t count = 0;
  for (size_t at = peaks.find("<circle"); at != std::string::npos;
       at = peaks.find("<circle", at + 1)) {
    ++count;
  }
  EXPECT_EQ(count, 6u);
}

// Cells beyond the memory of this machine are left out.
TEST(ScalingReportTest, TheLargestSizesMayBeMissing) {
  ScaledRuns runs = MeasureGrid("train");
  for (ScaledRun& run : runs.runs) {
    const std::vector<double> sizes = FindNumbers(run, {0, 1});
    if (sizes[0] > 10 && sizes[1] > 1000) run.failure = "too large";
  }
  const std::string page = ScalingPage(runs);
  EXPECT_THAT(page,
              HasSubstr("Peak of the whole run against rows at features=10"));
  EXPECT_THAT(page, HasSubstr("<title>train, 100,000: 8.005 MB</title>"));
  // If rows were measured at one value only, lines are drawn along features.
  for (ScaledRun& run : runs.runs) {
    if (FindNumbers(run, {1})[0] > 1000) run.failure = "too large";
  }
  EXPECT_THAT(ScalingPage(runs),
              HasSubstr("Peak of the whole run against features at rows=1000"));
}

TEST(ScalingReportTest, SizesMayBeFractions) {
  ScaledRuns runs = MakeRuns(
      {MakeProfile("train", 10, 1000), MakeProfile("train", 10, 10000)});
  runs.variables = {"dropout", "rows"};
  runs.runs[0].values = {"0.1", "1000"};
  runs.runs[1].values = {"0.5", "1000"};
  const std::string page = ScalingPage(runs);
  EXPECT_THAT(page, HasSubstr("<title>train, 0.1: 85.1 kB</title>"));
  EXPECT_THAT(page, HasSubstr("<title>train, 0.5: 805.1 kB</title>"));
}

TEST(ScalingReportTest, ARunThatFailedIsNamedInEachForm) {
  ScaledRuns runs = MeasureGrid("train");
  runs.runs[3].failure = "killed & gone";
  EXPECT_THAT(
      ScalingText(runs),
      HasSubstr("not measured: train features=100 rows=1000: killed & gone\n"));
  EXPECT_THAT(ScalingPage(runs), HasSubstr("killed &amp; gone"));
  EXPECT_THAT(ScalingJson(runs), HasSubstr("\"failure\": \"killed & gone\""));
  for (ScaledRun& run : runs.runs) run.failure = "gone";
  EXPECT_THAT(ScalingText(runs), HasSubstr("not measured"));
  EXPECT_THAT(ScalingPage(runs), Not(HasSubstr("<svg")));
}

}  // namespace
}  // namespace footprint
