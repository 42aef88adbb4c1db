#include "footprint/trainer_manager/networks/network.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/structure_layers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Network TwoLayers() {
  Network network;
  network.AddInput("x", {{4, 3}});
  network.AddLayer("fc", FullyConnected(5), {"x"});
  network.AddLayer("relu", Relu(), {"fc"});
  network.AddLayer("loss", MeanSquaredError(), {"relu"});
  return network;
}

std::string Error(const Network& network,
                  NetworkMode mode = NetworkMode::kTraining) {
  const auto resolved = ResolveNetwork(network, mode);
  return resolved.ok() ? "" : resolved.status().ToString();
}

TEST(NetworkTest, InfersShapes) {
  const auto resolved = ResolveNetwork(TwoLayers(), NetworkMode::kTraining);
  ASSERT_THAT(resolved, IsOk());
  ASSERT_EQ(resolved->layers.size(), 3u);
  EXPECT_EQ(resolved->layers[0].signature.output.shape, Shape({4, 5}));
  EXPECT_EQ(resolved->layers[2].signature.label->shape, Shape({4, 5}));
  EXPECT_THAT(resolved->outputs, ElementsAre(2));  // relu
}

TEST(NetworkTest, InferenceHasNoLoss) {
  const auto resolved = ResolveNetwork(TwoLayers(), NetworkMode::kInference);
  ASSERT_THAT(resolved, IsOk());
  ASSERT_EQ(resolved->layers.size(), 2u);
  EXPECT_THAT(resolved->outputs, ElementsAre(2));
}

TEST(NetworkTest, LayersMayComeInAnyOrder) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<int> order = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    std::shuffle(order.begin(), order.end(), random);
    Network network;
    network.AddInput("0", {{1, 2}});
    for (const int i : order) {
      network.AddLayer(std::to_string(i + 1), Relu(), {std::to_string(i)});
    }
    const auto resolved = ResolveNetwork(network, NetworkMode::kInference);
    ASSERT_THAT(resolved, IsOk());
    for (size_t i = 0; i < 10; ++i) {
      EXPECT_EQ(resolved->layers[i].name, std::to_string(i + 1));
      EXPECT_THAT(resolved->layers[i].inputs, ElementsAre(i));
    }
  }
}

TEST(NetworkTest, NamesTheLayersOfACycle) {
  Network network = TwoLayers();
  network.AddLayer("a", Add(), {"x", "c"});
  network.AddLayer("b", Relu(), {"a"});
  network.AddLayer("c", Relu(), {"b"});
  network.AddLayer("after", Relu(), {"c"});
  const std::string error = Error(network);
  EXPECT_THAT(error, HasSubstr("INVALID_ARGUMENT: the network has a cycle"));
  EXPECT_THAT(error, HasSubstr("a -> b -> c"));
  EXPECT_THAT(error, ::testing::Not(HasSubstr("after")));
}

// The search for the cycle begins at a layer that only reads it.
TEST(NetworkTest, NamesNoLayerThatOnlyReadsACycle) {
  Network network = TwoLayers();
  network.AddLayer("behind", Relu(), {"next"});
  network.AddLayer("next", Relu(), {"c"});
  network.AddLayer("b", Relu(), {"c"});
  network.AddLayer("c", Relu(), {"b"});
  const std::string error = Error(network);
  EXPECT_THAT(error,
              ::testing::EndsWith("the network has a cycle: c -> b -> c"));
}

TEST(NetworkTest, NamesALayerThatFeedsItself) {
  Network network;
  network.AddLayer("self", Relu(), {"self"});
  EXPECT_THAT(Error(network), HasSubstr("self -> self"));
}

TEST(NetworkTest, RefusesAnUnknownLayer) {
  Network network = TwoLayers();
  network.AddLayer("late", Relu(), {"nowhere"});
  EXPECT_THAT(Error(network),
              HasSubstr("NOT_FOUND: layer \"late\": its input \"nowhere\""));
}

TEST(NetworkTest, RefusesANameTwiceAndNone) {
  Network network = TwoLayers();
  network.AddLayer("x", Relu(), {"fc"});
  EXPECT_THAT(Error(network), HasSubstr("ALREADY_EXISTS"));
  Network nameless;
  nameless.AddLayer("", Relu(), {""});
  EXPECT_THAT(Error(nameless), HasSubstr("INVALID_ARGUMENT"));
}

TEST(NetworkTest, NamesTheLayerOfAShapeMismatch) {
  Network network;
  network.AddInput("x", {{4, 3}});
  network.AddInput("y", {{4, 2}});
  network.AddLayer("sum", Add(), {"x", "y"});
  EXPECT_THAT(Error(network, NetworkMode::kInference),
              HasSubstr("layer \"sum\": cannot add [4, 2] to [4, 3]"));
}

TEST(NetworkTest, RefusesSizesOfZeroBelowItAndBeyond64Bits) {
  for (const int64_t extent : {0, -7}) {
    Network network;
    network.AddInput("x", {{4, extent}});
    network.AddLayer("relu", Relu(), {"x"});
    EXPECT_THAT(Error(network), HasSubstr("input \"x\": shape [4, "));
  }
  Network wide;
  wide.AddInput("x", {{1, int64_t{1} << 40}});
  wide.AddLayer("fc", FullyConnected(int64_t{1} << 40), {"x"});
  EXPECT_THAT(Error(wide, NetworkMode::kInference),
              HasSubstr("OUT_OF_RANGE: layer \"fc\""));
}

TEST(NetworkTest, TrainingNeedsOneLossThatAllLayersLeadTo) {
  Network none;
  none.AddInput("x", {{4, 3}});
  none.AddLayer("relu", Relu(), {"x"});
  EXPECT_THAT(Error(none), HasSubstr("no loss"));
  EXPECT_THAT(Error(none, NetworkMode::kInference), "");
  Network two = TwoLayers();
  two.AddLayer("loss2", MeanSquaredError(), {"fc"});
  EXPECT_THAT(Error(two), HasSubstr("\"loss2\" is a second loss"));
  Network dead = TwoLayers();
  dead.AddLayer("dead", Relu(), {"fc"});
  EXPECT_THAT(Error(dead), HasSubstr("\"dead\" leads to no loss"));
  Network after = TwoLayers();
  after.AddLayer("after", Relu(), {"loss"});
  EXPECT_THAT(Error(after, NetworkMode::kInference),
              HasSubstr("\"after\" reads the loss"));
  EXPECT_THAT(Error(Network()), HasSubstr("no layer"));
}

TEST(NetworkTest, SharesWeightsOnlyWithAnEarlierLayerOfTheSameShapes) {
  const auto resolve = [](int64_t units, const std::string& weights_of) {
    Network network;
    network.AddInput("x", {{2, 3}});
    network.AddLayer("first", FullyConnected(3), {"x"});
    network.AddLayer("second", FullyConnected(units), {"first"}, weights_of);
    network.AddLayer("loss", MeanSquaredError(), {"second"});
    return ResolveNetwork(network, NetworkMode::kTraining);
  };
  ASSERT_THAT(resolve(3, "first"), IsOk());
  EXPECT_EQ(resolve(3, "first")->layers[1].weights_of, 0u);
  EXPECT_EQ(resolve(3, "")->layers[1].weights_of, 1u);
  EXPECT_THAT(resolve(4, "first"),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(resolve(3, "loss"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(resolve(3, "second"), StatusIs(absl::StatusCode::kNotFound));
}

// A layer with a weight and a statistic, whose signature the test changes.
class OwnLayer final : public Layer {
 public:
  explicit OwnLayer(std::function<void(LayerSignature*)> change)
      : change_(std::move(change)) {}
  absl::string_view type() const override { return "own"; }
  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    LayerSignature signature;
    signature.output = inputs.inputs[0];
    signature.weights = {{"scale", {{1}}}, {"shift", {{1}}}};
    signature.statistics = {{"mean", {{1}}}};
    signature.saved = {{{1}}};
    signature.forward.reads = {{Role::kInput}, {Role::kWeight}};
    signature.forward.writes = {{Role::kOutput}, {Role::kSaved}};
    signature.gradient.reads = {{Role::kOutputDerivative}, {Role::kSaved}};
    signature.gradient.writes = {{Role::kGradient, 0}, {Role::kGradient, 1}};
    signature.derivative.reads = {{Role::kOutputDerivative}};
    signature.derivative.writes = {{Role::kInputDerivative}};
    change_(&signature);
    return signature;
  }
  absl::Status Forward(const StepData&) const override {
    return absl::OkStatus();
  }

 private:
  const std::function<void(LayerSignature*)> change_;
};

std::string OwnError(std::function<void(LayerSignature*)> change,
                     NetworkMode mode = NetworkMode::kTraining) {
  Network network;
  network.AddInput("x", {{4, 3}});
  network.AddLayer("own", std::make_shared<OwnLayer>(std::move(change)), {"x"});
  network.AddLayer("loss", MeanSquaredError(), {"own"});
  return Error(network, mode);
}

// Such a weight was once trained with whatever lay in the arena.
TEST(NetworkTest, RefusesAWeightThatNoStepGivesAGradient) {
  EXPECT_EQ(OwnError([](LayerSignature*) {}), "");
  const auto no_step = [](LayerSignature* s) { s->gradient = StepUse(); };
  EXPECT_THAT(
      OwnError(no_step),
      HasSubstr("INVALID_ARGUMENT: layer \"own\": the gradient step does "
                "not write the gradient of weight \"scale\""));
  EXPECT_EQ(OwnError(no_step, NetworkMode::kInference), "");
  EXPECT_THAT(
      OwnError([](LayerSignature* s) { s->gradient.writes.pop_back(); }),
      HasSubstr("the gradient of weight \"shift\""));
}

TEST(NetworkTest, RefusesStepsThatCannotRunAsDeclared) {
  EXPECT_THAT(
      OwnError([](LayerSignature* s) { s->forward.writes = {{Role::kSaved}}; }),
      HasSubstr("the forward step does not write the output"));
  EXPECT_THAT(OwnError([](LayerSignature* s) { s->recompute.reads = {{}}; }),
              HasSubstr("the recompute step does not write the output"));
  EXPECT_THAT(
      OwnError([](LayerSignature* s) { s->forward.writes.pop_back(); }),
      HasSubstr("the gradient step reads saved tensor 0, which the forward "
                "step does not write"));
  for (const Operand& operand :
       {Operand{Role::kInput, 1}, Operand{Role::kWeight, 2},
        Operand{Role::kSaved, 1}, Operand{Role::kWorkspace, 0},
        Operand{Role::kLabel, 0}, Operand{Role::kRunningStatistic, -1},
        Operand{Role::kOptimizerState, 0}}) {
    const std::string expected =
        absl::StrCat("declares ", RoleName(operand.role), " ", operand.index,
                     ", which the layer does not have");
    for (StepUse LayerSignature::*step :
         {&LayerSignature::forward, &LayerSignature::gradient,
          &LayerSignature::derivative, &LayerSignature::recompute,
          &LayerSignature::restore_input}) {
      EXPECT_THAT(OwnError([&](LayerSignature* s) {
                    (s->*step).reads.push_back(operand);
                  }),
                  HasSubstr(expected));
      EXPECT_THAT(OwnError([&](LayerSignature* s) {
                    (s->*step).writes.push_back(operand);
                  }),
                  HasSubstr(expected));
      EXPECT_THAT(OwnError([&](LayerSignature* s) {
                    (s->*step).in_place.push_back({{Role::kOutput}, operand});
                  }),
                  HasSubstr(expected));
    }
  }
}

TEST(NetworkTest, RefusesAStepThatWritesAConstant) {
  const auto writes = [](bool is_constant) {
    return OwnError([is_constant](LayerSignature* s) {
      s->statistics[0].is_constant = is_constant;
      s->forward.writes.push_back({Role::kRunningStatistic});
    });
  };
  EXPECT_EQ(writes(false), "");
  EXPECT_THAT(writes(true),
              HasSubstr("the forward step writes statistic 0, which the "
                        "signature says is constant"));
}

// The layer would silently lose what it does beside picking rows when its table
// stays in a file.
TEST(NetworkTest, RefusesALayerThatCannotOnlyPickRows) {
  EXPECT_THAT(
      OwnError([](LayerSignature* s) { s->picks_rows = true; }),
      HasSubstr("INVALID_ARGUMENT: layer \"own\": a layer that picks rows has "
                "one input of indices, one weight"));
}

// A network with such names could be trained, but no file could hold its
// weights.
TEST(NetworkTest, RefusesNamesThatNoFileHolds) {
  Network network = TwoLayers();
  network.AddLayer("\xff", Relu(), {"x"});
  EXPECT_THAT(Error(network),
              HasSubstr("INVALID_ARGUMENT: the name \"\\xff\" of an input or "
                        "layer is not UTF-8"));
  EXPECT_THAT(OwnError([](LayerSignature* s) { s->weights[0].name = "\xc3"; }),
              HasSubstr("layer \"own\": the name \"\\xc3\" of an own weight is "
                        "not UTF-8"));
  EXPECT_THAT(
      OwnError([](LayerSignature* s) { s->weights[0].name = "shift"; }),
      HasSubstr("ALREADY_EXISTS: layer \"own\": two weights or statistics of "
                "the network are named \"own.shift\""));
  EXPECT_THAT(OwnError([](LayerSignature* s) { s->weights[0].name = "mean"; }),
              HasSubstr("are named \"own.mean\""));
  Network dotted;
  dotted.AddInput("x", {{4, 3}});
  dotted.AddLayer("own.a", FullyConnected(3), {"x"});
  dotted.AddLayer("own", std::make_shared<OwnLayer>([](LayerSignature* s) {
                    s->weights[0].name = "a.weight";
                  }),
                  {"own.a"});
  dotted.AddLayer("loss", MeanSquaredError(), {"own"});
  EXPECT_THAT(Error(dotted), HasSubstr("are named \"own.a.weight\""));
}

}  // namespace
}  // namespace footprint
