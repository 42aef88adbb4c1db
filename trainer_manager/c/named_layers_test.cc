#include "footprint/trainer_manager/c/named_layers.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/layers/tensor_type.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

struct Case {
  std::string type;
  std::string properties;
  std::string layer_type;
  std::vector<TensorType> inputs;
  Shape output;
};

const TensorType& Images() {
  static const TensorType* const images = new TensorType{{2, 4, 8, 8}};
  return *images;
}

// The output's shape tells that the numbers reached the layer.
std::vector<Case> ImageCases() {
  const TensorType& images = Images();
  const TensorType rows = {{2, 6}};
  return {
      {"fully_connected", "unit=10", "fully connected", {rows}, {2, 10}},
      {"conv2d",
       "filters=6, kernel_size=3, stride=2, padding=2, bias=false, groups=2",
       "convolution 2d",
       {images},
       {2, 6, 5, 5}},
      {"pooling2d",
       "pooling=max, pool_size=2",
       "max pool 2d",
       {images},
       {2, 4, 4, 4}},
      {"pooling2d",
       "pooling=average, pool_size=4, stride=2",
       "average pool 2d",
       {images},
       {2, 4, 3, 3}},
      {"pooling2d",
       "pooling=global_average",
       "global average pool 2d",
       {images},
       {2, 4}},
  };
}

std::vector<Case> RowCases() {
  const TensorType& images = Images();
  const TensorType rows = {{2, 6}};
  const TensorType sequence = {{2, 5, 12}};
  return {
      {"activation", "activation=relu", "ReLU", {rows}, {2, 6}},
      {"activation", "activation=sigmoid", "sigmoid", {rows}, {2, 6}},
      {"activation", "activation=tanh", "tanh", {rows}, {2, 6}},
      {"activation", "activation=gelu", "GELU", {rows}, {2, 6}},
      {"activation", "activation=swish", "SiLU", {rows}, {2, 6}},
      {"dropout", "dropout_rate=0.5", "dropout", {rows}, {2, 6}},
      {"batch_normalization",
       "epsilon=1e-3, momentum=0.2",
       "batch normalization",
       {images},
       {2, 4, 8, 8}},
      {"layer_normalization",
       "epsilon=1e-3",
       "layer normalization",
       {rows},
       {2, 6}},
      {"rms_norm", "epsilon=1e-3", "RMS normalization", {rows}, {2, 6}},
      {"flatten", "", "flatten", {images}, {2, 256}},
      {"addition", "", "add", {rows, rows}, {2, 6}},
      {"multiply", "", "multiply", {rows, rows}, {2, 6}},
      {"concat", "axis=1", "concatenate", {rows, {{2, 3}}}, {2, 9}},
      {"embedding",
       "in_dim=20, out_dim=7",
       "embedding",
       {{{2, 5}, DType::kI32}},
       {2, 5, 7}},
      {"position_embedding", "", "position embedding", {sequence}, {2, 5, 12}},
      {"attention",
       "num_heads=2, causal=true",
       "attention",
       {sequence},
       {2, 5, 4}},
      {"attention",
       "num_heads=4, num_key_heads=1",
       "attention",
       {sequence},
       {2, 5, 8}},
      {"rotary_positions",
       "num_heads=3, head_width=4, rope_theta=500000",
       "rotary positions",
       {sequence},
       {2, 5, 12}},
      {"mse", "ignored_label=-1", "mean squared error", {rows}, {1}},
      {"cross_softmax",
       "label_smoothing=0.1, ignored_label=-1",
       "softmax cross entropy",
       {rows},
       {1}},
  };
}

TEST(NamedLayersTest, ABiasCanBeLeftOut) {
  const auto weights = [](const std::string& properties) {
    const auto layer = MakeNamedLayer("fully_connected", properties);
    EXPECT_THAT(layer, IsOk());
    return (*layer)
        ->Describe({{{{2, 6}}}, NetworkMode::kTraining, ReferenceMath()})
        ->weights.size();
  };
  EXPECT_EQ(weights("unit=10"), 2u);
  EXPECT_EQ(weights("unit=10, bias=true"), 2u);
  EXPECT_EQ(weights("unit=10, bias=false"), 1u);
}

TEST(NamedLayersTest, MakesEachTypeWithItsProperties) {
  std::vector<std::string> made;
  std::vector<Case> cases = ImageCases();
  for (const Case& c : RowCases()) cases.push_back(c);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.type + " " + c.properties);
    const auto layer = MakeNamedLayer(c.type, c.properties);
    ASSERT_THAT(layer, IsOk());
    EXPECT_EQ(std::string((*layer)->type()), c.layer_type);
    const auto signature =
        (*layer)->Describe({c.inputs, NetworkMode::kTraining, ReferenceMath()});
    ASSERT_THAT(signature, IsOk());
    EXPECT_EQ(signature->output.shape.elements(), c.output.elements())
        << signature->output.shape.ToString();
    if (made.empty() || made.back() != c.type) made.push_back(c.type);
  }
  EXPECT_EQ(made, NamedLayerTypes());
}

TEST(NamedLayersTest, RefusesAnUnknownTypeWithTheNearest) {
  EXPECT_THAT(MakeNamedLayer("fully_conected", "unit=1").status(),
              StatusIs(kInvalid, HasSubstr("\"fully_connected\"")));
  EXPECT_THAT(MakeNamedLayer("", "").status(), StatusIs(kInvalid));
}

TEST(NamedLayersTest, RefusesMissingUnknownAndMalformedProperties) {
  const struct {
    const char* type;
    const char* properties;
    const char* text;
  } kCases[] = {
      {"fully_connected", "", "\"unit\" is missing"},
      {"fully_connected", "units=3", "\"unit\" is missing"},
      {"fully_connected", "unit=3, units=3", "no property \"units\""},
      {"flatten", "unit=3", "it takes none"},
      {"conv2d", "filters=3", "\"kernel_size\" is missing"},
      {"conv2d", "filters=3, kernel_size=3,3", "write KEY=VALUE"},
      {"pooling2d", "pooling=max", "\"pool_size\" is missing"},
      {"pooling2d", "pooling=least, pool_size=2", "max, average or"},
      {"pooling2d", "pooling=global_average, pool_size=2", "\"pool_size\""},
      {"activation", "activation=relu6", "relu, sigmoid"},
      {"cross_softmax", "ignored_label=3000000000", "must be an int32"},
      {"dropout", "dropout_rate=often", "a number is needed"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(MakeNamedLayer(c.type, c.properties).status(),
                StatusIs(kInvalid, HasSubstr(c.text)))
        << c.type << " " << c.properties;
  }
}

TEST(NamedLayersTest, NumbersThatSuitNoNetworkAreRefusedByTheLayer) {
  const TensorType rows = {{2, 6}};
  const TensorType images = {{2, 4, 8, 8}};
  const struct {
    const char* type;
    const char* properties;
    TensorType input;
  } kCases[] = {
      {"fully_connected", "unit=0", rows},
      {"fully_connected", "unit=-9223372036854775808", rows},
      {"conv2d", "filters=-1, kernel_size=3", images},
      {"conv2d", "filters=4, kernel_size=0", images},
      {"conv2d", "filters=4, kernel_size=3, stride=0", images},
      {"conv2d", "filters=4, kernel_size=3, groups=3", images},
      {"pooling2d", "pooling=max, pool_size=-2", images},
      {"pooling2d", "pooling=average, pool_size=99", images},
      {"dropout", "dropout_rate=1", rows},
      {"dropout", "dropout_rate=nan", rows},
      {"concat", "axis=-1", rows},
      {"concat", "axis=4294967297", rows},
  };
  for (const auto& c : kCases) {
    const auto layer = MakeNamedLayer(c.type, c.properties);
    ASSERT_THAT(layer, IsOk()) << c.type << " " << c.properties;
    EXPECT_THAT(
        (*layer)
            ->Describe(
                {{c.input, c.input}, NetworkMode::kTraining, ReferenceMath()})
            .status(),
        StatusIs(kInvalid))
        << c.type << " " << c.properties;
    EXPECT_THAT(
        (*layer)
            ->Describe({{c.input}, NetworkMode::kTraining, ReferenceMath()})
            .status(),
        StatusIs(kInvalid))
        << c.type << " " << c.properties;
  }
}

}  // namespace
}  // namespace footprint
