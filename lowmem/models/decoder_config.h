// The shape of a decoder, read from a checkpoint's config.json.
//
//   absl::StatusOr<footprint::DecoderConfig> config =
//       footprint::ReadDecoderConfig("Qwen3-0.6B/config.json");
//
// Families: GPT-2, and what came after Llama: Llama 2 and 3 (and all that are
// published in their form, as SmolLM2), Mistral, Qwen 2.5 and 3, Gemma 3 (text)
// and Phi-3. They differ in what the fields of DecoderConfig say, and in the
// names of their tensors (decoder_weights.h). Configs of transformers 4 and 5
// are read: "rope_scaling" and "rope_parameters", "layer_types" or what it was
// before.
//
// Keys that do not change the computation are ignored; values that do are
// checked.
//
// Errors are those of ConfigReader, of model_family.h, which says how the
// family is found, and of rotary_positions.h. Unimplemented: another family or
// activation, attention with another scale or with capped scores.
//
// Plain data, thread-compatible. Memory: about 200 bytes, 4 for each pair of a
// head's features, and while it is read ConfigReader's.

#ifndef FOOTPRINT_LOWMEM_MODELS_DECODER_CONFIG_H_
#define FOOTPRINT_LOWMEM_MODELS_DECODER_CONFIG_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/simd/activation.h"
#include "footprint/lowmem/checkpoints/model_family.h"
#include "footprint/lowmem/models/rotary_positions.h"

namespace footprint {

// The layers that let a token see only the last `window` tokens, its own
// included.
struct SlidingLayers {
  int64_t window = 0;      // 0: no layer does
  int64_t first = 0;       // the layers before it see all tokens
  int64_t full_every = 0;  // so does each layer of this number; 0: none
  // One entry a layer, where the config lists them; then it alone counts.
  std::vector<bool> listed;

  bool slides(int64_t layer) const;
};

bool operator==(const SlidingLayers& a, const SlidingLayers& b);

struct DecoderConfig {
  ModelFamily family = ModelFamily::kGpt2;
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t heads = 0;  // of queries
  // Heads of keys and values, each of which several heads of queries share; 0:
  // as many as heads.
  int64_t key_value_heads_or_zero = 0;
  // Features of a head; 0: the hidden features, shared by the heads.
  int64_t head_features_or_zero = 0;
  int64_t intermediate = 0;
  int64_t vocabulary = 0;
  int64_t positions = 0;
  float epsilon = 1e-5f;
  Activation activation = Activation::kGeluTanh;
  // The table of words is the output matrix, too, if this is set.
  bool ties_output = true;

  // Scores are multiplied by this; 0: one over the square root of a head's
  // features.
  float score_scale_or_zero = 0;
  // Rows of the table of words are multiplied by the square root of the hidden
  // features, rounded to the table's type.
  bool scales_words = false;
  // Norms divide by the root of the mean square and have no bias, and their
  // gains are stored less one where `adds_one_to_gains`.
  bool has_rms_norms = false;
  bool adds_one_to_gains = false;
  // Queries and keys are normalised head by head.
  bool has_head_norms = false;
  // The outputs of attention and of the feed-forward part are normalised before
  // they are added.
  bool has_norms_after = false;
  // The feed-forward part is contract(activation(gate(x)) expand(x)).
  bool is_gated = false;
  bool has_attention_bias = true;
  bool has_output_bias = true;  // of attention
  bool has_feed_bias = true;
  // Queries, keys and values are one matrix, and so are gate and expand.
  bool has_joined_matrices = true;
  // Matrices lie as [inputs, outputs].
  bool is_transposed = true;
  // The rotation of queries and keys; with no pairs, positions are rows of a
  // table.
  RotaryPositions rotary;
  SlidingLayers sliding;
  // The angles of sliding layers, where they have their own.
  RotaryPositions sliding_rotary;

  int64_t head_features() const {
    return head_features_or_zero > 0 ? head_features_or_zero : hidden / heads;
  }
  int64_t key_value_heads() const {
    return key_value_heads_or_zero > 0 ? key_value_heads_or_zero : heads;
  }
  // Returns how many heads of queries share one of keys and values.
  int64_t group() const { return heads / key_value_heads(); }
  int64_t query_features() const { return heads * head_features(); }
  int64_t key_value_features() const {
    return key_value_heads() * head_features();
  }
  float score_scale() const;
  bool has_position_table() const { return rotary.frequencies.empty(); }
};

bool operator==(const DecoderConfig& a, const DecoderConfig& b);

absl::StatusOr<DecoderConfig> ReadDecoderConfig(absl::string_view path);

// `name` is for messages.
absl::StatusOr<DecoderConfig> ParseDecoderConfig(absl::string_view json,
                                                 absl::string_view name);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODELS_DECODER_CONFIG_H_
