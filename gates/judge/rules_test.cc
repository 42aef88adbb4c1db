#include "footprint/gates/judge/rules.h"

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/metric_samples.h"
#include "footprint/gates/judge/ruled_figure.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

template <typename Message>
Message Text(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message))
      << text;
  return message;
}

std::vector<RuledFigure> JudgeSamples(const Threshold& threshold,
                                      const MetricSamples& samples) {
  RuleInput input;
  input.samples = &samples;
  std::vector<RuledFigure> figures;
  JudgeByRules(threshold, RuleScope::kSamples, input, &figures);
  return figures;
}

MetricSamples Values(size_t count, int64_t value) {
  MetricSamples samples;
  samples.values.assign(count, value);
  samples.kernel = "6.1";
  samples.cpu_model = "cpu";
  return samples;
}

std::string Repeated(size_t count, int64_t value) {
  return absl::StrJoin(std::vector<int64_t>(count, value), ", ");
}

Threshold MakeBudget(const std::string& share) {
  return Text<Threshold>(absl::StrCat("max_bytes: 100 budget { share: ", share,
                                      " confidence: 0.95 }"));
}

// Makes a regression rule with a baseline of three sittings; `count` must be a
// multiple of three.
Threshold RegressionOver(size_t count, int64_t value) {
  const size_t each = count / 3;
  return Text<Threshold>(absl::StrCat(
      "regression { tolerance: 0.005 detectable: 0.02 baseline { kernel: "
      "\"6.1\" cpu_model: \"cpu\" values: [",
      Repeated(count, value), "] sittings: [", each, ", ", each, ", ", each,
      "] } }"));
}

TEST(RulesTest, ValuesOfAMetricAreCollectedOverFiles) {
  const std::vector<MemorySamples> files = {
      Text<MemorySamples>(R"pb(
        label: "//a:b"
        kernel: "6.1"
        cpu_model: "cpu"
        benchmarks {
          name: "BM_X"
          metrics {
            kind: PEAK_RESIDENT_BYTES
            values: [ 3, 1 ]
          }
          metrics { kind: PEAK_RESIDENT_BYTES phase: "fit" values: 9 }
          metrics { kind: RESIDENT_FILE_BYTES values: 8 }
        })pb"),
      Text<MemorySamples>(R"pb(
        label: "//c:d"
        kernel: "6.1"
        benchmarks {
          name: "BM_X"
          metrics { kind: PEAK_RESIDENT_BYTES values: 7 }
        })pb"),
      Text<MemorySamples>(R"pb(
        label: "//a:b"
        kernel: "6.1"
        cpu_model: "cpu"
        benchmarks {
          name: "BM_X"
          metrics { kind: PEAK_RESIDENT_BYTES values: 2 }
        })pb")};
  const MetricSamples samples =
      CollectSamples(files, "//a:b", "BM_X", "", PEAK_RESIDENT_BYTES);
  EXPECT_THAT(samples.values, ElementsAre(3, 1, 2));
  EXPECT_EQ(samples.kernel, "6.1");
  EXPECT_EQ(samples.cpu_model, "cpu");
  EXPECT_EQ(samples.difference, "");
  EXPECT_THAT(
      CollectSamples(files, "//a:b", "BM_X", "fit", PEAK_RESIDENT_BYTES).values,
      ElementsAre(9));
  EXPECT_THAT(
      CollectSamples(files, "//e:f", "BM_X", "", PEAK_RESIDENT_BYTES).values,
      IsEmpty());
}

TEST(RulesTest, SamplesOfTwoMachinesAreNoOneSample) {
  std::vector<MemorySamples> files = {
      Text<MemorySamples>(R"(label: "//a:b" kernel: "6.1" cpu_model: "x")"),
      Text<MemorySamples>(R"(label: "//a:b" kernel: "6.1" cpu_model: "x")")};
  const auto difference = [&files] {
    return CollectSamples(files, "//a:b", "BM_X", "", PEAK_RESIDENT_BYTES)
        .difference;
  };
  EXPECT_EQ(difference(), "");
  files[1].mutable_environment()->set_page_size_bytes(4096);
  EXPECT_EQ(difference(), "environment");
  files[1].set_cpu_model("y");
  EXPECT_EQ(difference(), "processor");
  files[1].set_kernel("6.2");
  EXPECT_EQ(difference(), "kernel");
  MetricSamples samples = Values(59, 1);
  samples.difference = "kernel";
  EXPECT_EQ(JudgeSamples(MakeBudget("0.95"), samples)[0].decision,
            ENVIRONMENT_MISMATCH);
}

TEST(RulesTest, ABudgetHasThreeVerdicts) {
  const Threshold budget = MakeBudget("0.95");
  const RuledFigure fits = JudgeSamples(budget, Values(59, 100))[0];
  EXPECT_EQ(fits.rule, BUDGET);
  EXPECT_EQ(fits.decision, ACCEPT);
  EXPECT_EQ(fits.measured, 100);
  EXPECT_EQ(fits.limit, 100);
  const RuledFigure exceeds = JudgeSamples(budget, Values(9, 101))[0];
  EXPECT_EQ(exceeds.decision, REJECT);
  EXPECT_EQ(exceeds.change_to_accept, "max_bytes: 101, or more");
  const RuledFigure few = JudgeSamples(budget, Values(9, 100))[0];
  EXPECT_EQ(few.decision, INCONCLUSIVE);
  EXPECT_THAT(few.explanation, HasSubstr("50 more that keep it"));
  EXPECT_EQ(JudgeSamples(budget, Values(0, 0))[0].decision, INCONCLUSIVE);
  EXPECT_EQ(
      JudgeSamples(Text<Threshold>("budget { share: 0.9 }"), Values(59, 1))[0]
          .decision,
      BAD_CONFIGURATION);
}

TEST(RulesTest, ARegressionHasThreeVerdicts) {
  const Threshold rule = RegressionOver(9, 1000);
  const RuledFigure same = JudgeSamples(rule, Values(9, 1000))[0];
  EXPECT_EQ(same.rule, REGRESSION);
  EXPECT_EQ(same.decision, ACCEPT);
  EXPECT_EQ(same.measured, 1000);
  EXPECT_EQ(same.limit, 1005);
  const RuledFigure grown = JudgeSamples(rule, Values(9, 1100))[0];
  EXPECT_EQ(grown.decision, REJECT);
  EXPECT_EQ(grown.change_to_accept,
            "baseline { kernel: \"6.1\" cpu_model: \"cpu\" values: [1100, "
            "1100, 1100, 1100, 1100, 1100, 1100, 1100, 1100] sittings: [9] }");
  EXPECT_EQ(JudgeSamples(rule, Values(3, 1000))[0].decision, INCONCLUSIVE);
}

TEST(RulesTest, ABaselineOfOneSittingRejectsNothing) {
  Threshold rule = RegressionOver(9, 1000);
  rule.mutable_regression()->mutable_baseline()->clear_sittings();
  EXPECT_EQ(JudgeSamples(rule, Values(9, 1000))[0].decision, ACCEPT);
  const RuledFigure higher = JudgeSamples(rule, Values(9, 1100))[0];
  EXPECT_EQ(higher.decision, INCONCLUSIVE);
  EXPECT_THAT(higher.explanation, HasSubstr("has 1 sitting of 3"));
  EXPECT_THAT(higher.change_to_accept, HasSubstr("1000, 1100"));
  EXPECT_THAT(higher.change_to_accept, HasSubstr("sittings: [9, 9] }"));
}

// The sittings' means vary by 0.3 %, and the runs within a sitting by 0.1 %.
TEST(RulesTest, SittingsThatLieApartAreNoGrowth) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  const auto sit = [&](int count, std::vector<int64_t>* values) {
    const double mean = 1e8 * (1 + 0.003 * normal(random));
    for (int i = 0; i < count; ++i) {
      values->push_back(std::llround(mean * (1 + 0.001 * normal(random))));
    }
  };
  const auto alarms_of = [&](int sitting_count, bool is_known) {
    int alarms = 0;
    for (int trial = 0; trial < 500; ++trial) {
      Threshold rule;
      Regression* const regression = rule.mutable_regression();
      regression->set_tolerance(0.001);
      regression->set_detectable(0.02);
      SampleBaseline* const baseline = regression->mutable_baseline();
      baseline->set_kernel("6.1");
      baseline->set_cpu_model("cpu");
      std::vector<int64_t> values;
      for (int i = 0; i < sitting_count; ++i) sit(is_known ? 9 : 90, &values);
      for (const int64_t value : values) baseline->add_values(value);
      // Unless `is_known`, the values of one sitting are declared as ten
      // sittings.
      const int parts = is_known ? sitting_count : 10;
      for (int i = 0; i < parts; ++i) {
        baseline->add_sittings(static_cast<int>(values.size()) / parts);
      }
      MetricSamples samples = Values(0, 0);
      sit(9, &samples.values);
      alarms += JudgeSamples(rule, samples)[0].decision == REJECT ? 1 : 0;
    }
    return alarms;
  };
  for (const int sitting_count : {3, 5, 8}) {
    EXPECT_LE(alarms_of(sitting_count, true), 4) << sitting_count;
  }
  // Without that rule there are many false alarms.
  EXPECT_GT(alarms_of(1, false), 100);
}

TEST(RulesTest, ABaselineOfAnotherMachineJudgesNothing) {
  const Threshold rule = RegressionOver(9, 1000);
  MetricSamples samples = Values(9, 1000);
  samples.kernel = "6.2";
  EXPECT_EQ(JudgeSamples(rule, samples)[0].decision, ENVIRONMENT_MISMATCH);
  EXPECT_THAT(JudgeSamples(rule, samples)[0].explanation,
              HasSubstr("of kernel \"6.1\", and this is \"6.2\""));
  samples = Values(9, 1000);
  samples.cpu_model = "other";
  EXPECT_EQ(JudgeSamples(rule, samples)[0].decision, ENVIRONMENT_MISMATCH);
}

TEST(RulesTest, WithoutABaselineTheBlockToPasteIsGiven) {
  const RuledFigure figure = JudgeSamples(
      Text<Threshold>("regression { tolerance: 0.01 detectable: 0.02 }"),
      Values(9, 5))[0];
  EXPECT_EQ(figure.decision, INCONCLUSIVE);
  EXPECT_THAT(figure.explanation, HasSubstr("the baseline has 0 values"));
  EXPECT_THAT(figure.change_to_accept, HasSubstr("values: [5, 5,"));
}

TEST(RulesTest, BothRulesAreJudged) {
  Threshold both = MakeBudget("0.95");
  *both.mutable_regression() = RegressionOver(9, 50).regression();
  EXPECT_EQ(ComputeScope(both), RuleScope::kSamples);
  EXPECT_NE(ComputeScope(Text<Threshold>("max_bytes: 1")), RuleScope::kSamples);
  EXPECT_THAT(JudgeSamples(both, Values(59, 50)), SizeIs(2));
}

RuledFigure JudgeValue(const std::string& threshold, int64_t value) {
  RuleInput input;
  input.value = value;
  input.determinism = EXACT;
  std::vector<RuledFigure> figures;
  JudgeByRules(Text<Threshold>(threshold), RuleScope::kMeasurement, input,
               &figures);
  EXPECT_THAT(figures, SizeIs(1)) << threshold;
  return figures.at(0);
}

TEST(RulesTest, AMaximumAnExactValueAndAMinimumAreKept) {
  EXPECT_EQ(JudgeValue("max_bytes: 5", 5).decision, ACCEPT);
  EXPECT_EQ(JudgeValue("max_bytes: 5", 6).decision, REJECT);
  EXPECT_EQ(JudgeValue("exact_count: 5", 5).decision, ACCEPT);
  EXPECT_EQ(JudgeValue("exact_count: 5", 4).decision, REJECT);
  EXPECT_EQ(JudgeValue("min_bytes: 5", 5).decision, ACCEPT);
  EXPECT_EQ(JudgeValue("min_bytes: 5", 4).decision, REJECT);
  EXPECT_EQ(JudgeValue("min_bytes: 5", 4).limit, 5);
  EXPECT_EQ(JudgeValue("min_bytes: 5", 4).rule, MINIMUM);
}

TEST(RulesTest, ARatioIsJudgedWithItsBaselineOnly) {
  const auto threshold =
      Text<Threshold>("max_ratio { ratio: 1.5 } min_bytes: 1");
  Metric baseline;
  baseline.set_value(10);
  baseline.set_determinism(BOUNDED);
  RuleInput input;
  input.value = 16;
  input.determinism = EXACT;
  std::vector<RuledFigure> figures;
  JudgeByRules(threshold, RuleScope::kMeasurement, input, &figures);
  ASSERT_THAT(figures, SizeIs(1));
  EXPECT_EQ(figures[0].rule, MINIMUM);
  figures.clear();
  input.baseline = &baseline;
  JudgeByRules(threshold, RuleScope::kMeasurement, input, &figures);
  ASSERT_THAT(figures, SizeIs(2));
  EXPECT_EQ(figures[0].determinism, EXACT);
  EXPECT_EQ(figures[1].rule, MAXIMUM_RATIO);
  EXPECT_EQ(figures[1].decision, REJECT);
  EXPECT_EQ(figures[1].limit, 15);
  EXPECT_EQ(figures[1].determinism, BOUNDED);
}

TEST(RulesTest, EveryKindOfJudgementHasWordsOfItsOwn) {
  for (int kind = RULE_KIND_UNSPECIFIED + 1; kind < RuleKind_ARRAYSIZE;
       ++kind) {
    EXPECT_EQ(FindWords(static_cast<RuleKind>(kind)).kind, kind);
  }
  EXPECT_STREQ(FindWords(MAXIMUM).limit, "max");
  EXPECT_STREQ(FindWords(RULE_KIND_UNSPECIFIED).limit, "rule");
}

TEST(RulesTest, EachFieldThatStatesARuleIsDescribed) {
  std::string fields;
  for (const Rule* rule : AllRules()) {
    absl::StrAppend(&fields, ", ", rule->fields());
  }
  for (const char* field :
       {"max_bytes", "exact_bytes", "max_count", "exact_count", "max_ratio",
        "min_bytes", "min_count", "budget", "regression", "scaling"}) {
    EXPECT_THAT(fields, ContainsRegex(absl::StrCat("[` ]", field, "[` ]")));
  }
}

TEST(RulesTest, TheReadmeHasTheTableOfTheRules) {
  const absl::StatusOr<std::string> readme = ReadWholeFile("gates/README.md");
  ASSERT_THAT(readme, IsOk());
  EXPECT_THAT(*readme, HasSubstr(WriteRuleTable()))
      << "put this table in place of the one in gates/README.md:\n"
      << WriteRuleTable();
}

}  // namespace
}  // namespace footprint
