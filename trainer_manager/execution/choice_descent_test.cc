#include "footprint/trainer_manager/execution/choice_descent.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/networks/random_network.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int kOptimizerStates = 1;

// A network, and the descent that starts from choices that change nothing.
class Descent {
 public:
  Descent(const Network& network, const MemoryOptions& options)
      : resolved_(*ResolveNetwork(network, NetworkMode::kTraining)),
        options_(options),
        builder_(resolved_, ReferenceMath(), options_, kOptimizerStates) {}

  const PlanBuilder& builder() const { return builder_; }

  // Returns the visited choices until the visitor ended the search or failed;
  // at most `most`.
  std::vector<BoundedChoices> Run(
      bool may_swap, size_t most = std::numeric_limits<size_t>::max(),
      int64_t tile_bytes = StepChoices().tile_bytes) {
    std::vector<BoundedChoices> visited;
    StepChoices first;
    first.tile_bytes = tile_bytes;
    const absl::StatusOr<BoundedGraph> start = builder_.Bound(first);
    EXPECT_THAT(start, IsOk());
    EXPECT_THAT(ChoiceDescent(builder_, may_swap)
                    .Run({first, start->bound_bytes()},
                         [&](const BoundedChoices& lower) {
                           visited.push_back(lower);
                           return visited.size() == most;
                         }),
                IsOk());
    return visited;
  }

 private:
  const ResolvedNetwork resolved_;
  const MemoryOptions options_;
  const PlanBuilder builder_;
};

TEST(ChoiceDescentTest, VisitsWhatIsBoundedLowerThanAllBefore) {
  size_t visits = 0;
  for (uint32_t seed = 0; seed < 12; ++seed) {
    Descent descent(RandomNetwork(seed), {});
    int64_t lowest = descent.builder().Bound({})->bound_bytes();
    for (const BoundedChoices& lower : descent.Run(/*may_swap=*/true)) {
      EXPECT_LT(lower.bound_bytes, lowest);
      lowest = lower.bound_bytes;
      const auto plan = descent.builder().Bound(lower.choices);
      ASSERT_THAT(plan, IsOk());
      EXPECT_EQ(plan->bound_bytes(), lowest);
      ++visits;
    }
  }
  EXPECT_GT(visits, 30u);
}

TEST(ChoiceDescentTest, KeepsTheTilesOfItsStart) {
  size_t visits = 0;
  for (uint32_t seed = 0; seed < 12; ++seed) {
    Descent descent(RandomNetwork(seed), {});
    for (const BoundedChoices& lower :
         descent.Run(/*may_swap=*/false, 1000, /*tile_bytes=*/77)) {
      EXPECT_EQ(lower.choices.tile_bytes, 77);
      ++visits;
    }
  }
  EXPECT_GT(visits, 10u);
}

bool IsInBoth(const std::vector<size_t>& some,
              const std::vector<size_t>& others) {
  return std::any_of(some.begin(), some.end(), [&](size_t layer) {
    return std::find(others.begin(), others.end(), layer) != others.end();
  });
}

TEST(ChoiceDescentTest, AnOutputIsSwappedOrCalculatedAgainNotBoth) {
  size_t swapped = 0;
  for (uint32_t seed = 0; seed < 12; ++seed) {
    for (const auto& lower : Descent(RandomNetwork(seed), {}).Run(true)) {
      swapped += lower.choices.swapped.size();
      EXPECT_FALSE(IsInBoth(lower.choices.swapped, lower.choices.dropped))
          << seed;
    }
  }
  EXPECT_GT(swapped, 0u);
}

TEST(ChoiceDescentTest, EndsWhereTheVisitorHasFound) {
  Descent descent(RandomNetwork(3), {});
  const size_t all = descent.Run(false).size();
  ASSERT_GT(all, 2u);
  EXPECT_EQ(descent.Run(false, 1).size(), 1u);
  EXPECT_EQ(descent.Run(false, all - 1).size(), all - 1);
}

TEST(ChoiceDescentTest, PassesOnAVisitorsError) {
  Descent descent(RandomNetwork(3), {});
  EXPECT_THAT(ChoiceDescent(descent.builder(), false)
                  .Run({{}, std::numeric_limits<int64_t>::max()},
                       [](const BoundedChoices&) -> absl::StatusOr<bool> {
                         return absl::DataLossError("visited");
                       }),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST(ChoiceDescentTest, ChoosesWhatIsAllowedAlone) {
  size_t swapped = 0;
  size_t sliced = 0;
  for (uint32_t seed = 0; seed < 6; ++seed) {
    MemoryOptions options;
    for (const BoundedChoices& lower :
         Descent(RandomNetwork(seed), options).Run(/*may_swap=*/false)) {
      EXPECT_TRUE(lower.choices.swapped.empty()) << seed;
      sliced += lower.choices.sliced.size();
    }
    options.reuse_workspaces = false;
    for (const BoundedChoices& lower :
         Descent(RandomNetwork(seed), options).Run(/*may_swap=*/true)) {
      EXPECT_TRUE(lower.choices.sliced.empty()) << seed;
      swapped += lower.choices.swapped.size();
    }
    options.share_edges = false;
    EXPECT_TRUE(Descent(RandomNetwork(seed), options).Run(true).empty());
  }
  EXPECT_GT(swapped, 0u);
  EXPECT_GT(sliced, 0u);
}

// The bound of the lowest choices, without and with the file.
struct Lowest {
  int64_t bytes;
  int64_t bytes_with_file;
};

Lowest DescendTo(uint32_t seed) {
  Descent descent(RandomNetwork(seed), {});
  const int64_t start = descent.builder().Bound({})->bound_bytes();
  const std::vector<BoundedChoices> visited = descent.Run(false);
  const std::vector<BoundedChoices> swapped = descent.Run(true);
  return {visited.empty() ? start : visited.back().bound_bytes,
          swapped.empty() ? start : swapped.back().bound_bytes};
}

// One entry for each seed. Update it when a bound gets lower.
constexpr Lowest kLowest[] = {
    {1956, 1956}, {20088, 20088}, {11264, 10704}, {340476, 275196},
    {436, 436},   {40888, 40888}, {26848, 23328}, {128548, 116020},
    {1428, 1428}, {52108, 52108}, {20568, 20568}, {187004, 168828},
    {1332, 1332}, {70328, 70328}, {23656, 23656}, {14188, 13740},
    {540, 540},   {77052, 77052}, {27352, 27352}, {97684, 92068}};

// A weaker search would end above these recorded bounds.
TEST(ChoiceDescentTest, EndsAsLowAsItDid) {
  uint32_t seed = 0;
  for (const Lowest& recorded : kLowest) {
    const Lowest now = DescendTo(seed);
    const std::string line = absl::StrCat("seed ", seed, " is now {", now.bytes,
                                          ", ", now.bytes_with_file, "}");
    EXPECT_LE(now.bytes, recorded.bytes) << line;
    EXPECT_LE(now.bytes_with_file, recorded.bytes_with_file) << line;
    ++seed;
  }
}

// Trying each change of one point would take more steps than the limit; trying
// the starts does not.
TEST(ChoiceDescentTest, ALargeNetworkComesToAThirdAndWithAFileToAFifth) {
  Descent descent(AttentionClassifier(24), {});
  const int64_t start = descent.builder().Bound({})->bound_bytes();
  const std::vector<BoundedChoices> visited = descent.Run(false);
  ASSERT_FALSE(visited.empty());
  EXPECT_LE(visited.back().bound_bytes, start * 36 / 100);
  const std::vector<BoundedChoices> swapped = descent.Run(true);
  ASSERT_FALSE(swapped.empty());
  EXPECT_LE(swapped.back().bound_bytes, start * 22 / 100);
}

}  // namespace
}  // namespace footprint
