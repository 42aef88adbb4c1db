#include "footprint/gates/trials/trial_verdict.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

template <typename Message>
Message FromText(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message));
  return message;
}

Verdict MakeVerdict(const std::string& result, const std::string& thresholds) {
  return MakeTrialVerdict(FromText<TrialResult>(result),
                          FromText<Verdict>(thresholds));
}

// Returns "about: text" for each remark; all must be of one label.
std::vector<std::string> ListRemarks(const Verdict& verdict) {
  std::vector<std::string> remarks;
  for (const ProducerRemark& remark : verdict.remarks()) {
    EXPECT_EQ(remark.label(), verdict.remarks(0).label());
    remarks.push_back(
        absl::StrCat(remark.remark().about(), ": ", remark.remark().text()));
  }
  return remarks;
}

TEST(TrialVerdictTest, ARejectionIsAJudgementOfTheWholeProcess) {
  const Verdict verdict =
      MakeVerdict(R"pb(
                    reason: "the peak is 50 B over the budget, in stage fit"
                    cause: PEAK_ABOVE_BUDGET
                    manifest { entry: "fit.py" label: "//team:model" }
                    budget_bytes: 1000
                    whole_process_peak_bytes: 1050
                    peak_source: "peak of the cgroup"
                    heap_peak_bytes: 700
                    peak_stage: "fit"
                    peak_sites { site: "fit.py:3" live_bytes: 600 }
                    runs {
                      purpose: MEASURE
                      peak_bytes: 1050
                      limit_bytes: 2048
                      wall_time_ns: 20000000
                      sandbox_time_ns: 3000000
                      exit_status: 3
                    }
                    environment: "Linux 6.1, cgroup v1"
                  )pb",
                  "");
  EXPECT_EQ(verdict.decision(), REJECT);
  EXPECT_EQ(verdict.problems_size(), 0);
  ASSERT_EQ(verdict.judgements_size(), 1);
  const Judgement& judgement = verdict.judgements(0);
  EXPECT_EQ(judgement.label(), "//team:model");
  EXPECT_EQ(judgement.measured(), 1050);
  EXPECT_EQ(judgement.limit(), 1000);
  EXPECT_EQ(judgement.decision(), REJECT);
  EXPECT_EQ(judgement.severity(), BLOCK);
  EXPECT_THAT(judgement.explanation(),
              HasSubstr("peak of the cgroup: the peak"));
  const std::vector<std::string> remarks = ListRemarks(verdict);
  EXPECT_EQ(verdict.remarks(0).label(), "//team:model");
  EXPECT_THAT(remarks, Contains("trial: the peak is 50 B over the budget, in "
                                "stage fit"));
  EXPECT_THAT(remarks, Contains("stage of the peak: fit"));
  EXPECT_THAT(remarks, Contains("place of the peak: 600 B at fit.py:3"));
  EXPECT_THAT(remarks,
              Contains("measured: peak 1.03 KiB (1,050 B) with page cache, 0 B "
                       "resident; limit 2.00 KiB; status 3 after 0.020 s, and "
                       "3.0 ms of sandbox"));
  EXPECT_THAT(remarks, Contains("ran on: Linux 6.1, cgroup v1"));
}

TEST(TrialVerdictTest, ARejectionWithoutABudgetNamesTheLimitOfItsRun) {
  const Verdict verdict = MakeVerdict(
      "cause: OUT_OF_MEMORY_UNDER_LIMIT whole_process_peak_bytes: 900 "
      "runs { limit_bytes: 800 }",
      "");
  ASSERT_EQ(verdict.judgements_size(), 1);
  EXPECT_EQ(verdict.judgements(0).limit(), 800);
  EXPECT_EQ(verdict.judgements(0).threshold_location(),
            "the limit of the first run");
  EXPECT_EQ(verdict.decision(), REJECT);
}

TEST(TrialVerdictTest, ThresholdsStandBesideTheBudget) {
  const Verdict verdict = MakeVerdict(
      "cause: THRESHOLD_REJECTED manifest { entry: 'run' } budget_bytes: 1000 "
      "whole_process_peak_bytes: 900",
      "decision: REJECT judgements { label: '//bundle:run' decision: REJECT }");
  ASSERT_EQ(verdict.judgements_size(), 2);
  EXPECT_EQ(verdict.judgements(0).label(), "//bundle:run");
  EXPECT_EQ(verdict.judgements(0).decision(), ACCEPT);
  EXPECT_EQ(verdict.judgements(1).decision(), REJECT);
  EXPECT_EQ(verdict.decision(), REJECT);
}

TEST(TrialVerdictTest, ThresholdsThatDecideNothingGiveTheirDecision) {
  EXPECT_EQ(MakeVerdict("cause: THRESHOLD_INCONCLUSIVE",
                        "decision: ENVIRONMENT_MISMATCH")
                .decision(),
            ENVIRONMENT_MISMATCH);
}

TEST(TrialVerdictTest, WhatIsNotOfTheBudgetIsAProblem) {
  const Verdict verdict =
      MakeVerdict("reason: 'ended by signal 11' cause: PROGRAM_FAILED", "");
  ASSERT_EQ(verdict.problems_size(), 1);
  EXPECT_EQ(verdict.judgements_size(), 0);
  EXPECT_EQ(verdict.problems(0).location(), "//bundle");
  EXPECT_EQ(verdict.problems(0).decision(), PRODUCER_FAILED);
  EXPECT_EQ(verdict.problems(0).message(), "ended by signal 11");
  EXPECT_EQ(verdict.decision(), PRODUCER_FAILED);
}

TEST(TrialVerdictTest, EachCauseHasADecision) {
  EXPECT_EQ(DecisionOfCause(FITS, REJECT), ACCEPT);
  EXPECT_EQ(DecisionOfCause(OUT_OF_MEMORY_UNDER_LIMIT, ACCEPT), REJECT);
  EXPECT_EQ(DecisionOfCause(BAD_BUNDLE, ACCEPT), BAD_CONFIGURATION);
  EXPECT_EQ(DecisionOfCause(NO_BUDGET, ACCEPT), BAD_CONFIGURATION);
  EXPECT_EQ(DecisionOfCause(TIMED_OUT, ACCEPT), PRODUCER_FAILED);
  EXPECT_EQ(DecisionOfCause(RUNS_DIFFER, ACCEPT), INCONCLUSIVE);
  EXPECT_EQ(DecisionOfCause(PROGRAM_FAILED, ACCEPT), PRODUCER_FAILED);
  EXPECT_EQ(DecisionOfCause(HOST_OUT_OF_MEMORY, ACCEPT), INCONCLUSIVE);
}

TEST(TrialVerdictTest, SaysHowARunEnded) {
  const auto end = [](const std::string& run) {
    return ListRemarks(MakeVerdict(
        absl::StrCat("cause: FITS runs { purpose: PROVE ", run, " }"), ""))[1];
  };
  EXPECT_THAT(end("is_timed_out: true exit_status: 1"),
              HasSubstr("; timed out after "));
  EXPECT_THAT(end("is_out_of_memory: true signal_number: 9"),
              HasSubstr("; out of memory after "));
  EXPECT_THAT(end("signal_number: 11"), HasSubstr("; signal 11 after "));
  EXPECT_THAT(end("peak_proportional_bytes: 5"),
              HasSubstr(", 5 B of all processes; "));
}

TEST(TrialVerdictTest, AProgramThatFailedHasTheLastWord) {
  std::string lines;
  for (int i = 0; i < 20; ++i) absl::StrAppend(&lines, "line ", i, "\n");
  TrialResult result = FromText<TrialResult>(R"pb(
    reason: "ended with status 1"
    cause: PROGRAM_FAILED
    runs { purpose: MEASURE exit_status: 1 }
    runs { purpose: EXPLAIN exit_status: 1 standard_error_tail: "agent" }
  )pb");
  result.mutable_runs(0)->set_standard_error_tail(
      absl::StrCat(lines, "ImportError: \tx\n\n"));
  const Verdict verdict = MakeTrialVerdict(result, Verdict());
  EXPECT_EQ(verdict.problems(0).message(),
            "ended with status 1; its last words: ImportError: \\tx");
  const std::vector<std::string> remarks = ListRemarks(verdict);
  EXPECT_THAT(remarks, Contains("standard error: line 11"));
  EXPECT_THAT(remarks, Not(Contains("standard error: line 10")));
  EXPECT_THAT(remarks, Not(Contains(HasSubstr("agent"))));
}

TEST(TrialVerdictTest, AProgramThatEndedWellIsNotQuoted) {
  const Verdict verdict = MakeVerdict(
      "cause: NO_BUDGET reason: 'no budget' "
      "runs { purpose: MEASURE standard_error_tail: 'a warning' }",
      "");
  EXPECT_EQ(verdict.problems(0).message(), "no budget");
}

TEST(TrialVerdictTest, SaysWhyThereIsNoProfile) {
  EXPECT_THAT(ListRemarks(MakeVerdict(
                  "cause: FITS explanation_failure: 'a record is torn'", "")),
              Contains("no profile: the program's records cannot be read: a "
                       "record is torn"));
}

TEST(TrialVerdictTest, AnImageIsNamedByItsDigest) {
  EXPECT_THAT(ListRemarks(MakeVerdict(
                  R"pb(cause: FITS image_digest: "sha256:ab")pb", "")),
              Contains("image: sha256:ab"));
  EXPECT_THAT(ListRemarks(MakeVerdict("cause: FITS", "")),
              Not(Contains(HasSubstr("image"))));
}

TEST(TrialVerdictTest, ShowsTheFirstFivePlaces) {
  std::string sites = "cause: FITS";
  for (int i = 0; i < 7; ++i) {
    absl::StrAppend(&sites, " peak_sites { site: 'f", i, "' live_bytes: 1 }");
  }
  const std::vector<std::string> remarks = ListRemarks(MakeVerdict(sites, ""));
  EXPECT_THAT(remarks, Contains("place of the peak: 1 B at f4"));
  EXPECT_THAT(remarks, Not(Contains("place of the peak: 1 B at f5")));
}

}  // namespace
}  // namespace footprint
