#include "footprint/gates/regressions/selftest_result.h"

#include <string>
#include <vector>

#include "footprint/gates/judge/gate_input.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kThresholds[] = R"(# proto-file: gates/judge/gate.proto
# proto-message: footprint.ThresholdFile
schema_version: 1
threshold {
  selector { label: "//a:b" benchmark: "BM_Fit" }
  metric: PEAK_LIVE_USABLE_BYTES
  max_bytes: 110
}
threshold {
  selector { label: "//a:b" benchmark: "BM_Other" }
  metric: PEAK_LIVE_USABLE_BYTES
  max_bytes: 110
}
)";

void AddBenchmark(const std::string& name, int64_t peak_bytes,
                  MemoryProfile* profile) {
  BenchmarkMemory* const benchmark = profile->add_benchmarks();
  benchmark->set_name(name);
  Metric* const metric = benchmark->add_metrics();
  metric->set_kind(PEAK_LIVE_USABLE_BYTES);
  metric->set_determinism(EXACT);
  metric->set_value(peak_bytes);
}

MemoryProfile Profile() {
  MemoryProfile profile;
  profile.set_label("//a:b");
  profile.set_process_count(3);
  return profile;
}

GateInput Base() {
  GateInput base;
  base.profiles = {Profile()};
  AddBenchmark("BM_Fit", 100, &base.profiles[0]);
  AddBenchmark("BM_Other", 100, &base.profiles[0]);
  base.thresholds = {ParseThresholdFile("a.textproto", kThresholds)};
  return base;
}

PlannedRegression Planned() {
  PlannedRegression planned;
  planned.sort = RegressionSort::kKeptCopy;
  planned.figure = {"//a:b", "BM_Fit", "", PEAK_LIVE_USABLE_BYTES, 100, 10};
  planned.expected_growth = 16;
  return planned;
}

RegressionTrial Try(int64_t peak_bytes, int process_count = 3) {
  PlantedRun run;
  run.profile = Profile();
  run.process_count = process_count;
  AddBenchmark("BM_Fit", peak_bytes, &run.profile);
  return JudgeTrial(Planned(), run, Base(), EvaluationOptions());
}

TEST(FindBenchmarkTest, IsThatOfTheLabelAndName) {
  MemoryProfile first = Profile();
  first.set_label("//a:first");
  AddBenchmark("BM_Fit", 1, &first);
  std::vector<MemoryProfile> profiles = {first};
  const GateInput base = Base();
  profiles.push_back(base.profiles[0]);
  EXPECT_EQ(FindBenchmark(profiles, "//a:b", "BM_Fit"),
            &profiles[1].benchmarks(0));
  EXPECT_EQ(FindBenchmark(profiles, "//a:b", "BM_Other"),
            &profiles[1].benchmarks(1));
  EXPECT_EQ(FindBenchmark(profiles, "//a:first", "BM_Other"), nullptr);
  EXPECT_EQ(FindBenchmark(profiles, "//a:c", "BM_Fit"), nullptr);
}

TEST(SelftestResultTest, WhatTheGateRejectsIsCaughtByItsRule) {
  const RegressionTrial trial = Try(116);
  EXPECT_EQ(trial.end, TrialEnd::kCaught);
  EXPECT_EQ(trial.decision, REJECT);
  EXPECT_THAT(trial.rules, testing::ElementsAre(MAXIMUM));
  EXPECT_EQ(trial.measured_growth, 16);
}

TEST(SelftestResultTest, WhatTheGateAcceptsIsMissed) {
  SelftestResult result;
  result.asked_count = 1;
  result.trials = {Try(100)};
  EXPECT_EQ(result.trials[0].end, TrialEnd::kMissed);
  EXPECT_FALSE(result.IsPassed());
  const std::string text = WriteSelftestText(result);
  EXPECT_THAT(text, HasSubstr("MISSED:\n  a copy kept: //a:b BM_Fit\n"));
  EXPECT_THAT(text, HasSubstr("FAILED 1 regressions planted, 0 caught"));
}

TEST(SelftestResultTest, WhatTookNoEffectIsNeitherCaughtNorPassedOver) {
  SelftestResult result;
  result.asked_count = 1;
  result.trials = {Try(116, /*process_count=*/2)};
  EXPECT_EQ(result.trials[0].end, TrialEnd::kNotPlanted);
  EXPECT_FALSE(result.IsPassed());
  EXPECT_THAT(WriteSelftestText(result),
              HasSubstr("took effect in 2 of 3 processes"));
}

TEST(SelftestResultTest, ARunWithoutTheBenchmarkIsNoTrial) {
  PlantedRun run;
  run.profile = Profile();
  run.process_count = 3;
  AddBenchmark("BM_Other", 1000, &run.profile);
  EXPECT_EQ(JudgeTrial(Planned(), run, Base(), EvaluationOptions()).end,
            TrialEnd::kNotPlanted);
}

TEST(SelftestResultTest, AFigureThatDidNotRepeatIsCaughtByNoRule) {
  PlantedRun run;
  run.profile = Profile();
  run.process_count = 3;
  BenchmarkMemory* const benchmark = run.profile.add_benchmarks();
  benchmark->set_name("BM_Fit");
  benchmark->add_unrepeated(PEAK_LIVE_USABLE_BYTES);
  const RegressionTrial trial =
      JudgeTrial(Planned(), run, Base(), EvaluationOptions());
  EXPECT_EQ(trial.end, TrialEnd::kCaught);
  EXPECT_EQ(trial.decision, INCONCLUSIVE);
  EXPECT_TRUE(trial.rules.empty());
}

TEST(SelftestResultTest, AFigureOfAPhaseGrowsInThatPhase) {
  PlannedRegression planned = Planned();
  planned.figure.phase = "loop/load";
  PlantedRun run;
  run.profile = Profile();
  run.process_count = 3;
  AddBenchmark("BM_Fit", 100, &run.profile);
  BenchmarkMemory* const benchmark = run.profile.mutable_benchmarks(0);
  for (const char* const name : {"loop", "load", "save", "end"}) {
    Phase* const phase = benchmark->add_phases();
    phase->set_name(name);
    phase->set_parent(benchmark->phases_size() == 1 ? -1 : 0);
    Metric* const metric = phase->add_metrics();
    metric->set_kind(PEAK_LIVE_USABLE_BYTES);
    metric->set_determinism(EXACT);
    metric->set_value(100 + benchmark->phases_size());
  }
  // The second phase has 102 where 100 were measured before.
  EXPECT_EQ(
      JudgeTrial(planned, run, Base(), EvaluationOptions()).measured_growth, 2);
}

TEST(SelftestResultTest, TheImageIsTheProgramsOwn) {
  const auto with_image = [](int64_t bytes) {
    BenchmarkMemory benchmark;
    for (auto* metrics : {benchmark.mutable_metrics(),
                          benchmark.add_phases()->mutable_metrics()}) {
      Metric* const metric = metrics->Add();
      metric->set_kind(IMAGE_BYTES);
      metric->set_value(bytes);
    }
    return benchmark;
  };
  BenchmarkMemory measured = with_image(500);
  TakeImage(with_image(300), &measured);
  EXPECT_EQ(measured.SerializeAsString(), with_image(300).SerializeAsString());
}

TEST(SelftestResultTest, NinetyNineOfAHundredPass) {
  SelftestResult result;
  result.asked_count = 100;
  result.trials.assign(99, Try(116));
  EXPECT_FALSE(result.IsPassed()) << "one is missing";
  EXPECT_THAT(WriteSelftestText(result), HasSubstr("Only 99 of 100"));
  result.trials.push_back(Try(100));
  EXPECT_TRUE(result.IsPassed());
  result.trials[0] = Try(100);
  EXPECT_FALSE(result.IsPassed());
}

TEST(SelftestResultTest, TablesCountByRuleAndFitTheTerminal) {
  SelftestResult result;
  result.asked_count = 2;
  result.trials = {Try(116), Try(116)};
  result.uncovered = {"//a:as_it_is"};
  result.untried = {{"//a:b", "BM_Other", "makes other calls"}};
  const std::string text = WriteSelftestText(result);
  EXPECT_THAT(text, HasSubstr("a copy kept                    2      2 100.0 %"
                              "     -     2     -     -\n"));
  EXPECT_THAT(text, HasSubstr("  //a:as_it_is\n"));
  EXPECT_THAT(text, HasSubstr("  //a:b BM_Other\n    makes other calls\n"));
  EXPECT_THAT(text, HasSubstr("PASSED 2 regressions planted, 2 caught"));
  EXPECT_THAT(text, Not(testing::MatchesRegex(".*[^\n]{81}.*")));
}

}  // namespace
}  // namespace footprint
