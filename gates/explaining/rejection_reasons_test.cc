#include "footprint/gates/explaining/rejection_reasons.h"

#include <string>
#include <vector>

#include "footprint/gates/explaining/explained_input.h"
#include "footprint/gates/judge/evaluate.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/gate_input.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Returns the explanation of the first judgement that rejects.
std::string Explain(const GateInput& input,
                    const std::vector<MemoryProfile>& before = {}) {
  Verdict verdict = Judge(input, EvaluationOptions());
  ExplainRejections(input, before, &verdict);
  for (const Judgement& judgement : verdict.judgements()) {
    if (judgement.decision() == REJECT) return judgement.explanation();
    EXPECT_EQ(judgement.explanation(), "");
  }
  return "nothing rejects";
}

GateInput Input(const std::string& benchmark, const std::string& rule) {
  GateInput input;
  input.profiles.resize(1);
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "label: '//a:b' process_count: 3 benchmarks { " + benchmark + " }",
      &input.profiles[0]));
  input.thresholds = {ParseThresholdFile(
      "t", "threshold { selector { label: '//a:b' benchmark: '*' } " + rule +
               " }\n"
               "exemption { selector { label: '//a:b' } reason: 'a test' }")};
  EXPECT_TRUE(input.thresholds[0].problems.empty());
  return input;
}

TEST(RejectionReasonsTest, NamesThePhaseAndTheHolders) {
  EXPECT_EQ(Explain(ExplainedInput()),
            "highest in phase read, 2.00 MiB; held at the peak: 2.00 KiB by "
            "tensor:conv1/weights");
}

TEST(RejectionReasonsTest, AgainstEarlierProfilesItNamesWhatGrew) {
  MemoryProfile before = ExplainedProfile();
  BenchmarkMemory* const fit = before.mutable_benchmarks(0);
  fit->mutable_metrics(0)->set_value(1048576);
  fit->mutable_phases(1)->mutable_metrics(0)->set_value(1046424);
  fit->mutable_peak_attribution(0)->set_live_bytes(1024);
  EXPECT_EQ(Explain(ExplainedInput(), {before}),
            "since before: phase read +1.00 MiB, +1.00 KiB held by "
            "tensor:conv1/weights");
  // Equal earlier figures add nothing.
  EXPECT_THAT(Explain(ExplainedInput(), {ExplainedProfile()}),
              HasSubstr("highest in phase read"));
}

TEST(RejectionReasonsTest, CallsALeakOne) {
  EXPECT_EQ(
      Explain(Input("name: 'BM_X' metrics { kind: NET_GROWTH_USABLE_BYTES "
                    "determinism: EXACT value: 64 }",
                    "metric: NET_GROWTH_USABLE_BYTES max_bytes: 0")),
      "a leak (NET_GROWTH): 64 B more are live at its end than at its start");
}

TEST(RejectionReasonsTest, NamesWhatMapped) {
  EXPECT_EQ(
      Explain(Input("name: 'BM_X' metrics { kind: PEAK_MAPPED_BYTES "
                    "determinism: EXACT value: 8192 } "
                    "peak_attribution { site: 'site:Read' live_bytes: 64 } "
                    "mapped_attribution { site: 'site:Map' live_bytes: 8192 }",
                    "metric: PEAK_MAPPED_BYTES max_bytes: 4096")),
      "mapped at the peak: 8.00 KiB by site:Map");
}

TEST(RejectionReasonsTest, OfNestedPhasesTheInnermostIsNamed) {
  const std::string peak =
      "metrics { kind: PEAK_LIVE_USABLE_BYTES determinism: EXACT value: 64 } ";
  EXPECT_EQ(
      Explain(Input("name: 'BM_X' " + peak +
                        "phases { name: 'loop' parent: -1 " + peak +
                        "} phases { name: 'loop/read' parent: 0 " + peak + "}",
                    "metric: PEAK_LIVE_USABLE_BYTES max_bytes: 1")),
      "highest in phase loop/read, 64 B");
}

TEST(RejectionReasonsTest, AWholeProcessHasParts) {
  GateInput input = Input(
      "name: 'whole_process/x' metrics { kind: PEAK_RESIDENT_BYTES "
      "determinism: STATISTICAL value: 9000000 } "
      "phases { name: 'part: stacks' parent: -1 metrics { kind: "
      "PEAK_RESIDENT_BYTES determinism: STATISTICAL value: 1000000 } } "
      "phases { name: 'part: heap and mappings' parent: -1 metrics { kind: "
      "PEAK_RESIDENT_BYTES determinism: STATISTICAL value: 8388608 } } "
      "phases { name: 'control group' parent: -1 metrics { kind: "
      "PEAK_RESIDENT_BYTES determinism: STATISTICAL value: 9900000 } }",
      "metric: PEAK_RESIDENT_BYTES max_bytes: 1000");
  input.thresholds[0]
      .file.mutable_threshold(0)
      ->mutable_selector()
      ->set_benchmark("whole_process/*");
  EXPECT_EQ(Explain(input), "8.00 MiB of it are heap and mappings");
}

TEST(RejectionReasonsTest, APhaseIsNotExplainedByTheWhole) {
  Verdict verdict = Judge(ExplainedInput(), EvaluationOptions());
  ExplainRejections(ExplainedInput(), {}, &verdict);
  int phases = 0;
  for (const Judgement& judgement : verdict.judgements()) {
    if (judgement.phase().empty()) continue;
    ++phases;
    EXPECT_EQ(judgement.explanation(), "");
  }
  EXPECT_EQ(phases, 2);
}

TEST(RejectionReasonsTest, AnExplanationStays) {
  Verdict verdict = Judge(ExplainedInput(), EvaluationOptions());
  verdict.mutable_judgements(0)->set_explanation("as samples show");
  ExplainRejections(ExplainedInput(), {}, &verdict);
  EXPECT_EQ(verdict.judgements(0).decision(), REJECT);
  EXPECT_EQ(verdict.judgements(0).explanation(), "as samples show");
}

TEST(RejectionReasonsTest, WhatIsBelowAMinimumHasNone) {
  EXPECT_EQ(Explain(Input("name: 'BM_X' metrics { kind: PEAK_LIVE_USABLE_BYTES "
                          "determinism: EXACT value: 64 } peak_attribution { "
                          "site: 'x' live_bytes: 64 }",
                          "metric: PEAK_LIVE_USABLE_BYTES min_bytes: 100")),
            "");
}

}  // namespace
}  // namespace footprint
