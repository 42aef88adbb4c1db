#include "footprint/trainer_manager/execution/choice_bound.h"

#include <cstdint>
#include <vector>

#include "footprint/base/random/random_sequence.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/execution/recomputation.h"
#include "footprint/trainer_manager/networks/random_network.h"
#include "footprint/trainer_manager/networks/reference_networks.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// Draws each layer with a probability that is drawn first, so that some choices
// contain nearly all layers and some nearly none.
std::vector<size_t> Draw(const std::vector<size_t>& layers,
                         RandomSequence* random) {
  const uint64_t share = random->Below(5);
  std::vector<size_t> drawn;
  for (const size_t l : layers) {
    if (random->Below(4) < share) drawn.push_back(l);
  }
  return drawn;
}

TEST(ChoiceBoundTest, NoChoicesAreBoundedLower) {
  RandomSequence random(1);
  int met = 0;
  for (uint32_t seed = 0; seed < 80; ++seed) {
    const auto network =
        ResolveNetwork(RandomNetwork(seed), NetworkMode::kTraining);
    ASSERT_THAT(network, IsOk());
    MemoryOptions options;
    options.recompute_outputs = seed % 3 > 0;
    options.restore_pooled = seed % 5 > 0;
    options.atomic_steps = seed % 7 == 0;
    const PlanBuilder builder(*network, ReferenceMath(), options, 1);
    const auto bound = BoundAllChoices(builder);
    ASSERT_THAT(bound, IsOk());
    std::vector<size_t> droppable;
    std::vector<size_t> sliceable;
    for (size_t l = 0; l < network->layers.size(); ++l) {
      if (CanRecompute(*network, l)) droppable.push_back(l);
      if (CanSlice(*network, l) || CanSliceSum(*network, l)) {
        sliceable.push_back(l);
      }
    }
    for (int i = 0; i < 100; ++i) {
      StepChoices choices;
      choices.sliced = Draw(sliceable, &random);
      choices.dropped = Draw(droppable, &random);
      choices.forgotten = Draw(droppable, &random);
      if (i % 2 == 0) choices.swapped = Draw(droppable, &random);
      const auto plan = builder.Bound(choices);
      ASSERT_THAT(plan, IsOk());
      EXPECT_GE(plan->bound_bytes(), *bound) << seed;
      met += plan->bound_bytes() == *bound;
    }
  }
  EXPECT_GT(met, 0);
}

// The network has 13 inputs, 50 and 50 units and one output, for 4 rows. The
// largest step calculates the second layer's gradient; it holds weights, inputs
// and label, and the derivative, input and gradient of that layer.
TEST(ChoiceBoundTest, IsTheLargestStepOfAChain) {
  const auto network = ResolveNetwork(TabularMlp(4), NetworkMode::kTraining);
  ASSERT_THAT(network, IsOk());
  const MemoryOptions options;
  const auto bound =
      BoundAllChoices(PlanBuilder(*network, ReferenceMath(), options, 0));
  ASSERT_THAT(bound, IsOk());
  const int64_t weights = 13 * 50 + 50 + 50 * 50 + 50 + 50 + 1;
  const int64_t fixed = 4 * 13 + 4 + 1;  // and the loss
  const int64_t step = 50 * 50 + 50 + 2 * 4 * 50;
  // Gaps for the alignment come on top.
  EXPECT_NEAR(*bound, (weights + fixed + step) * 4, 6 * 16);
}

}  // namespace
}  // namespace footprint
