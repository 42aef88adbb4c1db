#include "footprint/trainer_manager/execution/weight_reads.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/execution/execution_plan.h"
#include "footprint/trainer_manager/execution/refused_budget.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/networks/random_network.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// Layers of 64 units: a trained one, then frozen ones. The weights of each
// take 64 * 64 * 4 + 64 * 4 bytes, and its output 4 * 64 * 4.
constexpr int64_t kWeightBytes = 64 * 64 * 4;
constexpr int64_t kBiasBytes = 64 * 4;
constexpr int64_t kOutputBytes = 4 * 64 * 4;
constexpr int kFrozen = 5;

Network Tower() {
  Network network;
  network.AddInput("x", {{4, 64}});
  network.AddLayer("trained", FullyConnected(64), {"x"});
  std::string last = "trained";
  for (int i = 0; i < kFrozen; ++i) {
    const std::string name = absl::StrCat("frozen", i);
    network.AddLayer(name, FullyConnected(64), {last});
    last = name;
  }
  network.AddLayer("loss", MeanSquaredError(), {last});
  network.Freeze("frozen*");
  return network;
}

ExecutionPlan Plan(const Network& network, int64_t budget_bytes,
                   NetworkMode mode = NetworkMode::kTraining) {
  MemoryOptions options;
  options.read_frozen_weights = true;
  options.swap_to_file = true;
  if (budget_bytes > 0) options.budget_bytes = budget_bytes;
  const auto plan = PlanExecution(network, mode, options, 0, ReferenceMath());
  EXPECT_THAT(plan, IsOk());
  return *plan;
}

TEST(WeightReadsTest, BothPassesReadWhatDoesNotStay) {
  const ExecutionPlan plan = Plan(Tower(), 0);
  // The gradient of the trained layer needs room for a weight of its size, and
  // a forward step for a weight, a bias, its input and its output.
  ASSERT_EQ(plan.arena_bytes, kWeightBytes + kBiasBytes + 2 * kOutputBytes);
  const int64_t forward = kFrozen * (kWeightBytes + kBiasBytes);
  const int64_t backward = kFrozen * kWeightBytes;
  EXPECT_EQ(plan.weight_bytes_read_per_iteration(), forward + backward);
  // The last forward step's weights can stay for the backward pass. At its end
  // the gradient and a derivative leave room for one more output.
  const int64_t kept = kWeightBytes + kBiasBytes + kOutputBytes;
  EXPECT_EQ(LeastWeightBytesRead(plan), forward + backward - kept);
}

// The budget that the plan met before keeps as many weights as have room.
TEST(WeightReadsTest, ABudgetKeepsWeightsInMemory) {
  const Network network = Tower();
  const ExecutionPlan lowest = Plan(network, 0);
  int64_t last = lowest.weight_bytes_read_per_iteration();
  for (int layers = 1; layers <= kFrozen; ++layers) {
    const int64_t budget =
        lowest.planned_bytes() + (layers - 1) * (kWeightBytes + kBiasBytes);
    const ExecutionPlan plan = Plan(network, budget);
    EXPECT_LE(plan.planned_bytes(), budget);
    const int64_t read = plan.weight_bytes_read_per_iteration();
    EXPECT_EQ(read, last - kWeightBytes) << layers;
    EXPECT_LE(LeastWeightBytesRead(plan), read);
    last = read;
  }
}

// A tile is a part of what a step reads. No more than the arena holds stays, in
// between the passes and from one iteration to the next.
TEST(WeightReadsTest, APlanWithTilesReadsWholeMatrices) {
  MemoryOptions options;
  options.read_frozen_weights = true;
  options.budget_bytes = 1;
  const auto plan = [&options] {
    return PlanExecution(Tower(), NetworkMode::kTraining, options, 0,
                         ReferenceMath());
  };
  options.budget_bytes = LeastBudgetNamed(plan().status());
  const auto lowest = plan();
  ASSERT_THAT(lowest, IsOk());
  EXPECT_LT(lowest->arena_bytes, kWeightBytes + 4 * kOutputBytes);
  const int64_t read = kFrozen * (2 * kWeightBytes + kBiasBytes);
  EXPECT_EQ(lowest->weight_bytes_read_per_iteration(), read);
  EXPECT_LE(LeastWeightBytesRead(*lowest), read);
  EXPECT_GE(LeastWeightBytesRead(*lowest), read - 2 * lowest->arena_bytes);
}

// The weights of the trained layer are parameters.
TEST(WeightReadsTest, AnInferenceReadsEachFrozenWeightOnce) {
  const ExecutionPlan plan = Plan(Tower(), 0, NetworkMode::kInference);
  const int64_t layer = kWeightBytes + kBiasBytes;
  EXPECT_EQ(plan.weight_bytes_read_per_iteration(), kFrozen * layer);
  EXPECT_EQ(LeastWeightBytesRead(plan), (kFrozen - 1) * layer);
}

TEST(WeightReadsTest, NoPlanReadsLess) {
  int kept = 0;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Network network = RandomNetwork(seed);
    const auto resolved = ResolveNetwork(network, NetworkMode::kTraining);
    ASSERT_THAT(resolved, IsOk());
    bool trains = false;
    for (size_t l = 0; l < resolved->layers.size(); ++l) {
      const ResolvedNetwork::ResolvedLayer& layer = resolved->layers[l];
      if (!layer.is_trained() || layer.weights_of != l) continue;
      if (trains) network.Freeze(absl::StrCat(layer.name, ".*"));
      trains = true;
    }
    const ExecutionPlan free = Plan(network, 0);
    const int64_t most = free.weight_bytes_read_per_iteration();
    EXPECT_LE(LeastWeightBytesRead(free), most);
    for (const int64_t eighths : {8, 9, 12, 20}) {
      const ExecutionPlan plan =
          Plan(network, free.planned_bytes() * eighths / 8);
      const int64_t read = plan.weight_bytes_read_per_iteration();
      EXPECT_LE(LeastWeightBytesRead(plan), read) << eighths;
      EXPECT_LE(read, most);
      kept += read < most;
    }
  }
  EXPECT_GT(kept, 20);
}

}  // namespace
}  // namespace footprint
