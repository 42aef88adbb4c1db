#include "footprint/trainer_manager/execution/execution_types.h"

#include <memory>
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

// Returns a graph with two tensors that share a storage one after the other,
// and a third beside them.
StorageGraph TwoPlaces() {
  ResolvedNetwork network;
  network.layers.resize(1);
  network.layers[0].name = "fc";
  StorageGraph graph;
  graph.network = std::make_shared<const ResolvedNetwork>(network);
  graph.steps.resize(3);
  graph.steps[1].kind = StepKind::kSwapIn;
  graph.tensors.resize(3);
  graph.tensors[1].lower_step = 2;
  graph.tensors[1].kind = TensorKind::kDerivative;
  graph.tensors[2].kind = TensorKind::kSaved;
  graph.storage_of = {0, 0, 1};
  graph.storages.resize(2);
  graph.storages[0].tensors = {0, 1};
  graph.storages[0].size_bytes = 100;
  graph.storages[0].upper_step = 3;
  graph.storages[1].tensors = {2};
  graph.storages[1].size_bytes = 10;
  graph.storages[1].upper_step = 2;
  return graph;
}

TEST(ExecutionTypesTest, AStorageCountsForTheTensorThatIsLive) {
  const StorageGraph graph = TwoPlaces();
  const auto bytes = [&graph](int64_t step, TensorKind kind) {
    return LiveBytesByKind(graph, step)[static_cast<size_t>(kind)];
  };
  EXPECT_EQ(bytes(1, TensorKind::kActivation), 100);
  EXPECT_EQ(bytes(1, TensorKind::kSaved), 10);
  EXPECT_EQ(bytes(2, TensorKind::kActivation), 0);
  EXPECT_EQ(bytes(2, TensorKind::kDerivative), 100);
  EXPECT_EQ(bytes(2, TensorKind::kSaved), 0);
  EXPECT_EQ(TensorAt(graph, graph.storages[0], 2), 1u);
  EXPECT_EQ(TensorAt(graph, graph.storages[0], 1), 0u);
  EXPECT_EQ(TensorAt(graph, graph.storages[1], 1), 2u);
  EXPECT_EQ(StepName(graph, 1), "fc: swap in");
}

// A flattened tensor may be dead while the tensor with the same bytes is still
// read.
TEST(ExecutionTypesTest, OfTheSameBytesTheTensorThatIsStillReadCounts) {
  StorageGraph graph = TwoPlaces();
  graph.tensors[0].upper_step = 3;
  graph.tensors[1].lower_step = 0;
  graph.tensors[1].upper_step = 1;
  EXPECT_EQ(TensorAt(graph, graph.storages[0], 2), 0u);
  EXPECT_EQ(
      LiveBytesByKind(graph, 2)[static_cast<size_t>(TensorKind::kDerivative)],
      0);
  EXPECT_EQ(TensorAt(graph, graph.storages[0], 0), 1u);
}

TEST(ExecutionTypesTest, SwappedBytesAreWrittenAndReadInEachMicroBatch) {
  StepGraph graph;
  graph.swap_file_bytes = 10;
  graph.micro_batches = 3;
  EXPECT_EQ(graph.swapped_bytes_per_iteration(), 60);
}

}  // namespace
}  // namespace footprint
