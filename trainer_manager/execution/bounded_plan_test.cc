#include "footprint/trainer_manager/execution/bounded_plan.h"

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/networks/random_network.h"
#include "footprint/trainer_manager/networks/reference_networks.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::Lt;

ResolvedNetwork Resolve(const Network& network,
                        NetworkMode mode = NetworkMode::kTraining) {
  const auto resolved = ResolveNetwork(network, mode);
  EXPECT_THAT(resolved, IsOk());
  return *resolved;
}

TEST(PlanBuilderTest, APlanIsWithinItsBoundAndHasPlaces) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    const ResolvedNetwork network = Resolve(RandomNetwork(seed));
    const MemoryOptions options;
    const PlanBuilder builder(network, ReferenceMath(), options, 1);
    const auto bounded = builder.Bound({});
    const auto plan = builder.Plan({});
    ASSERT_THAT(bounded, IsOk());
    ASSERT_THAT(plan, IsOk());
    EXPECT_GE(plan->planned_bytes(), bounded->bound_bytes());
    EXPECT_EQ(plan->bound_bytes(), bounded->bound_bytes());
    EXPECT_TRUE(bounded->arena.offsets_bytes.empty());
    EXPECT_EQ(plan->arena.offsets_bytes.size(), plan->arena_storages.size());
  }
}

TEST(PlanBuilderTest, APlanFitsOrIsNone) {
  const ResolvedNetwork network = Resolve(TabularMlp(4));
  MemoryOptions options;
  const PlanBuilder builder(network, ReferenceMath(), options, 1);
  const int64_t bytes = builder.Plan({})->planned_bytes();
  options.budget_bytes = bytes;
  EXPECT_TRUE(builder.PlanIfItFits({}, options.budget_bytes)->has_value());
  options.budget_bytes = bytes - 1;
  EXPECT_FALSE(builder.PlanIfItFits({}, options.budget_bytes)->has_value());
}

// Each part fits 64 bits, but their sum does not.
TEST(PlanBuilderTest, RefusesMoreBytesThanItCanAddUp) {
  Network network;
  network.AddInput("x", {{1, 1}});
  network.AddLayer("layer0", FullyConnected(int64_t{1} << 56), {"x"});
  for (int i = 1; i < 10; ++i) {
    network.AddLayer(absl::StrCat("layer", i), Gelu(),
                     {absl::StrCat("layer", i - 1)});
  }
  network.AddLayer("loss", MeanSquaredError(), {"layer9"});
  const ResolvedNetwork resolved = Resolve(network);
  const MemoryOptions options = MemoryOptions::Debug();
  const PlanBuilder builder(resolved, ReferenceMath(), options, 0);
  EXPECT_THAT(builder.Bound({}), StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(builder.Plan({}), StatusIs(absl::StatusCode::kOutOfRange));
}

TEST(MayTest, SlicesNeedAllThatSharesPlaces) {
  EXPECT_TRUE(MaySlice({}));
  for (bool MemoryOptions::*needed :
       {&MemoryOptions::slice_derivatives, &MemoryOptions::share_edges,
        &MemoryOptions::reuse_activations, &MemoryOptions::reuse_derivatives,
        &MemoryOptions::in_place, &MemoryOptions::reuse_workspaces}) {
    MemoryOptions options;
    options.*needed = false;
    EXPECT_FALSE(MaySlice(options));
  }
}

TEST(MayTest, OnlyATrainingWithoutCopiesDrops) {
  const ResolvedNetwork training = Resolve(TabularMlp(4));
  MemoryOptions options;
  EXPECT_TRUE(MayDrop(training, options));
  EXPECT_FALSE(
      MayDrop(Resolve(TabularMlp(4), NetworkMode::kInference), options));
  options.share_edges = false;
  EXPECT_FALSE(MayDrop(training, options));
}

// The certificate's layers are those of its activations, not of its
// derivatives, gradients and inputs.
TEST(LayersInCertificateTest, AreThoseOfItsActivations) {
  size_t others = 0;
  size_t recomputed = 0;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const ResolvedNetwork network = Resolve(RandomNetwork(seed));
    const MemoryOptions options;
    StepChoices choices;
    if (seed % 2 == 1) {
      for (size_t l = 0; l + 1 < network.layers.size(); l += 2) {
        choices.dropped.push_back(l);
      }
    }
    const auto plan =
        PlanBuilder(network, ReferenceMath(), options, 1).Bound(choices);
    ASSERT_THAT(plan, IsOk());
    const std::vector<size_t> layers = LayersInCertificate(*plan);
    EXPECT_THAT(layers, Each(Lt(network.layers.size())));
    size_t activations = 0;
    for (const size_t t : CertificateTensors(*plan)) {
      const PlannedTensor& tensor = plan->tensors[t];
      activations += tensor.kind == TensorKind::kActivation;
      others += tensor.kind != TensorKind::kActivation;
      for (const PlannedStep& step : plan->steps) {
        if (step.kind != StepKind::kRecompute) continue;
        for (const TensorUse& use : step.uses) {
          if (!use.written || use.tensor != t ||
              tensor.kind != TensorKind::kActivation) {
            continue;
          }
          EXPECT_THAT(layers, Contains(step.layer));
          ++recomputed;
        }
      }
    }
    EXPECT_LE(layers.size(), activations);
  }
  EXPECT_GT(others, 0u);
  EXPECT_GT(recomputed, 0u);
}

}  // namespace
}  // namespace footprint
