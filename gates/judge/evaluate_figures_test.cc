// Tests how Evaluate applies rules over samples and over scaling laws.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/gates/judge/evaluate.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

ThresholdSource Source(const std::string& thresholds) {
  ThresholdSource source = ParseThresholdFile(
      "t.textproto", absl::StrCat("# proto-file: gates/judge/gate.proto\n"
                                  "# proto-message: footprint.ThresholdFile\n"
                                  "schema_version: 1\n",
                                  thresholds));
  for (const Problem& problem : source.problems) {
    ADD_FAILURE() << problem.message();
  }
  return source;
}

// Makes a profile with a benchmark for each number of rows, which needs
// `bytes(rows)`.
MemoryProfile Family(int64_t (*bytes)(int64_t rows), int kind = 1) {
  MemoryProfile profile;
  profile.set_label("//a:b");
  profile.set_process_count(3);
  for (int64_t rows : {100, 300, 700, 1500, 3000}) {
    BenchmarkMemory* benchmark = profile.add_benchmarks();
    benchmark->set_name(absl::StrCat("BM_Fit/rows:", rows));
    Argument* argument = benchmark->add_arguments();
    argument->set_name("rows");
    argument->set_value(absl::StrCat(rows));
    Metric* metric = benchmark->add_metrics();
    metric->set_kind(static_cast<MetricKind>(kind));
    metric->set_determinism(EXACT);
    metric->set_value(bytes(rows));
  }
  return profile;
}

int64_t Linear(int64_t rows) { return 4096 + 80 * rows; }
int64_t Squared(int64_t rows) { return Linear(rows) + rows * rows / 10; }

Verdict Judge(const MemoryProfile& profile, const std::string& thresholds,
              const std::vector<MemorySamples>& samples = {}) {
  EvaluationOptions options;
  options.samples = samples;
  return Evaluate({profile}, {Source(thresholds)}, options);
}

constexpr char kLaw[] = R"pb(
  threshold {
    selector { label: "//a:b" benchmark: "BM_Fit/*" }
    metric: PEAK_LIVE_USABLE_BYTES
    scaling {
      argument: "rows"
      max_exponent: 1
      at {
        argument { name: "rows" value: "30000" }
        max_bytes: 2500000
      }
      at {
        argument { name: "rows" value: "300000" }
        max_bytes: 25000000
      }
    }
  })pb";

TEST(EvaluateFiguresTest, ALawIsJudgedOnceAFamily) {
  const Verdict verdict = Judge(Family(Linear), kLaw);
  EXPECT_EQ(verdict.decision(), ACCEPT);
  EXPECT_THAT(verdict.problems(), IsEmpty());
  ASSERT_THAT(verdict.judgements(), SizeIs(3));
  EXPECT_EQ(verdict.judgements(0).rule(), MAXIMUM_EXPONENT);
  EXPECT_EQ(verdict.judgements(0).benchmark(), "BM_Fit/rows:3000");
  EXPECT_EQ(verdict.judgements(0).determinism(), EXACT);
  EXPECT_THAT(verdict.judgements(0).explanation(), HasSubstr("the law is"));
  EXPECT_EQ(verdict.judgements(1).rule(), PREDICTED_MAXIMUM);
  EXPECT_NEAR(static_cast<double>(verdict.judgements(1).measured()),
              static_cast<double>(Linear(30000)), 1000);
  EXPECT_EQ(verdict.judgements(0).size(), "");
  EXPECT_EQ(verdict.judgements(1).size(), "rows=30000");
  EXPECT_EQ(verdict.judgements(2).size(), "rows=300000");
}

TEST(EvaluateFiguresTest, AnAccidentalSquareIsRejected) {
  const Verdict verdict = Judge(Family(Squared), kLaw);
  EXPECT_EQ(verdict.decision(), REJECT);
  ASSERT_THAT(verdict.judgements(), SizeIs(3));
  EXPECT_EQ(verdict.judgements(0).decision(), REJECT);
  EXPECT_THAT(verdict.judgements(0).command_to_accept(),
              HasSubstr("an edit of t.textproto:"));
}

TEST(EvaluateFiguresTest, ALawOfArgumentsThatAreNotThereIsAMistake) {
  MemoryProfile profile = Family(Linear);
  profile.mutable_benchmarks(1)->mutable_arguments(0)->set_name("row");
  const Verdict verdict = Judge(profile, kLaw);
  EXPECT_EQ(verdict.decision(), BAD_CONFIGURATION);
  ASSERT_THAT(verdict.problems(), SizeIs(1));
  EXPECT_THAT(verdict.problems(0).location(), HasSubstr("t.textproto:"));
  EXPECT_THAT(verdict.problems(0).message(), HasSubstr("no argument \"rows\""));
}

TEST(EvaluateFiguresTest, TooFewSizesAreInconclusiveAndAWarningIsNone) {
  MemoryProfile profile = Family(Linear);
  profile.mutable_benchmarks()->DeleteSubrange(3, 2);
  const Verdict verdict = Judge(profile, kLaw);
  EXPECT_EQ(verdict.decision(), INCONCLUSIVE);
  ASSERT_THAT(verdict.problems(), SizeIs(1));
  EXPECT_THAT(verdict.problems(0).message(),
              HasSubstr("at least 4 benchmarks, and the selector names 3"));
  std::string warning = kLaw;
  warning.insert(warning.rfind('}'), " severity: WARN ");
  warning += "exemption { selector { label: '//a:b' } reason: 'a warning' }";
  EXPECT_EQ(Judge(profile, warning).decision(), ACCEPT);
}

TEST(EvaluateFiguresTest, AFigureThatDidNotRepeatMakesNoLaw) {
  MemoryProfile profile = Family(Linear);
  profile.mutable_benchmarks(1)->clear_metrics();
  profile.mutable_benchmarks(1)->add_unrepeated(PEAK_LIVE_USABLE_BYTES);
  EXPECT_EQ(Judge(profile, kLaw).decision(), INCONCLUSIVE);
}

MemorySamples Runs(int count, int64_t bytes) {
  MemorySamples samples;
  samples.set_label("//a:b");
  samples.set_kernel("6.1");
  samples.set_cpu_model("cpu");
  for (const char* name :
       {"BM_Fit/rows:100", "BM_Fit/rows:300", "BM_Fit/rows:700",
        "BM_Fit/rows:1500", "BM_Fit/rows:3000"}) {
    SampledBenchmark* benchmark = samples.add_benchmarks();
    benchmark->set_name(name);
    SampledMetric* metric = benchmark->add_metrics();
    metric->set_kind(PEAK_RESIDENT_BYTES);
    for (int i = 0; i < count; ++i) metric->add_values(bytes);
  }
  return samples;
}

constexpr char kBudget[] = R"pb(
  threshold {
    selector { label: "//a:b" benchmark: "BM_Fit/*" }
    metric: PEAK_RESIDENT_BYTES
    max_bytes: 1000
    budget { share: 0.95 confidence: 0.95 }
  })pb";

TEST(EvaluateFiguresTest, ABudgetIsJudgedBySamplesOfEachBenchmark) {
  const Verdict verdict = Judge(Family(Linear), kBudget, {Runs(59, 1000)});
  EXPECT_EQ(verdict.decision(), ACCEPT);
  ASSERT_THAT(verdict.judgements(), SizeIs(5));
  EXPECT_EQ(verdict.judgements(0).rule(), BUDGET);
  EXPECT_EQ(verdict.judgements(0).measured(), 1000);
  EXPECT_EQ(verdict.judgements(0).determinism(), STATISTICAL);
  EXPECT_EQ(Judge(Family(Linear), kBudget, {Runs(9, 1001)}).decision(), REJECT);
}

TEST(EvaluateFiguresTest, FewSamplesAreInconclusiveAndMoreFilesAreMoreRuns) {
  const Verdict few = Judge(Family(Linear), kBudget, {Runs(30, 1000)});
  EXPECT_EQ(few.decision(), INCONCLUSIVE);
  ASSERT_THAT(few.problems(), SizeIs(5));
  EXPECT_THAT(few.problems(0).message(), HasSubstr("29 more that keep it"));
  EXPECT_EQ(Judge(Family(Linear), kBudget, {Runs(30, 1000), Runs(29, 1000)})
                .decision(),
            ACCEPT);
  const Verdict none = Judge(Family(Linear), kBudget);
  EXPECT_EQ(none.decision(), INCONCLUSIVE);
  EXPECT_THAT(none.problems(0).message(), HasSubstr("has no samples here"));
}

TEST(EvaluateFiguresTest, ARegressionWithoutABaselineGivesTheBlock) {
  const Verdict verdict =
      Judge(Family(Linear), R"pb(
              threshold {
                selector { label: "//a:b" }
                metric: PEAK_RESIDENT_BYTES
                max_bytes: 7
                budget { share: 0.7 confidence: 0.95 }
                regression { tolerance: 0.005 detectable: 0.02 }
              })pb",
            {Runs(9, 7)});
  EXPECT_EQ(verdict.decision(), INCONCLUSIVE);
  EXPECT_THAT(verdict.problems(0).message(),
              HasSubstr("these runs as the baseline: baseline { kernel: "
                        "\"6.1\" cpu_model: \"cpu\" values: [7, 7"));
}

// If 12 of 59 runs need ten times the memory, the median does not move.
TEST(EvaluateFiguresTest, ARegressionRuleAloneIsAMistake) {
  constexpr char kMedian[] = R"pb(
    threshold {
      selector { label: "//a:b" }
      metric: PEAK_RESIDENT_BYTES
      regression { tolerance: 0.005 detectable: 0.02 }
    }
  )pb";
  const Verdict alone = Judge(Family(Linear), kMedian, {Runs(59, 7)});
  EXPECT_EQ(alone.decision(), BAD_CONFIGURATION);
  EXPECT_THAT(alone.DebugString(), HasSubstr("no limit of the highest run"));
  const Verdict limited = Judge(Family(Linear), absl::StrCat(kMedian, R"pb(
                                  threshold {
                                    selector { label: "//a:b" }
                                    metric: PEAK_RESIDENT_BYTES
                                    max_bytes: 7
                                    budget { share: 0.95 confidence: 0.95 }
                                  }
                                )pb"),
                                {Runs(59, 7)});
  EXPECT_EQ(limited.decision(), INCONCLUSIVE);  // there is no baseline yet
}

TEST(EvaluateFiguresTest, APhaseThatIsNotThereIsNamed) {
  const Verdict verdict = Judge(Family(Linear), R"pb(
                                  threshold {
                                    selector { label: "//a:b" phase: "fit" }
                                    metric: PEAK_RESIDENT_BYTES
                                    max_bytes: 1000
                                    budget { share: 0.95 confidence: 0.95 }
                                  })pb",
                                {Runs(59, 1)});
  EXPECT_EQ(verdict.decision(), BAD_CONFIGURATION);
}

}  // namespace
}  // namespace footprint
