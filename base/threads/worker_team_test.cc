#include "footprint/base/threads/worker_team.h"

#include <atomic>
#include <cstdlib>
#include <vector>

#include "footprint/base/files/refuse_system_call.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(WorkerTeamTest, RunsTheJobOnceOnEveryWorker) {
  for (const int workers : {1, 2, 5}) {
    WorkerTeam team(workers);
    ASSERT_EQ(team.size(), workers);
    for (int run = 0; run < 10; ++run) {
      std::vector<int> calls(workers);
      team.Run([&](int worker) { ++calls[worker]; });
      EXPECT_EQ(calls, std::vector<int>(workers, 1));
    }
  }
}

TEST(WorkerTeamDeathTest, IsSmallerWhereNoThreadStarts) {
  const auto run = [] {
    if (!RefuseThreads()) std::_Exit(3);
    WorkerTeam team(4);
    int calls = 0;
    team.Run([&](int) {
      ++calls;
      team.ArriveAndWait();
    });
    std::_Exit(team.size() == 1 && calls == 1 ? 0 : 4);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

TEST(WorkerTeamTest, NobodyPassesAMeetingBeforeEverybodyCame) {
  const int workers = 4;
  WorkerTeam team(workers);
  std::atomic<int> came{0};
  std::atomic<int> faults{0};
  for (int run = 0; run < 4; ++run) {
    came = 0;
    team.Run([&](int) {
      for (int phase = 1; phase <= 30; ++phase) {
        ++came;
        team.ArriveAndWait();
        if (came.load() < phase * workers) ++faults;
        team.ArriveAndWait();
      }
    });
  }
  EXPECT_EQ(faults.load(), 0);
}

TEST(WorkerTeamTest, ShowsWhatOthersWroteBeforeTheMeeting) {
  const int workers = 3;
  WorkerTeam team(workers);
  std::vector<int> value(workers);
  std::atomic<int> faults{0};
  team.Run([&](int worker) {
    for (int step = 1; step <= 60; ++step) {
      value[worker] = step;
      team.ArriveAndWait();
      for (const int seen : value) {
        if (seen != step) ++faults;
      }
      team.ArriveAndWait();
    }
  });
  EXPECT_EQ(faults.load(), 0);
}

}  // namespace
}  // namespace footprint
