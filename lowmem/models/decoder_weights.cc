#include "footprint/lowmem/models/decoder_weights.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

std::string LayerName(int64_t layer) { return absl::StrCat("h.", layer, "."); }

DecoderLayerWeights FindLayer(WeightBinder& binder, const DecoderConfig& config,
                              int64_t layer) {
  const std::string begin = LayerName(layer);
  const int64_t hidden = config.hidden;
  DecoderLayerWeights weights;
  weights.attention_norm = binder.Norm(begin + "ln_1", hidden);
  weights.attention =
      binder.TransposedLinear(begin + "attn.c_attn", hidden, 3 * hidden);
  weights.attention_output =
      binder.TransposedLinear(begin + "attn.c_proj", hidden, hidden);
  weights.feed_norm = binder.Norm(begin + "ln_2", hidden);
  weights.expand =
      binder.TransposedLinear(begin + "mlp.c_fc", hidden, config.intermediate);
  weights.contract = binder.TransposedLinear(begin + "mlp.c_proj",
                                             config.intermediate, hidden);
  return weights;
}

}  // namespace

std::vector<Weight> TensorsToPin(const DecoderWeights& weights) {
  std::vector<Weight> tensors = {weights.norm.gain, weights.norm.bias};
  AddLayerTensors(weights.layers, &tensors);
  tensors.push_back(weights.output);
  tensors.push_back(weights.positions);
  if (&weights.words.tensor() != &weights.output.tensor()) {
    tensors.push_back(weights.words);
  }
  return tensors;
}

absl::StatusOr<DecoderWeights> FindDecoderWeights(const WeightStore& store,
                                                  const DecoderConfig& config) {
  WeightBinder binder(store, "transformer.", "wpe.weight");
  // The head stands beside the transformer, not below it.
  WeightBinder head(store, "", "lm_head.weight");
  DecoderWeights weights;
  // A file holds one of two tied matrices, mostly the words.
  const bool only_head = config.ties_output && !binder.Has("wte.weight") &&
                         head.Has("lm_head.weight");
  weights.words =
      only_head
          ? head.Matrix("lm_head.weight", config.vocabulary, config.hidden)
          : binder.Matrix("wte.weight", config.vocabulary, config.hidden);
  weights.positions =
      binder.Matrix("wpe.weight", config.positions, config.hidden);
  for (int64_t layer = 0; layer < config.layers && binder.status().ok();
       ++layer) {
    weights.layers.push_back(FindLayer(binder, config, layer));
  }
  binder.CheckNoLayer(LayerName(config.layers), config.layers);
  weights.norm = binder.Norm("ln_f", config.hidden);
  weights.output =
      config.ties_output
          ? weights.words
          : head.Matrix("lm_head.weight", config.vocabulary, config.hidden);
  if (!binder.status().ok()) return binder.status();
  if (!head.status().ok()) return head.status();
  return weights;
}

}  // namespace footprint
