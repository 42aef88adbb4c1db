#include "footprint/gates/store/unfinished_trials.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(UnfinishedTrialsTest, OneSubmitterIsServedInOrder) {
  UnfinishedTrials trials;
  EXPECT_EQ(trials.Claim(), absl::nullopt);
  trials.Add(1, "a");
  trials.Add(2, "a");
  EXPECT_EQ(trials.CountOf("a"), 2);
  EXPECT_EQ(trials.Claim(), 1);
  EXPECT_TRUE(trials.IsRunning(1));
  EXPECT_FALSE(trials.IsRunning(2));
  EXPECT_EQ(trials.WaitingCount(), 1);
  EXPECT_EQ(trials.RunningCount(), 1);
  EXPECT_EQ(trials.CountOf("a"), 2) << "one waits, one runs";
  trials.Finish(1);
  EXPECT_EQ(trials.CountOf("a"), 1);
  EXPECT_EQ(trials.Claim(), 2);
  trials.Finish(2);
  EXPECT_EQ(trials.CountOf("a"), 0);
  EXPECT_EQ(trials.CountOf("nobody"), 0);
  EXPECT_EQ(trials.Claim(), absl::nullopt);
}

TEST(UnfinishedTrialsTest, AReleasedTrialWaitsAgainAsTheLast) {
  UnfinishedTrials trials;
  trials.Add(1, "a");
  trials.Add(2, "a");
  ASSERT_EQ(trials.Claim(), 1);
  trials.Release(1);
  EXPECT_FALSE(trials.IsRunning(1));
  EXPECT_EQ(trials.WaitingCount(), 2);
  EXPECT_EQ(trials.Claim(), 2);
  EXPECT_EQ(trials.Claim(), 1);
  // Trials that do not run are not changed.
  trials.Release(7);
  trials.Finish(7);
  EXPECT_EQ(trials.WaitingCount(), 0);
  EXPECT_EQ(trials.RunningCount(), 2);
}

TEST(UnfinishedTrialsTest,
     AHundredTrialsOfOneDelayAnothersByNoneThatIsNotRunning) {
  UnfinishedTrials trials;
  for (int i = 1; i <= 100; ++i) trials.Add(i, "many");
  ASSERT_EQ(trials.Claim(), 1);
  trials.Add(101, "one");
  EXPECT_EQ(trials.Claim(), 101);
}

TEST(UnfinishedTrialsTest, WhoSubmitsOneAtATimeGainsNothing) {
  UnfinishedTrials trials;
  for (int i = 1; i <= 10; ++i) trials.Add(i, "many");
  int64_t sequence = 100;
  trials.Add(sequence, "one");
  int turns_of_many = 0;
  for (int turn = 0; turn < 10; ++turn) {
    const absl::optional<int64_t> claimed = trials.Claim();
    ASSERT_TRUE(claimed.has_value());
    trials.Finish(*claimed);
    if (*claimed < 100) {
      ++turns_of_many;
    } else {
      trials.Add(++sequence, "one");
    }
  }
  EXPECT_EQ(turns_of_many, 5);
}

// The naive oracle: whose last turn is the longest ago, by a search of all
// trials and all turns.
struct NaiveTrials {
  std::vector<std::pair<int64_t, std::string>> waiting;
  std::vector<std::string> turns;

  int64_t LastTurn(const std::string& submitter) const {
    for (size_t i = turns.size(); i > 0; --i) {
      if (turns[i - 1] == submitter) return static_cast<int64_t>(i);
    }
    return 0;
  }
  bool HasWaiting(const std::string& submitter) const {
    return std::any_of(waiting.begin(), waiting.end(), [&](const auto& trial) {
      return trial.second == submitter;
    });
  }
  absl::optional<int64_t> Claim() {
    if (waiting.empty()) return absl::nullopt;
    size_t next = 0;
    for (size_t i = 1; i < waiting.size(); ++i) {
      if (LastTurn(waiting[i].second) < LastTurn(waiting[next].second)) {
        next = i;
      }
    }
    const int64_t sequence = waiting[next].first;
    turns.push_back(waiting[next].second);
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(next));
    return sequence;
  }
};

TEST(UnfinishedTrialsTest, ChoosesAsTheNaiveSearchAndKeepsItsBound) {
  std::mt19937 random(20261129);
  for (int round = 0; round < 200; ++round) {
    UnfinishedTrials trials;
    NaiveTrials naive;
    std::map<int64_t, std::string> submitter_of;
    // By submitter who waits: the turns of each other one since the last own
    // turn, or since the submitter began to wait.
    std::map<std::string, std::map<std::string, int>> turns_since;
    int64_t sequence = 0;
    for (int step = 0; step < 120; ++step) {
      if (random() % 2 == 0) {
        const std::string submitter = absl::StrCat("s", random() % 5);
        submitter_of[++sequence] = submitter;
        turns_since[submitter];
        trials.Add(sequence, submitter);
        naive.waiting.emplace_back(sequence, submitter);
        continue;
      }
      const absl::optional<int64_t> claimed = trials.Claim();
      ASSERT_EQ(claimed, naive.Claim());
      if (!claimed.has_value()) continue;
      const std::string& served = submitter_of[*claimed];
      turns_since[served].clear();
      for (auto& [waiter, turns] : turns_since) {
        if (waiter == served) continue;
        if (naive.HasWaiting(waiter)) {
          EXPECT_LE(++turns[served], 1)
              << waiter << " waits while " << served << " is served again";
        } else {
          turns.clear();
        }
      }
      if (random() % 3 == 0) {
        trials.Release(*claimed);
        naive.waiting.emplace_back(*claimed, served);
      } else {
        trials.Finish(*claimed);
      }
      EXPECT_EQ(trials.WaitingCount(),
                static_cast<int64_t>(naive.waiting.size()));
    }
  }
}

}  // namespace
}  // namespace footprint
