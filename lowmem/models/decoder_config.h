// The shape of a decoder, read from a checkpoint's config.json.
//
//   absl::StatusOr<footprint::DecoderConfig> config =
//       footprint::ReadDecoderConfig("Qwen3-0.6B/config.json");
//
// Families: GPT-2, Llama 2 and 3 (and models in their form, such as SmolLM2),
// Mistral, Qwen 2.5 and 3, Gemma and Gemma 3 (text), Phi-3, OLMo-2, Granite 3,
// and SmolLM3, and encoders with the same layers: ModernBERT, NomicBert
// (nomic-embed-text) and the bidirectional Gemma 3 (EmbeddingGemma). They
// differ in the fields of DecoderConfig and in the names of their tensors
// (decoder_weights.h). Configs of transformers 4 and 5 are read: "rope_scaling"
// and "rope_parameters", "layer_types" and its earlier forms, and for NomicBert
// the keys of its own published code, too.
//
// Keys that do not change the computation are ignored. The values of keys that
// do are checked.
//
// Errors are those of ConfigReader, of model_family.h, which finds the family,
// and of rotary_positions.h. The error is Unimplemented if the family or the
// activation is not known, if attention has another scale or capped scores, if
// it is bidirectional in a Llama, Mistral, Qwen or Phi-3, or if a NomicBert has
// experts or another order of its parts.
//
// Plain data, thread-compatible. Memory: about 200 bytes, and 4 for each pair
// of a head's features; during the read also ConfigReader's.

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

// The layers in which a token sees only the last `window` tokens, including
// itself. In a bidirectional model it also sees the `window` - 1 after it.
struct SlidingLayers {
  int64_t window = 0;  // 0: no layer slides
  int64_t first = 0;   // the layers before it see all tokens
  // The last layer of each group of this many layers sees all tokens, or the
  // first one if `full_comes_first`. 0: no layer does.
  int64_t full_every = 0;
  bool full_comes_first = false;
  // Only the last layer of each group of this many slides; 0: no such groups.
  int64_t only_every = 0;
  // True for each layer that slides, if the config lists the layers; then
  // the fields above are ignored.
  std::vector<bool> listed;

  // Returns whether the layer is a sliding one.
  bool slides(int64_t layer) const;
};

bool operator==(const SlidingLayers& a, const SlidingLayers& b);

// The norms whose results replace the states that they normalise, in addition
// to being the input of the next part.
enum class ReplacingNorms {
  kNone,   // for models that normalise before each part
  kFirst,  // that of the embeddings alone (ModernBERT)
  kAll,    // for models that normalise after each part, as BERT does
};

// The layers whose queries and keys are rotated.
struct RotatingLayers {
  // The last layer of each group of this many does not rotate; 0: all do.
  int64_t unrotated_every = 0;
  // True for each layer that rotates, if the config lists the layers; then
  // `unrotated_every` is ignored.
  std::vector<bool> listed;

  // Returns whether the layer is a rotating one.
  bool rotates(int64_t layer) const;
};

bool operator==(const RotatingLayers& a, const RotatingLayers& b);

struct DecoderConfig {
  ModelFamily family = ModelFamily::kGpt2;
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t heads = 0;  // of queries
  // Heads of keys and values, each of which several query heads share; 0: as
  // many as heads.
  int64_t key_value_heads_or_zero = 0;
  // Features of a head; 0: hidden / heads.
  int64_t head_features_or_zero = 0;
  int64_t intermediate = 0;
  int64_t vocabulary = 0;
  int64_t positions = 0;
  float epsilon = 1e-5f;
  Activation activation = Activation::kGeluTanh;
  // The table of words is also the output matrix.
  bool ties_output = true;

  // The factor of scores; 0: one over the square root of a head's features.
  float score_scale_or_zero = 0;
  // Rows of the table of words are multiplied by the factor, which may be
  // rounded to the table's type.
  float word_factor = 1;
  bool rounds_word_factor = false;
  // Logits are divided by it.
  float logit_divisor = 1;
  // Norms divide by the root of the mean square and have no bias. With
  // `adds_one_to_gains` the file stores each gain less one.
  bool has_rms_norms = false;
  bool adds_one_to_gains = false;
  bool has_norm_bias = true;  // without has_rms_norms
  ReplacingNorms replacing_norms = ReplacingNorms::kNone;
  // Tokens see all others, those after them included. Such a model is an
  // encoder: its tokens are read together, and it has states but no logits.
  bool is_bidirectional = false;
  // Types of tokens, of which the first is added to each word; 0: none.
  int64_t token_types = 0;
  // Queries and keys are normalised, separately in each head or those of all
  // heads together.
  bool has_head_norms = false;
  bool joins_head_norms = false;
  // The inputs of attention and of the feed-forward part are normalised, and
  // their outputs before they are added. One of the two is true.
  bool has_norms_before = true;
  bool has_norms_after = false;
  // The feed-forward part is contract(activation(gate(x)) expand(x)).
  bool is_gated = false;
  bool has_attention_bias = true;
  bool has_output_bias = true;  // of attention
  bool has_feed_bias = true;
  // Queries, keys and values are one matrix, and gate and expand are another
  // (except in NomicBert).
  bool has_joined_matrices = true;
  // Matrices are stored as [inputs, outputs].
  bool is_transposed = true;
  // The rotation of queries and keys. Without pairs, positions are rows of a
  // table.
  RotaryPositions rotary;
  RotatingLayers rotating;
  SlidingLayers sliding;
  // The angles of sliding layers, if those differ.
  RotaryPositions sliding_rotary;

  int64_t head_features() const {
    return head_features_or_zero > 0 ? head_features_or_zero : hidden / heads;
  }
  int64_t key_value_heads() const {
    return key_value_heads_or_zero > 0 ? key_value_heads_or_zero : heads;
  }
  // Returns how many query heads share a head of keys and values.
  int64_t group() const { return heads / key_value_heads(); }
  int64_t query_features() const { return heads * head_features(); }
  int64_t key_value_features() const {
    return key_value_heads() * head_features();
  }
  // These return the number of gains of the norms of queries and keys.
  int64_t query_gains() const {
    return joins_head_norms ? query_features() : head_features();
  }
  int64_t key_gains() const {
    return joins_head_norms ? key_value_features() : head_features();
  }
  float score_scale() const;
  // Returns whether gate and expand are one matrix.
  bool has_joined_gate() const {
    return is_gated && has_joined_matrices && family != ModelFamily::kNomicBert;
  }
  // Returns the number of layers whose keys and values are in memory together.
  int64_t cached_layers() const { return is_bidirectional ? 1 : layers; }
  bool has_position_table() const { return rotary.frequencies.empty(); }
};

bool operator==(const DecoderConfig& a, const DecoderConfig& b);

absl::StatusOr<DecoderConfig> ReadDecoderConfig(absl::string_view path);

// Parses a text, which messages call `name`.
absl::StatusOr<DecoderConfig> ParseDecoderConfig(absl::string_view json,
                                                 absl::string_view name);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODELS_DECODER_CONFIG_H_
