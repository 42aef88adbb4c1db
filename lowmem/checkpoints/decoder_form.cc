#include "footprint/lowmem/checkpoints/decoder_form.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

constexpr DecoderForm MakeLlama() {
  DecoderForm form;
  form.may_have_attention_bias = true;
  form.may_have_feed_bias = true;
  form.gguf_name = "llama";
  form.gguf_has_neighbours = true;
  form.gguf_has_idle_window = true;
  form.public_epsilon = 1e-5;
  return form;
}

// GGUF files of Mistral say "llama".
constexpr DecoderForm MakeMistral() {
  DecoderForm form;
  form.family = ModelFamily::kMistral;
  form.window = 4096;
  form.window_keys = WindowKeys::kWindow;
  return form;
}

constexpr DecoderForm MakeQwen2() {
  DecoderForm form;
  form.family = ModelFamily::kQwen2;
  form.window_keys = WindowKeys::kSwitch;
  form.first_sliding = 28;
  form.has_attention_bias = true;
  form.gguf_name = "qwen2";
  form.public_theta = 1e6;
  return form;
}

constexpr DecoderForm MakeQwen3() {
  DecoderForm form = MakeQwen2();
  form.family = ModelFamily::kQwen3;
  form.head_features = 128;
  form.may_have_attention_bias = true;
  form.has_attention_bias = false;
  form.head_norms = HeadNorms::kEach;
  form.gguf_name = "qwen3";
  return form;
}

// Some configs of the first models say "hidden_act": "gelu", and later
// "hidden_activation" names the approximation with which they were trained.
constexpr DecoderForm MakeGemma() {
  DecoderForm form;
  form.family = ModelFamily::kGemma;
  form.ties_output = true;
  form.head_features = 256;
  form.activation_key = "hidden_activation";
  form.activation = "gelu_pytorch_tanh";
  form.older_activation_key = "hidden_act";
  form.may_have_attention_bias = true;
  form.adds_one_to_gains = true;
  form.scales_words = true;
  form.gguf_name = "gemma";
  form.public_keys = R"({"hidden_act": "gelu_pytorch_tanh",
                         "hidden_activation": "gelu_pytorch_tanh"})";
  return form;
}

constexpr DecoderForm MakeGemma3() {
  DecoderForm form;
  form.family = ModelFamily::kGemma3;
  form.theta = 1e6;
  form.sliding_theta = 10000.0;
  form.ties_output = true;
  form.head_features = 256;
  form.activation_key = "hidden_activation";
  form.activation = "gelu_pytorch_tanh";
  form.window = 4096;
  form.full_every = 6;
  form.window_keys = WindowKeys::kWindow;
  form.may_have_attention_bias = true;
  form.may_be_bidirectional = true;
  form.has_query_scalar = true;
  form.head_norms = HeadNorms::kEach;
  form.has_norms_after = true;
  form.adds_one_to_gains = true;
  form.scales_words = true;
  form.gguf_name = "gemma3";
  form.gguf_largest_layers = 62;
  form.public_theta = 1e6;
  form.public_keys = R"({"hidden_activation": "gelu_pytorch_tanh",
                         "query_pre_attn_scalar": 256,
                         "rope_local_base_freq": 10000.0,
                         "sliding_window_pattern": 6})";
  return form;
}

constexpr DecoderForm MakePhi3() {
  DecoderForm form;
  form.family = ModelFamily::kPhi3;
  form.epsilon = 1e-5;
  form.window_keys = WindowKeys::kWindow;
  form.has_joined_matrices = true;
  form.gguf_name = "phi3";
  form.public_epsilon = 1e-5;
  return form;
}

// GGUF files of Olmo 3 have the same architecture, and a window.
constexpr DecoderForm MakeOlmo2() {
  DecoderForm form;
  form.family = ModelFamily::kOlmo2;
  form.epsilon = 1e-5;
  form.may_have_attention_bias = true;
  form.head_norms = HeadNorms::kJoined;
  form.has_norms_before = false;
  form.has_norms_after = true;
  form.gguf_name = "olmo2";
  form.public_theta = 500000.0;
  return form;
}

constexpr DecoderForm MakeSmolLm3() {
  DecoderForm form;
  form.family = ModelFamily::kSmolLm3;
  form.theta = 2e6;
  form.ties_output = true;
  form.unrotated_every = 4;
  form.window_keys = WindowKeys::kSwitch;
  form.may_have_attention_bias = true;
  form.may_have_feed_bias = true;
  form.gguf_name = "smollm3";
  form.gguf_has_neighbours = true;
  form.public_theta = 5e6;
  form.public_keys = R"({"hidden_act": "silu", "no_rope_layer_interval": 4,
                         "use_sliding_window": false})";
  return form;
}

constexpr DecoderForm MakeGranite() {
  DecoderForm form;
  form.family = ModelFamily::kGranite;
  form.may_have_attention_bias = true;
  form.may_have_feed_bias = true;
  form.has_multipliers = true;
  form.gguf_name = "granite";
  form.gguf_has_neighbours = true;
  form.public_epsilon = 1e-5;
  form.public_theta = 1e7;
  form.public_keys = R"({"attention_multiplier": 0.015625,
                         "embedding_multiplier": 12.0, "hidden_act": "silu",
                         "logits_scaling": 8.0, "residual_multiplier": 0.22})";
  return form;
}

constexpr DecoderForm kForms[] = {
    MakeLlama(), MakeMistral(), MakeQwen2(), MakeQwen3(),   MakeGemma3(),
    MakePhi3(),  MakeGemma(),   MakeOlmo2(), MakeSmolLm3(), MakeGranite()};

const DecoderForm* Find(ModelFamily family) {
  for (const DecoderForm& form : kForms) {
    if (form.family == family) return &form;
  }
  return nullptr;
}

}  // namespace

int64_t DecoderForm::layer_cycle() const {
  return std::max({int64_t{1}, full_every, unrotated_every});
}

bool HasDecoderForm(ModelFamily family) { return Find(family) != nullptr; }

const DecoderForm& FindDecoderForm(ModelFamily family) { return *Find(family); }

const DecoderForm* FindDecoderFormOfGguf(absl::string_view architecture) {
  for (const DecoderForm& form : kForms) {
    if (form.gguf_name != nullptr && architecture == form.gguf_name) {
      return &form;
    }
  }
  return nullptr;
}

std::vector<ModelFamily> DecoderFormFamilies() {
  std::vector<ModelFamily> families;
  for (const DecoderForm& form : kForms) families.push_back(form.family);
  return families;
}

std::vector<std::string> GgufArchitectures() {
  std::vector<std::string> names;
  for (const DecoderForm& form : kForms) {
    if (form.gguf_name == nullptr) continue;
    names.push_back(absl::StrCat("\"", form.gguf_name, "\""));
  }
  return names;
}

}  // namespace footprint
