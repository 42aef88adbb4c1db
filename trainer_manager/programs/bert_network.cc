#include "footprint/trainer_manager/programs/bert_network.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/attention.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/normalization.h"
#include "footprint/trainer_manager/layers/structure_layers.h"

namespace footprint {
namespace {

constexpr int64_t kHeadWidth = 64;
constexpr int kFeatureAxis = 2;
constexpr float kEpsilon = 1e-12f;

// Adds one layer of the encoder. Its output has the name "PREFIX.output".
void AddEncoderLayer(const std::string& prefix, const std::string& input,
                     int64_t width, Network* network) {
  const auto part = [&](const std::string& name) {
    return absl::StrCat(prefix, ".", name);
  };
  const auto add = [&](const std::string& name, LayerPointer layer,
                       std::vector<std::string> inputs) {
    network->AddLayer(part(name), std::move(layer), std::move(inputs));
  };
  AttentionOptions attention;
  attention.heads = width / kHeadWidth;
  const std::string query = part("attention.self.query");
  const std::string key = part("attention.self.key");
  const std::string value = part("attention.self.value");
  const std::string attended = part("attention.output.LayerNorm");
  network->AddLayer(query, FullyConnected(width), {input});
  network->AddLayer(key, FullyConnected(width), {input});
  network->AddLayer(value, FullyConnected(width), {input});
  add("query_key", Concatenate(kFeatureAxis), {query, key});
  add("query_key_value", Concatenate(kFeatureAxis), {part("query_key"), value});
  add("heads", Attention(attention), {part("query_key_value")});
  add("attention.output.dense", FullyConnected(width), {part("heads")});
  add("attention.sum", Add(), {input, part("attention.output.dense")});
  network->AddLayer(attended, LayerNormalization(kEpsilon),
                    {part("attention.sum")});
  add("intermediate.dense", FullyConnected(4 * width), {attended});
  add("gelu", Gelu(), {part("intermediate.dense")});
  add("output.dense", FullyConnected(width), {part("gelu")});
  add("sum", Add(), {attended, part("output.dense")});
  add("output.LayerNorm", LayerNormalization(kEpsilon), {part("sum")});
}

}  // namespace

Network BertNetwork(const BertShape& shape) {
  Network network;
  const TensorType indices = {{shape.batch, shape.positions}, DType::kI32};
  network.AddInput("tokens", indices);
  network.AddInput("types", indices);
  const auto add = [&](const std::string& name, LayerPointer layer,
                       std::vector<std::string> inputs) {
    network.AddLayer(absl::StrCat("embeddings.", name), std::move(layer),
                     std::move(inputs));
  };
  add("word_embeddings", Embedding(shape.words, shape.width), {"tokens"});
  add("token_type_embeddings", Embedding(2, shape.width), {"types"});
  add("sum", Add(),
      {"embeddings.word_embeddings", "embeddings.token_type_embeddings"});
  add("position_embeddings", PositionEmbedding(), {"embeddings.sum"});
  add("LayerNorm", LayerNormalization(kEpsilon),
      {"embeddings.position_embeddings"});
  std::string last = "embeddings.LayerNorm";
  for (int64_t l = 0; l < shape.layers; ++l) {
    const std::string prefix = absl::StrCat("encoder.layer.", l);
    AddEncoderLayer(prefix, last, shape.width, &network);
    last = absl::StrCat(prefix, ".output.LayerNorm");
  }
  network.AddLayer("head", FullyConnected(shape.classes), {last});
  network.AddLayer("loss", SoftmaxCrossEntropy(), {"head"});
  return network;
}

}  // namespace footprint
