#include "footprint/gates/server/kept_trial.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TrialResult ResultOf(const std::string& text) {
  TrialResult result;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &result));
  return result;
}

TEST(KeptTrialTest, ARejectionIsAJudgementOfTheWholeProcess) {
  const StoredResult kept = KeptTrial(
      ResultOf(R"pb(
        verdict: REJECTED
        reason: "the peak is 50 B over the budget, in stage fit"
        cause: PEAK_ABOVE_BUDGET
        manifest { entry: "fit.py" label: "//team:model" }
        budget_bytes: 1000
        whole_process_peak_bytes: 1050
        peak_source: "peak of the cgroup"
        heap_peak_bytes: 700
        peak_stage: "fit"
        peak_sites { site: "fit.py:3" live_bytes: 600 }
        runs { purpose: MEASURE peak_bytes: 1050 wall_time_ns: 20000000 }
        profile { label: "//team:model" }
        environment: "Linux 6.1, cgroup v1"
      )pb"),
      REJECT);
  EXPECT_EQ(kept.deployment(), "//team:model");
  EXPECT_EQ(kept.verdict().decision(), REJECT);
  EXPECT_EQ(kept.verdict().problems_size(), 0);
  ASSERT_EQ(kept.verdict().judgements_size(), 1);
  const Judgement& judgement = kept.verdict().judgements(0);
  EXPECT_EQ(judgement.label(), "//team:model");
  EXPECT_EQ(judgement.measured(), 1050);
  EXPECT_EQ(judgement.limit(), 1000);
  EXPECT_EQ(judgement.decision(), REJECT);
  EXPECT_EQ(judgement.severity(), BLOCK);
  EXPECT_THAT(judgement.explanation(),
              HasSubstr("peak of the cgroup: the peak"));
  EXPECT_EQ(kept.profile().label(), "//team:model");
  EXPECT_THAT(kept.remarks(), Contains("stage of the peak: fit"));
  EXPECT_THAT(kept.remarks(), Contains("fit.py:3: 600 B"));
  EXPECT_THAT(
      kept.remarks(),
      Contains(HasSubstr("measured: peak 1.03 KiB (1,050 B), 0.020 s")));
  EXPECT_THAT(kept.remarks(), Contains("ran on Linux 6.1, cgroup v1"));
}

TEST(KeptTrialTest, ThresholdsStandBesideTheBudget) {
  const StoredResult kept =
      KeptTrial(ResultOf(R"pb(
                  verdict: REJECTED
                  cause: THRESHOLD_REJECTED
                  manifest { entry: "run" }
                  budget_bytes: 1000
                  whole_process_peak_bytes: 900
                  threshold_verdict {
                    decision: REJECT
                    judgements { label: "//bundle:run" decision: REJECT }
                  }
                )pb"),
                REJECT);
  EXPECT_EQ(kept.deployment(), "//bundle:run");
  ASSERT_EQ(kept.verdict().judgements_size(), 2);
  EXPECT_EQ(kept.verdict().judgements(0).decision(), ACCEPT);
  EXPECT_EQ(kept.verdict().judgements(1).decision(), REJECT);
  EXPECT_EQ(kept.verdict().decision(), REJECT);
}

TEST(KeptTrialTest, WhatIsNotOfTheBudgetIsAProblem) {
  const StoredResult kept = KeptTrial(ResultOf(R"pb(
                                        verdict: INCONCLUSIVE_TRIAL
                                        reason: "ended by signal 11"
                                        cause: PROGRAM_FAILED
                                      )pb"),
                                      PRODUCER_FAILED);
  EXPECT_EQ(kept.deployment(), "//bundle");
  EXPECT_FALSE(kept.has_profile());
  ASSERT_EQ(kept.verdict().problems_size(), 1);
  EXPECT_EQ(kept.verdict().judgements_size(), 0);
  EXPECT_EQ(kept.verdict().problems(0).decision(), PRODUCER_FAILED);
  EXPECT_EQ(kept.verdict().problems(0).message(), "ended by signal 11");
  EXPECT_EQ(kept.verdict().decision(), PRODUCER_FAILED);
}

TEST(KeptTrialTest, AProgramThatFailedHasTheLastWord) {
  std::string lines;
  for (int i = 0; i < 20; ++i) absl::StrAppend(&lines, "line ", i, "\n");
  TrialResult result = ResultOf(R"pb(
    reason: "ended with status 1"
    cause: PROGRAM_FAILED
    runs { purpose: MEASURE exit_status: 1 }
    runs { purpose: EXPLAIN exit_status: 1 standard_error_tail: "agent" }
  )pb");
  result.mutable_runs(0)->set_standard_error_tail(
      absl::StrCat(lines, "ImportError: \tx\n\n"));
  const StoredResult kept = KeptTrial(result, PRODUCER_FAILED);
  EXPECT_EQ(kept.verdict().problems(0).message(),
            "ended with status 1; its last words: ImportError: \\tx");
  EXPECT_THAT(kept.remarks(), Contains("standard error: line 11"));
  EXPECT_THAT(kept.remarks(), Not(Contains("standard error: line 10")));
  EXPECT_THAT(kept.remarks(), Not(Contains(HasSubstr("agent"))));
}

TEST(KeptTrialTest, AProgramThatEndedWellIsNotQuoted) {
  const StoredResult kept =
      KeptTrial(ResultOf(R"pb(
                  cause: NO_BUDGET
                  reason: "no budget"
                  runs { purpose: MEASURE standard_error_tail: "a warning" }
                )pb"),
                BAD_CONFIGURATION);
  EXPECT_EQ(kept.verdict().problems(0).message(), "no budget");
}

}  // namespace
}  // namespace footprint
