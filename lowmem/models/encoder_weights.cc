#include "footprint/lowmem/models/encoder_weights.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

struct FamilyNames {
  const char* prefix;
  const char* layer;  // followed by the number
  const char* query;
  const char* key;
  const char* value;
  const char* attention_output;
  const char* attention_norm;
  const char* expand;
  const char* contract;
  const char* output_norm;
};

constexpr FamilyNames kBertNames = {"bert.",
                                    "encoder.layer.",
                                    "attention.self.query",
                                    "attention.self.key",
                                    "attention.self.value",
                                    "attention.output.dense",
                                    "attention.output.LayerNorm",
                                    "intermediate.dense",
                                    "output.dense",
                                    "output.LayerNorm"};
constexpr FamilyNames WithPrefix(FamilyNames names, const char* prefix) {
  names.prefix = prefix;
  return names;
}

constexpr FamilyNames kRobertaNames = WithPrefix(kBertNames, "roberta.");
constexpr FamilyNames kDistilBertNames = {
    "distilbert.",      "transformer.layer.", "attention.q_lin",
    "attention.k_lin",  "attention.v_lin",    "attention.out_lin",
    "sa_layer_norm",    "ffn.lin1",           "ffn.lin2",
    "output_layer_norm"};

constexpr FamilyNames kMpnetNames = {"mpnet.",
                                     "encoder.layer.",
                                     "attention.attn.q",
                                     "attention.attn.k",
                                     "attention.attn.v",
                                     "attention.attn.o",
                                     "attention.LayerNorm",
                                     "intermediate.dense",
                                     "output.dense",
                                     "output.LayerNorm"};

const FamilyNames& FindFamilyNames(const EncoderConfig& config) {
  if (config.family == EncoderFamily::kMpnet) return kMpnetNames;
  if (config.family == EncoderFamily::kRoberta) return kRobertaNames;
  return config.family == EncoderFamily::kBert ? kBertNames : kDistilBertNames;
}

std::string LayerName(const EncoderConfig& config, int64_t layer) {
  return absl::StrCat(FindFamilyNames(config).layer, layer, ".");
}

EncoderLayerWeights FindLayer(WeightBinder& binder, const EncoderConfig& config,
                              int64_t layer) {
  const FamilyNames& names = FindFamilyNames(config);
  const std::string begin = LayerName(config, layer);
  const int64_t hidden = config.hidden;
  EncoderLayerWeights weights;
  weights.query = binder.Linear(begin + names.query, hidden, hidden);
  weights.key = binder.Linear(begin + names.key, hidden, hidden);
  weights.value = binder.Linear(begin + names.value, hidden, hidden);
  weights.attention_output =
      binder.Linear(begin + names.attention_output, hidden, hidden);
  weights.attention_norm = binder.Norm(begin + names.attention_norm, hidden);
  weights.expand =
      binder.Linear(begin + names.expand, config.intermediate, hidden);
  weights.contract =
      binder.Linear(begin + names.contract, hidden, config.intermediate);
  weights.output_norm = binder.Norm(begin + names.output_norm, hidden);
  return weights;
}

}  // namespace

std::vector<Weight> ListWholeTensors(const EncoderWeights& weights) {
  std::vector<Weight> tensors = {weights.norm.gain, weights.norm.bias};
  if (weights.distances.exists()) tensors.push_back(weights.distances);
  AddLayerTensors(weights.layers, &tensors);
  return tensors;
}

std::vector<Weight> MultipliedMatrices(const EncoderWeights& weights) {
  return LayerMatrices(weights.layers);
}

int64_t ComputePassBytes(const EncoderWeights& weights) {
  return AddStoredBytes(ListWholeTensors(weights));
}

std::vector<Weight> TensorsToPin(const EncoderWeights& weights) {
  std::vector<Weight> tensors = ListWholeTensors(weights);
  if (weights.has_token_types) tensors.push_back(weights.token_types);
  tensors.push_back(weights.positions);
  tensors.push_back(weights.words);
  return tensors;
}

absl::StatusOr<EncoderWeights> FindEncoderWeights(const WeightStore& store,
                                                  const EncoderConfig& config) {
  const std::string embeddings = "embeddings.";
  WeightBinder binder(store, FindFamilyNames(config).prefix,
                      embeddings + "word_embeddings.weight");
  EncoderWeights weights;
  weights.words = binder.Matrix(embeddings + "word_embeddings.weight",
                                config.vocabulary, config.hidden);
  weights.positions = binder.Matrix(embeddings + "position_embeddings.weight",
                                    config.position_rows(), config.hidden);
  if (config.token_types > 0) {
    weights.has_token_types = true;
    weights.token_types =
        binder.Matrix(embeddings + "token_type_embeddings.weight",
                      config.token_types, config.hidden);
  }
  weights.norm = binder.Norm(embeddings + "LayerNorm", config.hidden);
  if (config.distances > 0) {
    weights.distances = binder.Matrix("encoder.relative_attention_bias.weight",
                                      config.distances, config.heads);
  }
  for (int64_t layer = 0; layer < config.layers && binder.status().ok();
       ++layer) {
    weights.layers.push_back(FindLayer(binder, config, layer));
  }
  binder.CheckNoLayer(LayerName(config, config.layers), config.layers);
  if (!binder.status().ok()) return binder.status();
  return weights;
}

}  // namespace footprint
