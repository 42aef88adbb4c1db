#include "footprint/trainer_manager/execution/plan_search.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/math/highway_backend.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "footprint/trainer_manager/networks/assign_groups.h"
#include "footprint/trainer_manager/networks/random_network.h"
#include "footprint/trainer_manager/networks/reference_networks.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int64_t kNoBudget = std::numeric_limits<int64_t>::max();

ExecutionPlan Search(const Network& network, int64_t budget_bytes,
                     bool may_swap, int optimizer_states = 1) {
  const auto resolved =
      ResolveNetwork(network, NetworkMode::kTraining, ReferenceMath(), true);
  EXPECT_THAT(resolved, IsOk());
  MemoryOptions options;
  options.budget_bytes = budget_bytes;
  const auto plan = PlanSearch(*resolved, ReferenceMath(), options,
                               optimizer_states, may_swap)
                        .Run();
  EXPECT_THAT(plan, IsOk());
  return *plan;
}

int64_t SwapSteps(const ExecutionPlan& plan) {
  int64_t steps = 0;
  for (const PlannedStep& step : plan.steps) {
    steps += step.kind == StepKind::kSwapIn;
  }
  return steps;
}

// The budget that an error names as the lowest can be met, and so can the size
// of every plan.
TEST(PlanSearchTest, TheLowestThatIsFoundIsMet) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    const Network network = RandomNetwork(seed);
    for (const bool may_swap : {false, true}) {
      const int64_t lowest = Search(network, 0, may_swap).planned_bytes();
      int64_t budget = Search(network, kNoBudget, may_swap).planned_bytes();
      EXPECT_LE(lowest, budget);
      while (budget > lowest) {
        const ExecutionPlan plan = Search(network, budget, may_swap);
        const int64_t bytes = plan.planned_bytes();
        EXPECT_LE(bytes, budget) << seed;
        EXPECT_LE(Search(network, bytes, may_swap).planned_bytes(), bytes)
            << seed;
        budget = bytes - bytes / 8;
      }
      EXPECT_LE(Search(network, lowest, may_swap).planned_bytes(), lowest)
          << "seed " << seed << " swap " << may_swap;
      EXPECT_GT(Search(network, lowest - 1, may_swap).planned_bytes(),
                lowest - 1)
          << "seed " << seed << " swap " << may_swap;
    }
  }
}

TEST(PlanSearchTest, WithoutABudgetNothingCostsAnything) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const ExecutionPlan plan = Search(RandomNetwork(seed), kNoBudget, true);
    EXPECT_EQ(plan.swap_file_bytes, 0);
    for (const PlannedStep& step : plan.steps) {
      if (step.kind != StepKind::kRecompute) continue;
      EXPECT_EQ(plan.network->layers[step.layer].signature.recompute_products,
                0);
    }
  }
}

TEST(PlanSearchTest, SwappingGoesBelowCalculatingAgain) {
  int lower = 0;
  for (uint32_t seed = 0; seed < 12; ++seed) {
    const Network network = RandomNetwork(seed);
    const ExecutionPlan again = Search(network, 0, false);
    const ExecutionPlan swapped = Search(network, 0, true);
    EXPECT_LE(swapped.planned_bytes(), again.planned_bytes());
    EXPECT_EQ(SwapSteps(again), 0);
    lower += swapped.planned_bytes() < again.planned_bytes();
    // A plan that meets its budget without the file does not use it.
    EXPECT_EQ(SwapSteps(Search(network, again.planned_bytes(), true)), 0);
  }
  EXPECT_GT(lower, 2);
}

double ProductsAgain(const ExecutionPlan& plan) {
  double products = 0;
  for (const PlannedStep& step : plan.steps) {
    if (step.kind == StepKind::kRecompute) {
      products += plan.network->layers[step.layer].signature.recompute_products;
    }
  }
  return products;
}

// The path of this network first drops a pooling, and later drops that make it
// needless.
TEST(PlanSearchTest, WhatNeedNotGoComesBack) {
  const Network network = RandomImageNetwork(227);
  const int64_t free = Search(network, kNoBudget, false, 0).planned_bytes();
  const ExecutionPlan less = Search(network, 87155, false, 0);
  EXPECT_GT(free, 87155);
  EXPECT_LE(less.planned_bytes(), 87155);
  EXPECT_EQ(ProductsAgain(less), 0);
  EXPECT_GT(ProductsAgain(Search(network, 0, false, 0)), 0);
}

// Several steps may need equally much, so the path also swaps while the bound
// stays equal.
TEST(PlanSearchTest, WhatNeedNotBeSwappedIsNot) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    const Network network = RandomNetwork(seed);
    const ExecutionPlan lowest = Search(network, 0, true);
    const ExecutionPlan met = Search(network, lowest.planned_bytes(), true);
    EXPECT_LE(met.planned_bytes(), lowest.planned_bytes());
    EXPECT_LE(SwapSteps(met), SwapSteps(lowest));
  }
}

// Wide frozen layers over few rows, so that weights are larger than outputs,
// and than the trained layer before them.
Network FrozenTower() {
  Network network;
  network.AddInput("x", {{4, 4}});
  std::string last = "x";
  for (int i = 0; i < 8; ++i) {
    const std::string wide = absl::StrCat("wide", i);
    network.AddLayer(wide, FullyConnected(64), {last});
    last = absl::StrCat("gelu", i);
    network.AddLayer(last, Gelu(), {wide});
  }
  network.AddLayer("loss", MeanSquaredError(), {last});
  for (int i = 1; i < 8; ++i) network.Freeze(absl::StrCat("wide", i, ".*"));
  return network;
}

// Plans the tower with its frozen weights in their file.
ExecutionPlan SearchTower(const MathBackend& math, int64_t budget_bytes,
                          bool may_swap) {
  auto network = *ResolveNetwork(FrozenTower(), NetworkMode::kTraining, math,
                                 /*pack_winners=*/true);
  EXPECT_THAT(AssignGroups(math, true, &network), IsOk());
  MemoryOptions options;
  options.read_frozen_weights = true;
  options.budget_bytes = budget_bytes;
  const auto plan = PlanSearch(network, math, options, 0, may_swap).Run();
  EXPECT_THAT(plan, IsOk());
  return *plan;
}

// Returns the most columns that a tile of the plan's matrices has, or 0 if no
// step runs by tiles.
int64_t WidestTile(const ExecutionPlan& plan) {
  int64_t widest = 0;
  for (const PlannedStep& step : plan.steps) {
    widest = std::max(widest, TileColumns(plan, step));
  }
  return widest;
}

// Plain loops may sum any number of columns.
TEST(PlanSearchTest, TilesComeBeforeSwappingAndGrowWithTheBudget) {
  const ExecutionPlan whole = SearchTower(ReferenceMath(), kNoBudget, true);
  const ExecutionPlan lowest = SearchTower(ReferenceMath(), 0, true);
  EXPECT_EQ(WidestTile(whole), 0);
  EXPECT_GT(WidestTile(lowest), 0);
  EXPECT_LT(lowest.planned_bytes(), whole.planned_bytes());
  for (int64_t budget = lowest.planned_bytes(); budget < whole.planned_bytes();
       budget += 256) {
    const ExecutionPlan plan = SearchTower(ReferenceMath(), budget, true);
    EXPECT_LE(plan.planned_bytes(), budget);
    EXPECT_GT(WidestTile(plan), 0);
    // Tiles read each matrix as often as whole matrices are read.
    EXPECT_LE(plan.weight_bytes_read_per_iteration(),
              whole.weight_bytes_read_per_iteration());
  }
  // A little less than whole matrices need is no reason for anything but tiles.
  const ExecutionPlan less =
      SearchTower(ReferenceMath(), whole.planned_bytes() - 1, true);
  EXPECT_EQ(SwapSteps(less), 0);
  EXPECT_EQ(less.recompute_products(), 0);
  EXPECT_GT(WidestTile(less), WidestTile(lowest));
}

// Each weight is read at most for the forward step and for the derivative, and
// never to recompute an output. 64 columns are too few for a tile.
TEST(PlanSearchTest, SwappingComesBeforeReadingWeightsAgain) {
  const auto search = [&](int64_t budget_bytes, bool may_swap) {
    return SearchTower(HighwayBackend(), budget_bytes, may_swap);
  };
  const ExecutionPlan without = search(kNoBudget, true);
  const int64_t most_read = without.weight_bytes_read_per_iteration();
  EXPECT_EQ(SwapSteps(without), 0);
  const ExecutionPlan lowest = search(0, true);
  EXPECT_LT(lowest.planned_bytes(), without.planned_bytes());
  EXPECT_GT(SwapSteps(lowest), 0);
  for (int64_t budget = lowest.planned_bytes();
       budget < without.planned_bytes(); budget += 512) {
    const ExecutionPlan plan = search(budget, true);
    EXPECT_LE(plan.planned_bytes(), budget);
    EXPECT_LE(plan.weight_bytes_read_per_iteration(), most_read);
  }
  const ExecutionPlan again = search(0, false);
  EXPECT_EQ(SwapSteps(again), 0);
  EXPECT_GT(again.weight_bytes_read_per_iteration(), most_read);
  EXPECT_LE(lowest.planned_bytes(), again.planned_bytes());
}

}  // namespace
}  // namespace footprint
