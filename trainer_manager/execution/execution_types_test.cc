#include "footprint/trainer_manager/execution/execution_types.h"

#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(ExecutionTypesTest, EveryKindHasANameOfItsOwn) {
  std::set<absl::string_view> names;
  for (int kind = 0; kind < kTensorKinds; ++kind) {
    names.insert(TensorKindName(static_cast<TensorKind>(kind)));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(kTensorKinds));
  EXPECT_EQ(TensorKindName(TensorKind::kWorkspace), "workspace");
  names.clear();
  constexpr int kStepKinds = static_cast<int>(StepKind::kSwapIn) + 1;
  for (int kind = 0; kind < kStepKinds; ++kind) {
    names.insert(StepKindName(static_cast<StepKind>(kind)));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(kStepKinds));
  EXPECT_EQ(names.count("unknown"), 0u);
}

// Returns a plan with two tensors that share a storage one after the other, and
// a third beside them.
ExecutionPlan TwoPlaces() {
  ExecutionPlan plan;
  plan.network.layers.resize(1);
  plan.network.layers[0].name = "fc";
  plan.steps.resize(3);
  plan.steps[1].kind = StepKind::kSwapIn;
  plan.tensors.resize(3);
  plan.tensors[1].lower_step = 2;
  plan.tensors[1].kind = TensorKind::kDerivative;
  plan.tensors[2].kind = TensorKind::kSaved;
  plan.tensors[2].storage = 1;
  plan.storages.resize(2);
  plan.storages[0].tensors = {0, 1};
  plan.storages[0].size_bytes = 100;
  plan.storages[0].upper_step = 3;
  plan.storages[1].tensors = {2};
  plan.storages[1].size_bytes = 10;
  plan.storages[1].upper_step = 2;
  plan.arena_storages = {0, 1};
  return plan;
}

TEST(ExecutionTypesTest, AStorageCountsForTheTensorThatIsLive) {
  ExecutionPlan plan = TwoPlaces();
  const auto bytes = [&plan](int64_t step, TensorKind kind) {
    return LiveBytesByKind(plan, step)[static_cast<size_t>(kind)];
  };
  EXPECT_EQ(bytes(1, TensorKind::kActivation), 100);
  EXPECT_EQ(bytes(1, TensorKind::kSaved), 10);
  EXPECT_EQ(bytes(2, TensorKind::kActivation), 0);
  EXPECT_EQ(bytes(2, TensorKind::kDerivative), 100);
  EXPECT_EQ(bytes(2, TensorKind::kSaved), 0);
  plan.arena.lower_bound.step = 2;
  plan.arena.lower_bound.tensors = {0};
  EXPECT_EQ(CertificateTensors(plan), std::vector<size_t>{1});
  plan.arena.lower_bound.step = 1;
  plan.arena.lower_bound.tensors = {0, 1};
  EXPECT_EQ(CertificateTensors(plan), (std::vector<size_t>{0, 2}));
  EXPECT_EQ(StepName(plan, 1), "fc: swap in");
}

// A flattened tensor may be dead while the tensor with the same bytes is still
// read.
TEST(ExecutionTypesTest, OfTheSameBytesTheTensorThatIsStillReadCounts) {
  ExecutionPlan plan = TwoPlaces();
  plan.tensors[0].upper_step = 3;
  plan.tensors[1].lower_step = 0;
  plan.tensors[1].upper_step = 1;
  plan.arena.lower_bound.tensors = {0};
  plan.arena.lower_bound.step = 2;
  EXPECT_EQ(CertificateTensors(plan), std::vector<size_t>{0});
  EXPECT_EQ(
      LiveBytesByKind(plan, 2)[static_cast<size_t>(TensorKind::kDerivative)],
      0);
  plan.arena.lower_bound.step = 0;
  EXPECT_EQ(CertificateTensors(plan), std::vector<size_t>{1});
}

TEST(ExecutionTypesTest, SwappedBytesAreWrittenAndReadInEachMicroBatch) {
  ExecutionPlan plan;
  plan.swap_file_bytes = 10;
  plan.micro_batches = 3;
  EXPECT_EQ(plan.swapped_bytes_per_iteration(), 60);
}

}  // namespace
}  // namespace footprint
