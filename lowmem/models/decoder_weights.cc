#include "footprint/lowmem/models/decoder_weights.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

// How a family names what every decoder has.
struct DecoderNames {
  const char* prefix;
  const char* words;
  const char* layer;  // followed by its number and a dot
  const char* norm;
  const char* sample;  // which says whether the file has the prefix
};

DecoderNames FindNames(ModelFamily family) {
  if (family == ModelFamily::kGpt2) {
    return {"transformer.", "wte.weight", "h.", "ln_f", "wpe.weight"};
  }
  return {"model.", "embed_tokens.weight", "layers.", "norm", "norm.weight"};
}

std::string LayerName(const DecoderConfig& config, int64_t layer) {
  return absl::StrCat(FindNames(config.family).layer, layer, ".");
}

DecoderLayerWeights FindGpt2Layer(WeightBinder& binder,
                                  const DecoderConfig& config,
                                  const std::string& begin) {
  const int64_t hidden = config.hidden;
  DecoderLayerWeights weights;
  weights.attention_norm = binder.Norm(begin + "ln_1", hidden);
  const LinearWeights attention =
      binder.TransposedLinear(begin + "attn.c_attn", hidden, 3 * hidden);
  weights.query = {attention, 0};
  weights.key = {attention, hidden};
  weights.value = {attention, 2 * hidden};
  weights.attention_output =
      binder.TransposedLinear(begin + "attn.c_proj", hidden, hidden);
  weights.feed_norm = binder.Norm(begin + "ln_2", hidden);
  weights.expand.weights =
      binder.TransposedLinear(begin + "mlp.c_fc", hidden, config.intermediate);
  weights.contract = binder.TransposedLinear(begin + "mlp.c_proj",
                                             config.intermediate, hidden);
  return weights;
}

void FindLlamaHeads(WeightBinder& binder, const DecoderConfig& config,
                    const std::string& begin, DecoderLayerWeights* weights) {
  const int64_t queries = config.query_features();
  const int64_t keys = config.key_value_features();
  const auto find = [&](const char* name, int64_t outputs) {
    return binder.LinearWithBias(begin + name, outputs, config.hidden,
                                 config.has_attention_bias);
  };
  if (config.has_joined_matrices) {
    const LinearWeights joined = find("qkv_proj", queries + 2 * keys);
    weights->query = {joined, 0};
    weights->key = {joined, queries};
    weights->value = {joined, queries + keys};
  } else {
    weights->query = {find("q_proj", queries), 0};
    weights->key = {find("k_proj", keys), 0};
    weights->value = {find("v_proj", keys), 0};
  }
  if (config.has_head_norms) {
    weights->query_gain =
        binder.Vector(begin + "q_norm.weight", config.head_features());
    weights->key_gain =
        binder.Vector(begin + "k_norm.weight", config.head_features());
  }
  weights->attention_output = binder.LinearWithBias(
      begin + "o_proj", config.hidden, queries, config.has_output_bias);
}

void FindLlamaFeedForward(WeightBinder& binder, const DecoderConfig& config,
                          const std::string& begin,
                          DecoderLayerWeights* weights) {
  const int64_t inner = config.intermediate;
  const auto find = [&](const char* name, int64_t outputs, int64_t inputs) {
    return binder.LinearWithBias(begin + name, outputs, inputs,
                                 config.has_feed_bias);
  };
  if (config.has_joined_matrices) {
    const LinearWeights joined = find("gate_up_proj", 2 * inner, config.hidden);
    weights->gate = {joined, 0};
    weights->expand = {joined, inner};
  } else {
    weights->gate = {find("gate_proj", inner, config.hidden), 0};
    weights->expand = {find("up_proj", inner, config.hidden), 0};
  }
  weights->contract = find("down_proj", config.hidden, inner);
}

DecoderLayerWeights FindLlamaLayer(WeightBinder& binder,
                                   const DecoderConfig& config,
                                   const std::string& begin) {
  const auto norm = [&](const char* name) {
    return NormTensors{
        binder.Vector(absl::StrCat(begin, name, ".weight"), config.hidden),
        Weight()};
  };
  DecoderLayerWeights weights;
  weights.attention_norm = norm("input_layernorm");
  FindLlamaHeads(binder, config, begin + "self_attn.", &weights);
  // The feed-forward part's own norm is called "post_attention_layernorm"
  // unless there are norms after the parts, one of which has that name then.
  if (config.has_norms_after) {
    weights.after_attention_norm = norm("post_attention_layernorm");
    weights.feed_norm = norm("pre_feedforward_layernorm");
    weights.after_feed_norm = norm("post_feedforward_layernorm");
  } else {
    weights.feed_norm = norm("post_attention_layernorm");
  }
  FindLlamaFeedForward(binder, config, begin + "mlp.", &weights);
  return weights;
}

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

std::vector<Weight> TensorsToPin(const DecoderWeights& weights) {
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
  add(weights.positions);
  const bool is_tied = weights.output.exists() &&
                       &weights.words.tensor() == &weights.output.tensor();
  if (!is_tied) add(weights.words);
  return tensors;
}

absl::StatusOr<DecoderWeights> FindDecoderWeights(const WeightStore& store,
                                                  const DecoderConfig& config,
                                                  DecoderUse use) {
  const DecoderNames names = FindNames(config.family);
  const bool is_gpt2 = config.family == ModelFamily::kGpt2;
  WeightBinder binder(store, names.prefix, names.sample);
  // The head stands beside the transformer, not below it.
  WeightBinder head(store, "", "lm_head.weight");
  DecoderWeights weights;
  // A file holds one of two tied matrices, mostly the words.
  const bool only_head = config.ties_output && !binder.Has(names.words) &&
                         head.Has("lm_head.weight");
  weights.words =
      only_head
          ? head.Matrix("lm_head.weight", config.vocabulary, config.hidden)
          : binder.Matrix(names.words, config.vocabulary, config.hidden);
  if (config.has_position_table()) {
    weights.positions =
        binder.Matrix("wpe.weight", config.positions, config.hidden);
  }
  for (int64_t layer = 0; layer < config.layers && binder.status().ok();
       ++layer) {
    const std::string begin = LayerName(config, layer);
    weights.layers.push_back(is_gpt2 ? FindGpt2Layer(binder, config, begin)
                                     : FindLlamaLayer(binder, config, begin));
  }
  binder.CheckNoLayer(LayerName(config, config.layers), config.layers);
  weights.norm =
      config.has_rms_norms
          ? NormTensors{binder.Vector(absl::StrCat(names.norm, ".weight"),
                                      config.hidden),
                        Weight()}
          : binder.Norm(names.norm, config.hidden);
  if (use == DecoderUse::kLogits) {
    weights.output =
        config.ties_output
            ? weights.words
            : head.Matrix("lm_head.weight", config.vocabulary, config.hidden);
  }
  if (!binder.status().ok()) return binder.status();
  if (!head.status().ok()) return head.status();
  return weights;
}

}  // namespace footprint
