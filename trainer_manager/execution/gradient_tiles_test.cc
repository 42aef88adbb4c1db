#include "footprint/trainer_manager/execution/gradient_tiles.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/convolution2d.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/layers/lora.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/structure_layers.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "footprint/trainer_manager/networks/assign_groups.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// Layers of different kinds, whose matrices but one take 160 KiB or more.
Network MakeNetwork() {
  Network network;
  network.AddInput("images", {{2, 1, 10, 20}});
  Convolution2dOptions convolution;
  convolution.channels = 2;
  network.AddLayer("conv", Convolution2d(convolution), {"images"});
  network.AddLayer("flat", Flatten(), {"conv"});
  network.AddLayer("wide", FullyConnected(200), {"flat"});
  network.AddLayer("relu", Relu(), {"wide"});
  network.AddLayer("shared", FullyConnected(200), {"relu"});
  network.AddLayer("again", FullyConnected(200), {"shared"}, "shared");
  network.AddLayer("frozen", FullyConnected(200), {"again"});
  network.AddLayer("lora", LoraFullyConnected(200, {{4}}), {"frozen"});
  network.AddLayer("no_bias", FullyConnected(200, /*bias=*/false), {"lora"});
  network.AddLayer("small", FullyConnected(10), {"no_bias"});
  network.AddLayer("loss", MeanSquaredError(), {"small"});
  network.Freeze("frozen.*");
  return network;
}

// A matrix of 160 KiB whose gradient step uses other operands, too.
class OwnMatrix final : public Layer {
 public:
  OwnMatrix(std::vector<Operand> reads, int workspaces)
      : reads_(std::move(reads)), workspaces_(workspaces) {}

  absl::string_view type() const override { return "own matrix"; }
  absl::StatusOr<LayerSignature> Describe(const LayerInputs&) const override {
    LayerSignature signature;
    signature.output.shape = {2, 200};
    signature.weights = {{"matrix", {{200, 200}}}};
    signature.forward.reads = {{Role::kInput}, {Role::kWeight}};
    signature.forward.writes = {{Role::kOutput}};
    signature.gradient.reads = reads_;
    signature.gradient.writes = {{Role::kGradient}};
    for (int i = 0; i < workspaces_; ++i) {
      AddWorkspace(4, &signature, &signature.gradient);
    }
    signature.derivative.reads = {{Role::kWeight}, {Role::kOutputDerivative}};
    signature.derivative.writes = {{Role::kInputDerivative}};
    signature.multiplies_by_matrix = true;
    return signature;
  }
  absl::Status Forward(const StepData&) const override {
    return absl::OkStatus();
  }

 private:
  const std::vector<Operand> reads_;
  const int workspaces_;
};

// Returns whether the gradient of such a layer can be divided.
bool CanTileOwn(std::vector<Operand> reads, int workspaces) {
  Network network;
  network.AddInput("rows", {{2, 200}});
  network.AddLayer("own",
                   std::make_shared<OwnMatrix>(std::move(reads), workspaces),
                   {"rows"});
  network.AddLayer("loss", MeanSquaredError(), {"own"});
  const auto resolved = ResolveNetwork(network, NetworkMode::kTraining);
  EXPECT_THAT(resolved, IsOk());
  return CanTileGradient(*resolved, ReferenceMath(), {}, 0);
}

// Returns the names of the layers whose gradients can be divided, each with a
// blank after it.
std::string NamesOfTiled(const MemoryOptions& options,
                         NetworkMode mode = NetworkMode::kTraining,
                         const MathBackend& math = ReferenceMath()) {
  auto network = ResolveNetwork(MakeNetwork(), mode, ReferenceMath(), true);
  EXPECT_THAT(network, IsOk());
  EXPECT_THAT(AssignGroups(ReferenceMath(), true, &*network), IsOk());
  std::string names;
  for (size_t l = 0; l < network->layers.size(); ++l) {
    if (CanTileGradient(*network, math, options, l)) {
      names += network->layers[l].name + " ";
    }
  }
  return names;
}

TEST(GradientTilesTest, LargeMatricesThatOneLayerTrainsHaveTiles) {
  EXPECT_EQ(NamesOfTiled({}), "wide no_bias ");
  EXPECT_EQ(NamesOfTiled({}, NetworkMode::kInference), "");
}

TEST(GradientTilesTest, UpdatesThatWaitForEachOtherHaveNone) {
  MemoryOptions off;
  off.tile_gradients = false;
  MemoryOptions atomic;
  atomic.atomic_steps = true;
  MemoryOptions clipped;
  clipped.clip_global_norm = true;
  MemoryOptions in_parts;
  in_parts.micro_batches = 2;
  MemoryOptions at_the_end;
  at_the_end.share_gradients = false;
  for (const MemoryOptions& options :
       {off, atomic, clipped, in_parts, at_the_end}) {
    EXPECT_EQ(NamesOfTiled(options), "");
  }
  EXPECT_TRUE(DefersUpdates(atomic));
  EXPECT_FALSE(DefersUpdates({}));
}

// Rows before the tile have changed, and a step has room for few operands.
TEST(GradientTilesTest, AGradientThatReadsAWeightOrMuchElseHasNone) {
  EXPECT_TRUE(CanTileOwn({{Role::kInput}, {Role::kOutputDerivative}}, 1));
  EXPECT_FALSE(CanTileOwn({{Role::kInput}, {Role::kOutputDerivative}}, 2));
  EXPECT_FALSE(CanTileOwn({{Role::kWeight}, {Role::kOutputDerivative}}, 1));
  EXPECT_FALSE(CanTileOwn(
      {{Role::kInput}, {Role::kOutput}, {Role::kOutputDerivative}}, 0));
}

TEST(GradientTilesTest, ATileTakes128KiBOr16RowsOrAllRows) {
  EXPECT_EQ(GradientTileRows({{784, 512}}), 64);
  EXPECT_EQ(GradientTileRows({{784, 100'000}}), 16);
  EXPECT_EQ(GradientTileRows({{20, 100}}), 20);
}

}  // namespace
}  // namespace footprint
