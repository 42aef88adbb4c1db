#include "footprint/trainer_manager/execution/bounded_plan.h"

#include <algorithm>
#include <cstdint>
#include <map>
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
    EXPECT_EQ(plan->network, bounded->network) << "the network was copied";
  }
}

TEST(PlanBuilderTest, EachClassOfStoragesIsAlignedAndEndsWithItsLast) {
  MemoryOptions options;
  options.alignment_bytes = 64;
  for (uint32_t seed = 0; seed < 12; ++seed) {
    const PlanBuilder builder(Resolve(RandomNetwork(seed)), ReferenceMath(),
                              options, 1);
    const auto plan = builder.Plan({});
    ASSERT_THAT(plan, IsOk());
    ASSERT_EQ(plan->offsets_bytes.size(), plan->storages.size());
    std::map<StorageClass, int64_t> ends;
    for (size_t s = 0; s < plan->storages.size(); ++s) {
      const Storage& storage = plan->storages[s];
      const int64_t offset = plan->offsets_bytes[s];
      EXPECT_EQ(offset % 64, 0);
      int64_t& end = ends[storage.storage_class];
      if (storage.storage_class != StorageClass::kArena) {
        EXPECT_GE(offset, end) << "overlaps the storage before it";
      }
      end = std::max(end, offset + storage.size_bytes);
    }
    EXPECT_EQ(ends[StorageClass::kModel], plan->model_bytes);
    EXPECT_EQ(ends[StorageClass::kFixed], plan->fixed_bytes);
    EXPECT_EQ(ends[StorageClass::kArena], plan->arena_bytes);
  }
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
TEST(PlanBuilderTest, TheCertificatesLayersAreThoseOfItsActivations) {
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
    const std::vector<size_t>& layers = plan->certificate.layers;
    EXPECT_THAT(layers, Each(Lt(network.layers.size())));
    size_t activations = 0;
    for (const size_t t : plan->certificate.tensors) {
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
