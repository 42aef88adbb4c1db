#include "footprint/lowmem/models/decoder_weights.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

// The names of a decoder's tensors, without ".weight" and ".bias". Those of a
// layer follow its number.
struct DecoderNames {
  const char* prefix;
  const char* words;
  const char* positions;
  const char* layer;  // followed by its number and a dot
  const char* norm;
  const char* output;

  const char* attention_norm;
  const char* joined_heads;
  const char* query;
  const char* key;
  const char* value;
  const char* query_norm;
  const char* key_norm;
  const char* attention_output;
  const char* after_attention_norm;
  const char* feed_norm;
  const char* joined_gate;  // and what it gates
  const char* gate;
  const char* expand;
  const char* contract;
  const char* after_feed_norm;

  const char* embedding_norm = "";  // if norms replace the states
  const char* token_types = "";
};

constexpr DecoderNames kGpt2Names = {"transformer.",
                                     "wte",
                                     "wpe",
                                     "h.",
                                     "ln_f",
                                     "lm_head",
                                     "ln_1",
                                     "attn.c_attn",
                                     "",
                                     "",
                                     "",
                                     "",
                                     "",
                                     "attn.c_proj",
                                     "",
                                     "ln_2",
                                     "",
                                     "",
                                     "mlp.c_fc",
                                     "mlp.c_proj",
                                     ""};

constexpr DecoderNames kLlamaNames = {"model.",
                                      "embed_tokens",
                                      "",
                                      "layers.",
                                      "norm",
                                      "lm_head",
                                      "input_layernorm",
                                      "self_attn.qkv_proj",
                                      "self_attn.q_proj",
                                      "self_attn.k_proj",
                                      "self_attn.v_proj",
                                      "self_attn.q_norm",
                                      "self_attn.k_norm",
                                      "self_attn.o_proj",
                                      "",
                                      "post_attention_layernorm",
                                      "mlp.gate_up_proj",
                                      "mlp.gate_proj",
                                      "mlp.up_proj",
                                      "mlp.down_proj",
                                      ""};

constexpr DecoderNames kModernBertNames = {
    "model.",     "embeddings.tok_embeddings",
    "",           "layers.",
    "final_norm", "",
    "attn_norm",  "attn.Wqkv",
    "",           "",
    "",           "",
    "",           "attn.Wo",
    "",           "mlp_norm",
    "mlp.Wi",     "",
    "",           "mlp.Wo",
    "",           "embeddings.norm"};

constexpr DecoderNames kNomicBertNames = {"bert.",
                                          "embeddings.word_embeddings",
                                          "",
                                          "encoder.layers.",
                                          "",
                                          "",
                                          "",
                                          "attn.Wqkv",
                                          "",
                                          "",
                                          "",
                                          "",
                                          "",
                                          "attn.out_proj",
                                          "",
                                          "norm1",
                                          "",
                                          "mlp.fc12",
                                          "mlp.fc11",
                                          "mlp.fc2",
                                          "norm2",
                                          "emb_ln",
                                          "embeddings.token_type_embeddings"};

constexpr DecoderNames kGgufNames = {"",
                                     "token_embd",
                                     "position_embd",
                                     "blk.",
                                     "output_norm",
                                     "output",
                                     "attn_norm",
                                     "attn_qkv",
                                     "attn_q",
                                     "attn_k",
                                     "attn_v",
                                     "attn_q_norm",
                                     "attn_k_norm",
                                     "attn_output",
                                     "post_attention_norm",
                                     "ffn_norm",
                                     "ffn_up",
                                     "ffn_gate",
                                     "ffn_up",
                                     "ffn_down",
                                     "post_ffw_norm"};

DecoderNames FindNames(const WeightStore& store, const DecoderConfig& config) {
  if (store.index().FindOrNull("token_embd.weight") != nullptr) {
    return kGgufNames;
  }
  if (config.family == ModelFamily::kGpt2) return kGpt2Names;
  if (config.family == ModelFamily::kModernBert) return kModernBertNames;
  if (config.family == ModelFamily::kNomicBert) return kNomicBertNames;
  DecoderNames names = kLlamaNames;
  // The norm before the feed-forward part is called "post_attention_layernorm".
  // If there are norms after the parts, that is the name of one of these.
  if (config.has_norms_after) {
    names.after_attention_norm = "post_attention_layernorm";
    names.feed_norm = "pre_feedforward_layernorm";
    names.after_feed_norm = "post_feedforward_layernorm";
  }
  return names;
}

NormTensors FindNorm(WeightBinder& binder, const DecoderConfig& config,
                     const std::string& name) {
  if (!config.has_rms_norms && config.has_norm_bias) {
    return binder.Norm(name, config.hidden);
  }
  return {binder.Vector(name + ".weight", config.hidden), Weight()};
}

std::string LayerName(const DecoderNames& names, int64_t layer) {
  return absl::StrCat(names.layer, layer, ".");
}

// Returns the name of the norm before the layer's attention, or before the
// output for the layer after the last.
std::string NormNameBefore(const DecoderConfig& config,
                           const DecoderNames& names, int64_t layer) {
  if (layer == 0 && config.replacing_norms != ReplacingNorms::kNone) {
    return names.embedding_norm;
  }
  if (config.replacing_norms == ReplacingNorms::kAll) {
    return LayerName(names, layer - 1) + names.after_feed_norm;
  }
  return layer == config.layers
             ? names.norm
             : LayerName(names, layer) + names.attention_norm;
}

// Finds the weights of one layer.
class LayerFinder {
 public:
  LayerFinder(WeightBinder& binder, const DecoderConfig& config,
              const DecoderNames& names, int64_t layer)
      : binder_(binder),
        config_(config),
        names_(names),
        layer_(layer),
        begin_(LayerName(names, layer)) {}

  DecoderLayerWeights Find() {
    DecoderLayerWeights weights;
    if (config_.has_norms_before) {
      weights.attention_norm =
          FindNorm(binder_, config_, NormNameBefore(config_, names_, layer_));
      weights.feed_norm = Norm(names_.feed_norm);
    }
    FindHeads(&weights);
    weights.attention_output =
        Linear(names_.attention_output, config_.hidden,
               config_.query_features(), config_.has_output_bias);
    if (config_.has_norms_after) {
      weights.after_attention_norm = Norm(names_.after_attention_norm);
      weights.after_feed_norm = Norm(names_.after_feed_norm);
    }
    FindFeedForward(&weights);
    return weights;
  }

 private:
  NormTensors Norm(const char* name) {
    return FindNorm(binder_, config_, begin_ + name);
  }

  LinearWeights Linear(const char* name, int64_t outputs, int64_t inputs,
                       bool has_bias) {
    return config_.is_transposed
               ? binder_.TransposedLinear(begin_ + name, inputs, outputs)
               : binder_.LinearWithBias(begin_ + name, outputs, inputs,
                                        has_bias);
  }

  void FindHeads(DecoderLayerWeights* weights) {
    const int64_t queries = config_.query_features();
    const int64_t keys = config_.key_value_features();
    const auto find = [&](const char* name, int64_t outputs) {
      return Linear(name, outputs, config_.hidden, config_.has_attention_bias);
    };
    if (config_.has_joined_matrices) {
      const LinearWeights joined =
          find(names_.joined_heads, queries + 2 * keys);
      weights->query = {joined, 0};
      weights->key = {joined, queries};
      weights->value = {joined, queries + keys};
    } else {
      weights->query = {find(names_.query, queries), 0};
      weights->key = {find(names_.key, keys), 0};
      weights->value = {find(names_.value, keys), 0};
    }
    if (!config_.has_head_norms) return;
    weights->query_gain =
        binder_.Vector(absl::StrCat(begin_, names_.query_norm, ".weight"),
                       config_.query_gains());
    weights->key_gain = binder_.Vector(
        absl::StrCat(begin_, names_.key_norm, ".weight"), config_.key_gains());
  }

  void FindFeedForward(DecoderLayerWeights* weights) {
    const int64_t inner = config_.intermediate;
    const auto find = [&](const char* name, int64_t outputs) {
      return Linear(name, outputs, config_.hidden, config_.has_feed_bias);
    };
    if (config_.has_joined_gate()) {
      const LinearWeights joined = find(names_.joined_gate, 2 * inner);
      weights->gate = {joined, 0};
      weights->expand = {joined, inner};
    } else {
      if (config_.is_gated) weights->gate = {find(names_.gate, inner), 0};
      weights->expand = {find(names_.expand, inner), 0};
    }
    weights->contract =
        Linear(names_.contract, config_.hidden, inner, config_.has_feed_bias);
  }

  WeightBinder& binder_;
  const DecoderConfig& config_;
  const DecoderNames& names_;
  const int64_t layer_;
  const std::string begin_;
};

}  // namespace

std::vector<const LinearWeights*> DecoderLayerWeights::linears() const {
  std::vector<const LinearWeights*> all;
  const auto add = [&all](const LinearWeights& linear) {
    const bool is_again =
        !all.empty() && linear.matrix.exists() && all.back()->matrix.exists() &&
        &all.back()->matrix.tensor() == &linear.matrix.tensor();
    if (linear.matrix.exists() && !is_again) all.push_back(&linear);
  };
  for (const LinearPart* part : {&query, &key, &value}) add(part->weights);
  add(attention_output);
  add(gate.weights);
  add(expand.weights);
  add(contract);
  return all;
}

std::vector<const NormTensors*> DecoderLayerWeights::norms() const {
  std::vector<const NormTensors*> all;
  for (const NormTensors* norm :
       {&attention_norm, &after_attention_norm, &feed_norm, &after_feed_norm}) {
    if (norm->gain.exists()) all.push_back(norm);
  }
  return all;
}

std::vector<Weight> ListWholeTensors(const DecoderWeights& weights) {
  std::vector<Weight> tensors;
  const auto add = [&tensors](const Weight& weight) {
    if (weight.exists()) tensors.push_back(weight);
  };
  add(weights.norm.gain);
  add(weights.norm.bias);
  for (const DecoderLayerWeights& layer : weights.layers) {
    add(layer.query_gain);
    add(layer.key_gain);
  }
  AddLayerTensors(weights.layers, &tensors);
  add(weights.output);
  return tensors;
}

std::vector<Weight> TensorsToPin(const DecoderWeights& weights) {
  std::vector<Weight> tensors = ListWholeTensors(weights);
  if (weights.positions.exists()) tensors.push_back(weights.positions);
  if (weights.token_types.exists()) tensors.push_back(weights.token_types);
  const bool is_tied = weights.output.exists() &&
                       &weights.words.tensor() == &weights.output.tensor();
  if (!is_tied) tensors.push_back(weights.words);
  return tensors;
}

std::vector<Weight> MultipliedMatrices(const DecoderWeights& weights) {
  std::vector<Weight> matrices = LayerMatrices(weights.layers);
  if (weights.output.exists()) matrices.push_back(weights.output);
  return matrices;
}

int64_t ComputePassBytes(const DecoderWeights& weights) {
  return AddStoredBytes(ListWholeTensors(weights));
}

absl::StatusOr<DecoderWeights> FindDecoderWeights(const WeightStore& store,
                                                  const DecoderConfig& config,
                                                  DecoderUse use) {
  const DecoderNames names = FindNames(store, config);
  const auto weight_of = [](const char* name) {
    return absl::StrCat(name, ".weight");
  };
  WeightBinder binder(store, names.prefix,
                      NormNameBefore(config, names, config.layers) + ".weight");
  // The head stands beside the transformer, not below it.
  const std::string output = weight_of(names.output);
  WeightBinder head(store, "", output);
  DecoderWeights weights;
  // A file holds one of two tied matrices, mostly the words.
  const std::string words = weight_of(names.words);
  const bool only_head =
      config.ties_output && !binder.Has(words) && head.Has(output);
  weights.words = only_head
                      ? head.Matrix(output, config.vocabulary, config.hidden)
                      : binder.Matrix(words, config.vocabulary, config.hidden);
  if (config.has_position_table()) {
    weights.positions = binder.Matrix(weight_of(names.positions),
                                      config.positions, config.hidden);
  }
  for (int64_t layer = 0; layer < config.layers && binder.status().ok();
       ++layer) {
    weights.layers.push_back(LayerFinder(binder, config, names, layer).Find());
  }
  if (config.token_types > 0) {
    weights.token_types = binder.Matrix(weight_of(names.token_types),
                                        config.token_types, config.hidden);
  }
  binder.CheckNoLayer(LayerName(names, config.layers), config.layers);
  weights.norm =
      FindNorm(binder, config, NormNameBefore(config, names, config.layers));
  if (use == DecoderUse::kLogits) {
    weights.output = config.ties_output ? weights.words
                                        : head.Matrix(output, config.vocabulary,
                                                      config.hidden);
  }
  if (!binder.status().ok()) return binder.status();
  if (!head.status().ok()) return head.status();
  return weights;
}

}  // namespace footprint
