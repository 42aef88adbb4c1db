#include "footprint/gates/trials/trial_decision.h"

#include <string>

#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/trials/trial.pb.h"
#include "footprint/gates/trials/trial_limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t kMiB = 1 << 20;

// The budget is 100 MiB, the host has 1,000 MiB, and the run needed 50 MiB.
class TrialDecisionTest : public testing::Test {
 protected:
  TrialDecisionTest() {
    limits_.budget_bytes = 100 * kMiB;
    limits_.measuring_limit_bytes = 264 * kMiB;
    limits_.time_limit_seconds = 60;
    limits_.room_bytes = 1000 * kMiB;
    run_.set_limit_bytes(limits_.measuring_limit_bytes);
    run_.set_peak_bytes(50 * kMiB);
    run_.set_peak_resident_bytes(40 * kMiB);
  }

  TrialCause DecideMeasured() {
    DecideMeasuredRun(run_, limits_, &result_);
    return result_.cause();
  }

  TrialCause DecideProved() {
    run_.set_limit_bytes(limits_.budget_bytes);
    DecideProvedRun(run_, limits_, &result_);
    return result_.cause();
  }

  TrialLimits limits_;
  TrialRun run_;
  TrialResult result_;
};

TEST_F(TrialDecisionTest, PeakIsTheHighestOfAllThatWereSeen) {
  EXPECT_EQ(FindPeak(run_), 50 * kMiB);
  run_.set_peak_resident_bytes(51 * kMiB);
  EXPECT_EQ(FindPeak(run_), 51 * kMiB);
  run_.set_peak_proportional_bytes(52 * kMiB);
  EXPECT_EQ(FindPeak(run_), 52 * kMiB);
}

TEST_F(TrialDecisionTest, EndsAreTold) {
  EXPECT_TRUE(HasSucceeded(run_));
  EXPECT_EQ(DescribeEnd(run_), "ended with status 0");
  run_.set_signal_number(9);
  EXPECT_FALSE(HasSucceeded(run_));
  EXPECT_EQ(DescribeEnd(run_), "was ended by signal 9");
  run_.set_is_timed_out(true);
  EXPECT_EQ(DescribeEnd(run_), "did not end in its time");
}

TEST_F(TrialDecisionTest, ARunWithinItsBudgetIsProvedNext) {
  EXPECT_EQ(DecideMeasured(), TRIAL_CAUSE_UNSPECIFIED);
  EXPECT_EQ(result_.whole_process_peak_bytes(), 50 * kMiB);
  EXPECT_EQ(result_.peak_source(), "peak of the cgroup");
  EXPECT_EQ(DecideProved(), FITS);
  EXPECT_THAT(result_.reason(), HasSubstr("of the budget of 100 MiB"));
}

TEST_F(TrialDecisionTest, AHigherPeakOfTheSecondRunCounts) {
  DecideMeasured();
  run_.set_peak_bytes(60 * kMiB);
  EXPECT_EQ(DecideProved(), FITS);
  EXPECT_EQ(result_.whole_process_peak_bytes(), 60 * kMiB);
}

TEST_F(TrialDecisionTest, APeakAboveTheBudgetIsRejectedWithOneThatHasRoom) {
  run_.set_peak_bytes(100 * kMiB + 1);
  EXPECT_EQ(DecideMeasured(), PEAK_ABOVE_BUDGET);
  EXPECT_EQ(result_.excess_bytes(), 1);
  // 102 MiB and two bytes, rounded up.
  EXPECT_EQ(result_.reason(),
            "needs 100 MiB (104,857,601 B), 1 B above the budget of 100 MiB "
            "(104,857,600 B); budget_bytes: 108003328 has room for it");
}

// A program that reads a file larger than any limit fills each with page cache.
TEST_F(TrialDecisionTest, NoBudgetIsNamedIfPageCacheFillsTheLimit) {
  run_.set_peak_bytes(run_.limit_bytes() - 20480);
  EXPECT_EQ(DecideMeasured(), PEAK_ABOVE_BUDGET);
  EXPECT_THAT(result_.reason(),
              AllOf(HasSubstr("page cache of files that it reads fills"),
                    HasSubstr("only 40.0 MiB"), HasSubstr("posix_fadvise"),
                    Not(HasSubstr("budget_bytes"))));
  // Memory of the process itself is no page cache.
  result_.Clear();
  run_.set_peak_resident_bytes(run_.limit_bytes() - 40960);
  EXPECT_EQ(DecideMeasured(), PEAK_ABOVE_BUDGET);
  EXPECT_THAT(result_.reason(), HasSubstr("has room for it"));
}

// A fiftieth more than 50 MiB is 51 MiB to the byte.
TEST_F(TrialDecisionTest, ABudgetOfWholeMebibytesGetsNoOther) {
  limits_.budget_bytes = 10 * kMiB;
  EXPECT_EQ(DecideMeasured(), PEAK_ABOVE_BUDGET);
  EXPECT_THAT(result_.reason(), HasSubstr("budget_bytes: 53477376 "));
}

TEST_F(TrialDecisionTest, ARunOutOfMemoryIsRejectedWithItsExcess) {
  run_.set_is_out_of_memory(true);
  run_.set_peak_bytes(264 * kMiB);
  EXPECT_EQ(DecideMeasured(), OUT_OF_MEMORY_UNDER_LIMIT);
  EXPECT_EQ(result_.excess_bytes(), 164 * kMiB);
  EXPECT_EQ(result_.reason(),
            "needs more than 264 MiB (276,824,064 B), the limit of the run "
            "that measures it; the budget is 100 MiB (104,857,600 B)");
  // A budget of one byte is valid.
  limits_.budget_bytes = 1;
  DecideMeasured();
  EXPECT_THAT(result_.reason(), HasSubstr("; the budget is 1 B"));
  limits_.budget_bytes = 0;
  DecideMeasured();
  EXPECT_EQ(result_.reason(),
            "needs more than 264 MiB (276,824,064 B), the limit of the run "
            "that measures it");
  EXPECT_EQ(result_.excess_bytes(), 0) << "there is no budget to exceed";
}

TEST_F(TrialDecisionTest, AKillBelowTheLimitIsTheHosts) {
  run_.set_is_out_of_memory(true);
  EXPECT_EQ(DecideMeasured(), HOST_OUT_OF_MEMORY);
  result_.Clear();
  // The kernel counts pages ahead, so just below the limit is at the limit.
  run_.set_peak_bytes(264 * kMiB - kMiB / 8);
  EXPECT_EQ(DecideMeasured(), OUT_OF_MEMORY_UNDER_LIMIT);
}

TEST_F(TrialDecisionTest, ALimitThatIsTheWholeHostSaysNothingOfALargerBudget) {
  limits_.budget_bytes = 2000 * kMiB;
  run_.set_limit_bytes(limits_.room_bytes);
  run_.set_peak_bytes(limits_.room_bytes);
  run_.set_limit_hit_count(1);
  EXPECT_EQ(DecideMeasured(), TRIAL_CAUSE_UNSPECIFIED) << "it succeeded";
  run_.set_exit_status(1);
  EXPECT_EQ(DecideMeasured(), HOST_OUT_OF_MEMORY);
  EXPECT_THAT(result_.reason(), HasSubstr("try it on a larger host"));
  // A budget within the host's room is judged.
  limits_.budget_bytes = 900 * kMiB;
  EXPECT_EQ(DecideMeasured(), PEAK_ABOVE_BUDGET);
}

TEST_F(TrialDecisionTest, TimeAndFailuresOfTheFirstRunAreTold) {
  run_.set_is_timed_out(true);
  EXPECT_EQ(DecideMeasured(), TIMED_OUT);
  EXPECT_THAT(result_.reason(),
              AllOf(HasSubstr("did not end in 60 s"),
                    HasSubstr("or raise time_limit_seconds")));
  run_.set_is_timed_out(false);
  run_.set_exit_status(3);
  limits_.process_limit = 77;
  EXPECT_EQ(DecideMeasured(), PROGRAM_FAILED);
  EXPECT_THAT(result_.reason(),
              HasSubstr("ended with status 3, so its peak is not known; find "
                        "out whether it fails elsewhere, too: in a trial it "
                        "has no network, at most 77 processes"));
  run_.set_exit_status(0);
  limits_.budget_bytes = 0;
  EXPECT_EQ(DecideMeasured(), NO_BUDGET);
  limits_.budget_bytes = 1;
  EXPECT_EQ(DecideMeasured(), PEAK_ABOVE_BUDGET);
}

TEST_F(TrialDecisionTest, ASecondRunThatFailsAtItsLimitNeedsMore) {
  run_.set_exit_status(1);
  run_.set_limit_hit_count(1);
  EXPECT_EQ(DecideProved(), OUT_OF_MEMORY_UNDER_LIMIT);
  EXPECT_EQ(result_.reason(),
            "under the limit of 100 MiB (104,857,600 B) the program ended with "
            "status 1");
  run_.set_limit_hit_count(0);
  EXPECT_EQ(DecideProved(), RUNS_DIFFER);
}

TEST_F(TrialDecisionTest, ThresholdsOnlyMakeItWorse) {
  result_.set_cause(FITS);
  DecideByThresholds(ACCEPT, "", &result_);
  EXPECT_EQ(result_.cause(), FITS);
  DecideByThresholds(INCONCLUSIVE, "the profile lies", &result_);
  EXPECT_EQ(result_.cause(), THRESHOLD_INCONCLUSIVE);
  EXPECT_THAT(result_.reason(), HasSubstr("INCONCLUSIVE: the profile lies"));
  result_.set_cause(FITS);
  DecideByThresholds(REJECT, "", &result_);
  EXPECT_EQ(result_.cause(), THRESHOLD_REJECTED);
  result_.set_cause(PEAK_ABOVE_BUDGET);
  DecideByThresholds(REJECT, "", &result_);
  EXPECT_EQ(result_.cause(), PEAK_ABOVE_BUDGET);
}

}  // namespace
}  // namespace footprint
