// The forms of the decoders that are like Llama: what the config of a family
// leaves out, what its layers have, and how its GGUF files differ.
//
//   const footprint::DecoderForm& form =
//       footprint::FindDecoderForm(footprint::ModelFamily::kQwen3);
//   double epsilon = config.EpsilonOr("rms_norm_eps", form.epsilon);
//
// The reader of configs, the binder of weights, the reader of GGUF keys, the
// generator of checkpoints and the tests take the families from here. So a new
// family is an entry of this table, unless it computes something that no other
// family does.
//
// Plain data that lives as long as the program. Thread-safe. Memory: about 200
// bytes a family.

#ifndef FOOTPRINT_LOWMEM_CHECKPOINTS_DECODER_FORM_H_
#define FOOTPRINT_LOWMEM_CHECKPOINTS_DECODER_FORM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "footprint/lowmem/checkpoints/model_family.h"

namespace footprint {

// The norms of queries and keys.
enum class HeadNorms {
  kNone,
  kEach,    // of each head
  kJoined,  // of all heads together
};

// The keys of a config that say which layers slide.
enum class WindowKeys {
  kNone,    // no layer does
  kWindow,  // "sliding_window"; "layer_types" may name the layers
  kSwitch,  // the same, but only if "use_sliding_window" is true
};

// The fields have the values of Llama unless a family sets them.
struct DecoderForm {
  ModelFamily family = ModelFamily::kLlama;

  // The values that apply if a config leaves them out.
  double epsilon = 1e-6;
  double theta = 10000.0;
  double sliding_theta = 0;  // 0: sliding layers have the angles of the others
  bool ties_output = false;
  int64_t head_features = 0;  // 0: the hidden features' share
  const char* activation_key = "hidden_act";
  const char* activation = "silu";
  // The key that counts if `activation_key` is missing; null if there is none.
  const char* older_activation_key = nullptr;
  int64_t window = 0;
  // The last layer of each group of this many sees all tokens; 0: no such
  // groups.
  int64_t full_every = 0;
  // The last layer of each group of this many does not rotate, unless
  // "no_rope_layers" lists the layers; 0: all layers rotate. With a window, the
  // layers that do not rotate are those that slide.
  int64_t unrotated_every = 0;
  // The first layers see all tokens; 0: the config has no key for that.
  int64_t first_sliding = 0;

  // The keys that a config may have.
  WindowKeys window_keys = WindowKeys::kNone;
  bool may_have_attention_bias = false;
  bool may_have_feed_bias = false;
  bool may_be_bidirectional = false;
  // Scores are divided by the square root of "query_pre_attn_scalar".
  bool has_query_scalar = false;
  // The four keys of Granite: "embedding_multiplier" and so on.
  bool has_multipliers = false;

  // The form of the layers.
  bool has_attention_bias = false;  // of queries, keys and values
  bool has_joined_matrices = false;
  HeadNorms head_norms = HeadNorms::kNone;
  bool has_norms_before = true;
  bool has_norms_after = false;
  bool adds_one_to_gains = false;
  bool scales_words = false;

  // The value of "general.architecture" in GGUF files; null if no file has one
  // of its own.
  const char* gguf_name = nullptr;
  // Features that turn together are adjacent in GGUF files.
  bool gguf_has_neighbours = false;
  // GGUF files may name a window that their models do not have.
  bool gguf_has_idle_window = false;
  // The layers of the family's largest model, whose "query_pre_attn_scalar" is
  // the hidden features' share of a head. GGUF files do not name the scalar.
  int64_t gguf_largest_layers = 0;

  // The values of public models, where these differ from the ones above, and
  // the other keys of their configs, as JSON.
  double public_epsilon = 1e-6;
  double public_theta = 10000.0;
  const char* public_keys = R"({"hidden_act": "silu"})";

  // Returns the number of layers after which the kinds of layers repeat.
  int64_t layer_cycle() const;
};

// Returns whether the family is one of Llama's form.
bool HasDecoderForm(ModelFamily family);

// Returns the form of a family for which HasDecoderForm is true.
const DecoderForm& FindDecoderForm(ModelFamily family);

// Returns the form whose GGUF files have this architecture, or null.
const DecoderForm* FindDecoderFormOfGguf(absl::string_view architecture);

// Returns all families of Llama's form.
std::vector<ModelFamily> DecoderFormFamilies();

// Returns the names of all architectures, in quotes.
std::vector<std::string> GgufArchitectures();

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_CHECKPOINTS_DECODER_FORM_H_
