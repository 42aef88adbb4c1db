#include "footprint/trainer_manager/networks/assign_groups.h"

#include <memory>
#include <string>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/normalization.h"
#include "footprint/trainer_manager/layers/structure_layers.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "footprint/trainer_manager/networks/parameter_group.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr size_t kNone = ResolvedNetwork::kNoGroup;

// Layers 0 to 5: fc1, norm, relu, fc2, fc3, loss.
Network SmallNetwork() {
  Network network;
  network.AddInput("rows", {{4, 3}});
  network.AddLayer("fc1", FullyConnected(5), {"rows"});
  network.AddLayer("norm", BatchNormalization(), {"fc1"});
  network.AddLayer("relu", Relu(), {"norm"});
  network.AddLayer("fc2", FullyConnected(5), {"relu"});
  network.AddLayer("fc3", FullyConnected(1), {"fc2"});
  network.AddLayer("loss", MeanSquaredError(), {"fc3"});
  return network;
}

absl::StatusOr<ResolvedNetwork> Assign(
    const Network& network, NetworkMode mode = NetworkMode::kTraining) {
  absl::StatusOr<ResolvedNetwork> resolved = ResolveNetwork(network, mode);
  EXPECT_THAT(resolved, IsOk());
  const absl::Status status =
      AssignGroups(ReferenceMath(), /*pack_winners=*/true, &*resolved);
  if (!status.ok()) return status;
  return resolved;
}

std::string Refusal(const Network& network) {
  const auto resolved = Assign(network);
  EXPECT_THAT(resolved.status(), StatusIs(absl::StatusCode::kInvalidArgument));
  return std::string(resolved.status().message());
}

ParameterGroup Slow(const std::string& pattern) {
  ParameterGroup group;
  group.pattern = pattern;
  group.rate_factor = 0.5f;
  return group;
}

bool HasBackward(const ResolvedNetwork::ResolvedLayer& layer) {
  return !layer.signature.derivative.writes.empty();
}
bool HasGradient(const ResolvedNetwork::ResolvedLayer& layer) {
  return !layer.signature.gradient.writes.empty();
}

TEST(AssignGroupsTest, WithoutAGroupNothingChanges) {
  const auto network = Assign(SmallNetwork());
  ASSERT_THAT(network, IsOk());
  EXPECT_TRUE(network->group_of.empty());
  for (const ResolvedNetwork::ResolvedLayer& layer : network->layers) {
    EXPECT_FALSE(layer.is_frozen);
    EXPECT_TRUE(HasBackward(layer));
  }
}

TEST(AssignGroupsTest, AWeightHasTheNumberOfItsGroup) {
  Network network = SmallNetwork();
  network.AddGroup(Slow("*.bias"));
  network.AddGroup(Slow("fc2.w*"));
  const auto resolved = Assign(network);
  ASSERT_THAT(resolved, IsOk());
  EXPECT_THAT(resolved->group_of[0], ElementsAre(kNone, 0u));
  EXPECT_THAT(resolved->group_of[1], ElementsAre(kNone, kNone));
  EXPECT_THAT(resolved->group_of[3], ElementsAre(1u, 0u));
  EXPECT_TRUE(HasBackward(resolved->layers[2]));
  EXPECT_TRUE(resolved->layers[1].depends_on_batch());
}

TEST(AssignGroupsTest, InFrontOfTheFirstTrainedLayerNothingRunsBackwards) {
  Network network = SmallNetwork();
  network.Freeze("fc1.*");
  network.Freeze("norm.*");
  const auto resolved = Assign(network);
  ASSERT_THAT(resolved, IsOk());
  for (size_t l = 0; l < 3; ++l) {
    EXPECT_FALSE(HasBackward(resolved->layers[l])) << l;
    EXPECT_FALSE(HasGradient(resolved->layers[l])) << l;
  }
  EXPECT_TRUE(resolved->layers[0].is_frozen);
  EXPECT_FALSE(resolved->layers[2].is_frozen);
  EXPECT_FALSE(resolved->layers[1].depends_on_batch());
  EXPECT_TRUE(resolved->layers[1].signature.saved.empty());
  EXPECT_TRUE(HasGradient(resolved->layers[3]));
}

TEST(AssignGroupsTest, BehindATrainedLayerAFrozenOneHasADerivativeAlone) {
  Network network = SmallNetwork();
  network.Freeze("norm.*");
  network.Freeze("fc2.*");
  const auto resolved = Assign(network);
  ASSERT_THAT(resolved, IsOk());
  for (const size_t l : {1, 3}) {
    EXPECT_TRUE(HasBackward(resolved->layers[l])) << l;
    EXPECT_FALSE(HasGradient(resolved->layers[l])) << l;
  }
  EXPECT_TRUE(HasGradient(resolved->layers[0]));
}

TEST(AssignGroupsTest, SharedWeightsAreFrozenWithTheirOwner) {
  Network network;
  network.AddInput("rows", {{4, 3}});
  network.AddLayer("head", FullyConnected(3), {"rows"});
  network.AddLayer("a", FullyConnected(3), {"head"});
  network.AddLayer("b", FullyConnected(3), {"a"}, "a");
  network.AddLayer("loss", MeanSquaredError(), {"b"});
  network.Freeze("a.*");
  const auto resolved = Assign(network);
  ASSERT_THAT(resolved, IsOk());
  EXPECT_TRUE(resolved->layers[2].is_frozen);
  EXPECT_FALSE(HasGradient(resolved->layers[2]));
}

TEST(AssignGroupsTest, AnInferenceIsTheSame) {
  Network network = SmallNetwork();
  network.Freeze("nothing");
  const auto resolved = Assign(network, NetworkMode::kInference);
  ASSERT_THAT(resolved, IsOk());
  EXPECT_FALSE(resolved->layers[0].is_frozen);
}

TEST(AssignGroupsTest, APatternThatFitsNothingIsRefused) {
  Network network = SmallNetwork();
  network.Freeze("fc2.*");
  network.Freeze("fc1.weigth");
  const std::string why = Refusal(network);
  EXPECT_THAT(why, HasSubstr("\"fc1.weigth\" matches no parameter"));
  EXPECT_THAT(why, HasSubstr("\"fc1.weight\""));
}

TEST(AssignGroupsTest, AParameterInTwoGroupsIsRefused) {
  Network network = SmallNetwork();
  network.AddGroup(Slow("*.bias"));
  network.Freeze("fc1.*");
  EXPECT_THAT(Refusal(network),
              HasSubstr("\"fc1.bias\" is in two groups, \"*.bias\" and "
                        "\"fc1.*\""));
  Network twice = SmallNetwork();
  twice.Freeze("fc1.*");
  twice.Freeze("fc1.*");
  EXPECT_THAT(Refusal(twice), HasSubstr("is in two groups"));
}

TEST(AssignGroupsTest, ALayerThatIsFrozenInPartIsRefused) {
  Network network = SmallNetwork();
  network.Freeze("fc2.bias");
  EXPECT_THAT(Refusal(network),
              HasSubstr("layer \"fc2\": 1 of its 2 parameters are frozen"));
}

TEST(AssignGroupsTest, ANetworkThatIsFrozenWholeIsRefused) {
  Network network = SmallNetwork();
  network.Freeze("*");
  EXPECT_THAT(Refusal(network), HasSubstr("nothing to train"));
}

TEST(AssignGroupsTest, AGroupThatIsNoneIsRefused) {
  Network network = SmallNetwork();
  ParameterGroup group = Slow("fc1.*");
  group.rate_factor = -1;
  network.AddGroup(group);
  EXPECT_THAT(Refusal(network), HasSubstr("\"fc1.*\" has the rate factor -1"));
}

// A layer whose weight has another shape when it is frozen.
class Fickle final : public Layer {
 public:
  absl::string_view type() const override { return "fickle"; }
  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    LayerSignature signature;
    signature.output = inputs.inputs[0];
    if (inputs.frozen) signature.output.shape.set_extent(1, 1);
    signature.weights = {{"weight", {{1}}}};
    signature.forward.reads = {{Role::kInput}, {Role::kWeight}};
    signature.forward.writes = {{Role::kOutput}};
    signature.gradient.reads = {{Role::kInput}, {Role::kOutputDerivative}};
    signature.gradient.writes = {{Role::kGradient}};
    return signature;
  }
  absl::Status Forward(const StepData&) const override {
    return absl::OkStatus();
  }
};

TEST(AssignGroupsTest, ALayerThatDescribesItselfOtherwiseIsRefused) {
  Network network;
  network.AddInput("rows", {{4, 3}});
  network.AddLayer("fickle", std::make_shared<Fickle>(), {"rows"});
  network.AddLayer("fc", FullyConnected(1), {"fickle"});
  network.AddLayer("loss", MeanSquaredError(), {"fc"});
  network.Freeze("fickle.*");
  EXPECT_THAT(Refusal(network),
              HasSubstr("layer \"fickle\": it describes another output"));
}

}  // namespace
}  // namespace footprint
