#include "footprint/trainer_manager/c/named_layers.h"

#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/text/near_names.h"
#include "footprint/trainer_manager/c/properties.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/attention.h"
#include "footprint/trainer_manager/layers/convolution2d.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/normalization.h"
#include "footprint/trainer_manager/layers/pooling.h"
#include "footprint/trainer_manager/layers/rotary_positions.h"
#include "footprint/trainer_manager/layers/structure_layers.h"

namespace footprint {
namespace {

// A maker takes its properties; what it returns counts only if Finish succeeds,
// and is null for the value of a property that names no kind.
using Maker = LayerPointer (*)(Properties* properties);

LayerPointer MakeFullyConnected(Properties* properties) {
  int64_t units = 0;
  properties->Require("unit");
  properties->Take("unit", &units);
  bool bias = true;
  properties->Take("bias", &bias);
  return FullyConnected(units, bias);
}

LayerPointer MakeConvolution(Properties* properties) {
  Convolution2dOptions options;
  properties->Require("filters");
  properties->Take("filters", &options.channels);
  properties->Require("kernel_size");
  properties->Take("kernel_size", &options.kernel);
  properties->Take("stride", &options.stride);
  properties->Take("padding", &options.padding);
  properties->Take("bias", &options.bias);
  properties->Take("groups", &options.groups);
  return Convolution2d(options);
}

LayerPointer MakePooling(Properties* properties) {
  std::string pooling;
  properties->Require("pooling");
  properties->Take("pooling", &pooling);
  if (pooling == "global_average") return GlobalAveragePool2d();
  int64_t window = 0;
  int64_t stride = 0;
  properties->Require("pool_size");
  properties->Take("pool_size", &window);
  properties->Take("stride", &stride);
  if (pooling == "max") return MaxPool2d(window, stride);
  if (pooling == "average") return AveragePool2d(window, stride);
  return nullptr;
}

LayerPointer MakeActivation(Properties* properties) {
  std::string activation;
  properties->Require("activation");
  properties->Take("activation", &activation);
  if (activation == "relu") return Relu();
  if (activation == "sigmoid") return Sigmoid();
  if (activation == "tanh") return Tanh();
  if (activation == "gelu") return Gelu();
  if (activation == "swish") return Silu();
  return nullptr;
}

LayerPointer MakeDropout(Properties* properties) {
  float rate = 0;
  properties->Require("dropout_rate");
  properties->Take("dropout_rate", &rate);
  return Dropout(rate);
}

LayerPointer MakeBatchNormalization(Properties* properties) {
  float epsilon = 1e-5f;
  float momentum = 0.1f;
  properties->Take("epsilon", &epsilon);
  properties->Take("momentum", &momentum);
  return BatchNormalization(epsilon, momentum);
}

LayerPointer MakeLayerNormalization(Properties* properties) {
  float epsilon = 1e-5f;
  properties->Take("epsilon", &epsilon);
  return LayerNormalization(epsilon);
}

LayerPointer MakeRmsNormalization(Properties* properties) {
  float epsilon = 1e-6f;
  properties->Take("epsilon", &epsilon);
  return RmsNormalization(epsilon);
}

LayerPointer MakeFlatten(Properties*) { return Flatten(); }
LayerPointer MakeAddition(Properties*) { return Add(); }
LayerPointer MakeMultiplication(Properties*) { return Multiply(); }
LayerPointer MakePositionEmbedding(Properties*) { return PositionEmbedding(); }

LayerPointer MakeConcatenation(Properties* properties) {
  int64_t axis = 1;
  properties->Take("axis", &axis);
  // A number that is no axis is refused when the network is planned.
  const bool is_axis = axis >= 0 && axis <= std::numeric_limits<int>::max();
  return Concatenate(is_axis ? static_cast<int>(axis) : 0);
}

LayerPointer MakeEmbedding(Properties* properties) {
  int64_t entries = 0;
  int64_t width = 0;
  properties->Require("in_dim");
  properties->Take("in_dim", &entries);
  properties->Require("out_dim");
  properties->Take("out_dim", &width);
  return Embedding(entries, width);
}

LayerPointer MakeAttention(Properties* properties) {
  AttentionOptions options;
  properties->Require("num_heads");
  properties->Take("num_heads", &options.heads);
  properties->Take("num_key_heads", &options.key_heads);
  properties->Take("causal", &options.causal);
  return Attention(options);
}

LayerPointer MakeRotaryPositions(Properties* properties) {
  RotaryOptions options;
  float base = 10000;
  properties->Require("num_heads");
  properties->Take("num_heads", &options.heads);
  properties->Require("head_width");
  properties->Take("head_width", &options.head_width);
  properties->Take("rope_theta", &base);
  options.base = static_cast<double>(base);
  return RotaryPositions(options);
}

LayerPointer MakeSquaredError(Properties* properties) {
  SquaredErrorOptions options;
  float ignored = 0;
  if (properties->Has("ignored_label")) {
    properties->Take("ignored_label", &ignored);
    options.ignored_label = ignored;
  }
  return MeanSquaredError(options);
}

LayerPointer MakeSoftmax(Properties* properties) {
  SoftmaxOptions options;
  properties->Take("label_smoothing", &options.label_smoothing);
  int64_t ignored = 0;
  if (properties->Has("ignored_label")) {
    properties->Take("ignored_label", &ignored);
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    if (ignored < -kMost || ignored > kMost) return nullptr;
    options.ignored_label = static_cast<int32_t>(ignored);
  }
  return SoftmaxCrossEntropy(options);
}

struct NamedMaker {
  absl::string_view type;
  Maker make;
  // Says which values there are, where the maker returns null.
  absl::string_view values;
};

constexpr NamedMaker kMakers[] = {
    {"fully_connected", MakeFullyConnected, ""},
    {"conv2d", MakeConvolution, ""},
    {"pooling2d", MakePooling,
     "pooling must be max, average or global_average"},
    {"activation", MakeActivation,
     "activation must be relu, sigmoid, tanh, gelu or swish"},
    {"dropout", MakeDropout, ""},
    {"batch_normalization", MakeBatchNormalization, ""},
    {"layer_normalization", MakeLayerNormalization, ""},
    {"rms_norm", MakeRmsNormalization, ""},
    {"flatten", MakeFlatten, ""},
    {"addition", MakeAddition, ""},
    {"multiply", MakeMultiplication, ""},
    {"concat", MakeConcatenation, ""},
    {"embedding", MakeEmbedding, ""},
    {"position_embedding", MakePositionEmbedding, ""},
    {"attention", MakeAttention, ""},
    {"rotary_positions", MakeRotaryPositions, ""},
    {"mse", MakeSquaredError, ""},
    {"cross_softmax", MakeSoftmax, "ignored_label must be an int32"},
};

}  // namespace

absl::StatusOr<LayerPointer> MakeNamedLayer(absl::string_view type,
                                            absl::string_view properties) {
  for (const NamedMaker& maker : kMakers) {
    if (maker.type != type) continue;
    absl::StatusOr<Properties> parsed = Properties::Parse(properties);
    if (!parsed.ok()) return parsed.status();
    LayerPointer layer = maker.make(&*parsed);
    const absl::Status status = parsed->Finish(type);
    if (!status.ok()) return status;
    if (layer != nullptr) return layer;
    return absl::InvalidArgumentError(absl::StrCat(type, ": ", maker.values));
  }
  const std::vector<std::string> types = NamedLayerTypes();
  return absl::InvalidArgumentError(absl::StrCat(
      "no layer has the type \"", absl::CHexEscape(type), "\"",
      NearNamesText(
          type, std::vector<absl::string_view>(types.begin(), types.end()))));
}

std::vector<std::string> NamedLayerTypes() {
  std::vector<std::string> types;
  for (const NamedMaker& maker : kMakers) types.emplace_back(maker.type);
  return types;
}

}  // namespace footprint
