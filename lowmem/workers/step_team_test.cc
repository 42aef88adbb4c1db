#include "footprint/lowmem/workers/step_team.h"

#include <atomic>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(StepTeamTest, RunsStepsInOrderOnEveryWorker) {
  StepTeam team(3);
  std::atomic<int> first{0};
  std::atomic<int> seen{0};
  const absl::Status status = team.Run([&](int) {
    team.RunPhase([&] {
      ++first;
      return absl::OkStatus();
    });
    team.RunPhase([&] {
      seen += first;
      return absl::OkStatus();
    });
  });
  EXPECT_THAT(status, IsOk());
  EXPECT_EQ(seen, 9);
}

TEST(StepTeamTest, BeginsNoStepAfterAFailureAndRunsAgain) {
  StepTeam team(3);
  for (int run = 0; run < 20; ++run) {
    std::atomic<int> later{0};
    const absl::Status status = team.Run([&](int worker) {
      team.RunPhase([&] {
        return worker == 1 ? absl::DataLossError("lost") : absl::OkStatus();
      });
      team.RunPhase([&] {
        ++later;
        return absl::OkStatus();
      });
    });
    EXPECT_EQ(status, absl::DataLossError("lost"));
    EXPECT_EQ(later, 0);
    EXPECT_THAT(
        team.Run([&](int) { team.RunPhase([] { return absl::OkStatus(); }); }),
        IsOk());
  }
}

TEST(ShareOfTest, DealsEverythingOnceInWholeUnits) {
  for (const int64_t count : {0, 1, 15, 16, 17, 1000}) {
    for (const int64_t unit : {1, 16, 64}) {
      for (const int workers : {1, 2, 3, 7}) {
        int64_t end = 0;
        for (int worker = 0; worker < workers; ++worker) {
          const IndexRange share = ComputeShare(count, unit, worker, workers);
          EXPECT_EQ(share.begin, end);
          EXPECT_GE(share.size(), 0);
          EXPECT_TRUE(share.begin % unit == 0 || share.size() == 0);
          end = share.end;
        }
        EXPECT_EQ(end, count);
      }
    }
  }
  // The last of three workers gets the two of four units that remain.
  EXPECT_EQ(ComputeShare(128, 32, 0, 3).size(), 32);
  EXPECT_EQ(ComputeShare(128, 32, 1, 3).size(), 32);
  EXPECT_EQ(ComputeShare(128, 32, 2, 3).size(), 64);
}

}  // namespace
}  // namespace footprint
