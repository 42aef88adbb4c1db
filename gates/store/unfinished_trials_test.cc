#include "footprint/gates/store/unfinished_trials.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
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

TEST(UnfinishedTrialsTest, WhoJoinsDoesNotWaitBehindTheOthersOfTheFirst) {
  UnfinishedTrials trials;
  for (int i = 1; i <= 100; ++i) trials.Add(i, "many");
  ASSERT_EQ(trials.Claim(), 1);
  trials.Join(100, "one");
  EXPECT_EQ(trials.WaitingCount(), 99) << "it is the same trial";
  EXPECT_EQ(trials.CountOf("one"), 0) << "the first one's limit counts it";
  EXPECT_EQ(trials.Claim(), 100);
  EXPECT_EQ(trials.CountOf("many"), 100);
  // The turn was that of the one who joined.
  EXPECT_EQ(trials.Claim(), 2);
  // A released trial waits for both again, and runs once.
  trials.Release(100);
  EXPECT_EQ(trials.WaitingCount(), 98);
  EXPECT_EQ(trials.Claim(), 100);
  trials.Finish(100);
  EXPECT_EQ(trials.Claim(), 3);
  EXPECT_EQ(trials.CountOf("many"), 99);
}

TEST(UnfinishedTrialsTest, OnlyAWaitingTrialIsJoinedAndOnlyOnce) {
  UnfinishedTrials trials;
  trials.Join(7, "one");
  EXPECT_EQ(trials.WaitingCount(), 0);
  trials.Add(1, "a");
  trials.Add(2, "a");
  trials.Join(1, "a");
  trials.Join(1, "b");
  trials.Join(1, "b");
  EXPECT_EQ(trials.WaitingCount(), 2);
  ASSERT_EQ(trials.Claim(), 1);
  trials.Join(1, "c");
  EXPECT_EQ(trials.Claim(), 2);
  EXPECT_EQ(trials.Claim(), absl::nullopt);
  trials.Release(1);
  EXPECT_EQ(trials.Claim(), 1);
  EXPECT_EQ(trials.Claim(), absl::nullopt);
}

// The naive oracle: whose last turn is the longest ago, by a search of all
// trials and all turns.
struct NaiveTrials {
  // For each submitter of a trial, one pair.
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
  int64_t WaitingCount() const {
    std::set<int64_t> sequences;
    for (const auto& trial : waiting) sequences.insert(trial.first);
    return static_cast<int64_t>(sequences.size());
  }
  // Returns the next trial and whose turn it takes, and removes the trial.
  absl::optional<std::pair<int64_t, std::string>> Claim() {
    if (waiting.empty()) return absl::nullopt;
    // The first waiting trial of each submitter.
    std::map<std::string, int64_t> firsts;
    for (const auto& trial : waiting) firsts.emplace(trial.second, trial.first);
    std::pair<std::string, int64_t> next = *firsts.begin();
    for (const auto& each : firsts) {
      if (std::make_pair(LastTurn(each.first), each.second) <
          std::make_pair(LastTurn(next.first), next.second)) {
        next = each;
      }
    }
    turns.push_back(next.first);
    waiting.erase(std::remove_if(waiting.begin(), waiting.end(),
                                 [&](const auto& trial) {
                                   return trial.first == next.second;
                                 }),
                  waiting.end());
    return std::make_pair(next.second, next.first);
  }
};

TEST(UnfinishedTrialsTest, ChoosesAsTheNaiveSearchAndKeepsItsBound) {
  std::mt19937 random(20261129);
  for (int round = 0; round < 200; ++round) {
    UnfinishedTrials trials;
    NaiveTrials naive;
    std::map<int64_t, std::vector<std::string>> submitters_of;
    // By submitter who waits: the turns of each other one since the last own
    // turn, or since the submitter began to wait.
    std::map<std::string, std::map<std::string, int>> turns_since;
    int64_t sequence = 0;
    for (int step = 0; step < 120; ++step) {
      const uint32_t choice = random() % 5;
      const std::string submitter = absl::StrCat("s", random() % 5);
      if (choice < 2) {
        submitters_of[++sequence] = {submitter};
        turns_since[submitter];
        trials.Add(sequence, submitter);
        naive.waiting.emplace_back(sequence, submitter);
        continue;
      }
      if (choice == 2 && !naive.waiting.empty()) {
        const int64_t joined =
            naive.waiting[random() % naive.waiting.size()].first;
        std::vector<std::string>& all = submitters_of[joined];
        trials.Join(joined, submitter);
        if (std::find(all.begin(), all.end(), submitter) == all.end()) {
          all.push_back(submitter);
          turns_since[submitter];
          naive.waiting.emplace_back(joined, submitter);
        }
        EXPECT_EQ(trials.WaitingCount(), naive.WaitingCount());
        continue;
      }
      const absl::optional<int64_t> claimed = trials.Claim();
      const auto wanted = naive.Claim();
      ASSERT_EQ(claimed.has_value(), wanted.has_value());
      if (!claimed.has_value()) continue;
      ASSERT_EQ(*claimed, wanted->first);
      const std::string& served = wanted->second;
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
        for (const std::string& each : submitters_of[*claimed]) {
          naive.waiting.emplace_back(*claimed, each);
        }
      } else {
        trials.Finish(*claimed);
      }
      EXPECT_EQ(trials.WaitingCount(), naive.WaitingCount());
    }
  }
}

}  // namespace
}  // namespace footprint
