#include "footprint/lowmem/models/decoder_config.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/lowmem/checkpoints/config_reader.h"
#include "footprint/lowmem/checkpoints/decoder_form.h"

namespace footprint {
namespace {

DecoderConfig ReadGpt2(ConfigReader& reader) {
  DecoderConfig config;
  config.layers = reader.Extent("n_layer");
  config.hidden = reader.Extent("n_embd");
  config.heads = reader.Extent("n_head");
  config.intermediate = reader.ExtentOr("n_inner", 4 * config.hidden);
  config.vocabulary = reader.Extent("vocab_size");
  config.positions = reader.Extent("n_positions");
  config.epsilon = reader.EpsilonOr("layer_norm_epsilon", 1e-5);
  config.activation = reader.ActivationOr("activation_function", "gelu_new");
  config.ties_output = reader.FlagOr("tie_word_embeddings", true);
  if (!reader.FlagOr("scale_attn_weights", true)) {
    reader.Refuse("scale_attn_weights", "false", "\"true\"");
  }
  if (reader.FlagOr("scale_attn_by_inverse_layer_idx", false)) {
    reader.Refuse("scale_attn_by_inverse_layer_idx", "true", "\"false\"");
  }
  if (reader.status().ok()) reader.CheckHeads(config.hidden, config.heads);
  return config;
}

// Reads "layer_types" and returns whether the config has them.
bool ReadLayerTypes(ConfigReader& reader, int64_t layers,
                    SlidingLayers* sliding) {
  const std::vector<std::string> types = reader.TextsOr("layer_types", {});
  if (types.empty()) return false;
  if (static_cast<int64_t>(types.size()) != layers) {
    reader.Fail("layer_types", absl::StrCat("names ", types.size(),
                                            " layers, but there are ", layers));
    return true;
  }
  for (const std::string& type : types) {
    if (type != "sliding_attention" && type != "full_attention") {
      reader.Refuse("layer_types", type,
                    "\"full_attention\" and \"sliding_attention\"");
    }
    sliding->listed.push_back(type == "sliding_attention");
  }
  return true;
}

// Reads "no_rope_layers", or the interval that applies without it.
RotatingLayers ReadRotatingLayers(ConfigReader& reader, const DecoderForm& form,
                                  int64_t layers) {
  constexpr char kKey[] = "no_rope_layers";
  RotatingLayers rotating;
  if (form.unrotated_every == 0) return rotating;
  if (!reader.Has(kKey)) {
    rotating.unrotated_every =
        reader.ExtentOr("no_rope_layer_interval", form.unrotated_every);
    return rotating;
  }
  // The code of the family takes no notice of numbers after the last layer's.
  const std::vector<double> numbers = reader.NumbersOr(kKey, {});
  if (static_cast<int64_t>(numbers.size()) < layers) {
    reader.Fail(kKey, absl::StrCat("has ", numbers.size(),
                                   " numbers, but there are ", layers,
                                   " layers: give each a 1 if it rotates, and "
                                   "else a 0"));
    return rotating;
  }
  for (int64_t layer = 0; layer < layers; ++layer) {
    if (numbers[layer] != 0 && numbers[layer] != 1) {
      reader.Fail(kKey, absl::StrCat("has ", numbers[layer], " for layer ",
                                     layer, "; known are 0 and 1"));
    }
    rotating.listed.push_back(numbers[layer] != 0);
  }
  return rotating;
}

// Refuses a list of sliding layers beside a switch that is off: some code
// ignores the list, and other code follows it.
void RefuseIdleTypes(ConfigReader& reader) {
  for (const std::string& type : reader.TextsOr("layer_types", {})) {
    if (type == "full_attention") continue;
    reader.Fail("layer_types",
                absl::StrCat("has \"", type,
                             "\", but use_sliding_window is not true: correct "
                             "the one that is wrong"));
  }
}

// Reads "layer_types", or the keys of older configs.
SlidingLayers ReadSlidingLayers(ConfigReader& reader, const DecoderForm& form,
                                const RotatingLayers& rotating,
                                int64_t layers) {
  SlidingLayers sliding;
  if (form.window_keys == WindowKeys::kNone) return sliding;
  if (form.window_keys == WindowKeys::kSwitch &&
      !reader.FlagOr("use_sliding_window", false)) {
    if (form.unrotated_every > 0) RefuseIdleTypes(reader);
    return sliding;
  }
  // A null window means none; a missing one means the family's default.
  sliding.window = reader.IsNull("sliding_window")
                       ? 0
                       : reader.ExtentOr("sliding_window", form.window);
  if (sliding.window == 0) return sliding;
  if (ReadLayerTypes(reader, layers, &sliding)) return sliding;
  if (form.unrotated_every > 0) {
    sliding.only_every = rotating.unrotated_every;
    sliding.listed = rotating.listed;
    sliding.listed.flip();
  }
  if (form.first_sliding > 0) {
    sliding.first = reader.CountOr("max_window_layers", form.first_sliding);
  }
  if (form.full_every > 0) {
    sliding.full_every =
        reader.ExtentOr("sliding_window_pattern", form.full_every);
  }
  return sliding;
}

void RefuseCaps(ConfigReader& reader, bool may_be_bidirectional) {
  for (const char* key :
       {"attn_logit_softcapping", "final_logit_softcapping"}) {
    if (reader.Has(key)) reader.Refuse(key, "set", "configs without it");
  }
  if (may_be_bidirectional) return;
  if (reader.FlagOr("use_bidirectional_attention", false)) {
    reader.Refuse("use_bidirectional_attention", "true", "\"false\"");
  }
  // So embedders say it whose own code has no mask, such as gte-Qwen2.
  if (!reader.FlagOr("is_causal", true)) {
    reader.Refuse("is_causal", "false", "\"true\"");
  }
}

RotaryDefaults MakeRotaryDefaults(const DecoderConfig& config, double theta) {
  RotaryDefaults defaults;
  defaults.head_features = config.head_features();
  defaults.positions = config.positions;
  defaults.theta = theta;
  return defaults;
}

// Reads the rotations of a model whose sliding layers have their own.
void ReadRotaryOfLayers(ConfigReader& reader, double theta,
                        double sliding_theta, DecoderConfig* config) {
  LayerRotations rotations = ReadLayerRotations(
      reader, MakeRotaryDefaults(*config, theta), sliding_theta);
  config->rotary = std::move(rotations.full);
  config->sliding_rotary = std::move(rotations.sliding);
}

void ReadRotary(ConfigReader& reader, const DecoderForm& form,
                DecoderConfig* config) {
  if (form.sliding_theta > 0) {
    ReadRotaryOfLayers(
        reader, form.theta,
        reader.NumberOr("rope_local_base_freq", form.sliding_theta), config);
  } else {
    config->rotary =
        ReadRotaryPositions(reader, MakeRotaryDefaults(*config, form.theta));
  }
}

void ReadHeads(ConfigReader& reader, const DecoderForm& form,
               DecoderConfig* config) {
  config->heads = reader.Extent("num_attention_heads");
  config->key_value_heads_or_zero =
      reader.ExtentOr("num_key_value_heads", config->heads);
  config->head_features_or_zero = reader.ExtentOr(
      "head_dim", form.head_features > 0 ? form.head_features
                                         : config->hidden / config->heads);
  if (config->heads % config->key_value_heads() != 0) {
    reader.Fail("num_attention_heads",
                absl::StrCat(config->heads, " is not a multiple of the ",
                             config->key_value_heads(), " heads of keys"));
  }
  if (!reader.Has("head_dim") && form.head_features == 0) {
    reader.CheckHeads(config->hidden, config->heads);
  }
}

// Reads a factor, which is above zero and finite as a float, too.
double ReadMultiplier(ConfigReader& reader, const char* key) {
  const double value = reader.NumberOr(key, 1);
  const auto rounded = static_cast<float>(value);
  if (rounded > 0 && std::isfinite(rounded)) return value;
  reader.Fail(key, absl::StrCat("is ", value,
                                "; it must be above zero and within a float's "
                                "range"));
  return 1;
}

// Reads the factors of a family that multiplies the outputs of each part by m
// before it adds them. The states are kept divided by m, so the outputs are
// added as they are. A norm gives the same for such states if its epsilon is
// divided by the square of m.
void ReadMultipliers(ConfigReader& reader, DecoderConfig* config) {
  const double residual = ReadMultiplier(reader, "residual_multiplier");
  const double words =
      ReadMultiplier(reader, "embedding_multiplier") / residual;
  const double epsilon = config->epsilon / (residual * residual);
  config->word_factor = static_cast<float>(words);
  config->epsilon = static_cast<float>(epsilon);
  config->score_scale_or_zero =
      static_cast<float>(ReadMultiplier(reader, "attention_multiplier"));
  config->logit_divisor =
      static_cast<float>(ReadMultiplier(reader, "logits_scaling"));
  for (const float number : {config->word_factor, config->epsilon}) {
    if (number > 0 && std::isfinite(number)) continue;
    reader.Fail("residual_multiplier",
                absl::StrCat("is ", residual,
                             "; with this epsilon and embedding_multiplier it "
                             "leaves the range of a float"));
  }
}

// Reads the keys that only some families have.
void ReadFormKeys(ConfigReader& reader, const DecoderForm& form,
                  DecoderConfig* config) {
  const bool has_bias =
      form.may_have_attention_bias && reader.FlagOr("attention_bias", false);
  config->has_attention_bias = form.has_attention_bias || has_bias;
  config->has_output_bias = has_bias;
  config->has_feed_bias =
      form.may_have_feed_bias && reader.FlagOr("mlp_bias", false);
  if (form.has_query_scalar) {
    const double scalar = reader.NumberOr("query_pre_attn_scalar", 256);
    if (!(scalar > 0)) {
      reader.Fail("query_pre_attn_scalar", "is not above zero");
    }
    config->score_scale_or_zero = static_cast<float>(1 / std::sqrt(scalar));
  }
  if (form.has_multipliers) ReadMultipliers(reader, config);
  if (form.may_be_bidirectional) {
    config->is_bidirectional =
        reader.FlagOr("use_bidirectional_attention", false);
  }
  RefuseCaps(reader, form.may_be_bidirectional);
}

// Reads the config of Llama and the families in its form.
DecoderConfig ReadLlama(ConfigReader& reader, const DecoderForm& form) {
  DecoderConfig config;
  config.family = form.family;
  config.layers = reader.Extent("num_hidden_layers");
  config.hidden = reader.Extent("hidden_size");
  ReadHeads(reader, form, &config);
  config.intermediate = reader.Extent("intermediate_size");
  config.vocabulary = reader.Extent("vocab_size");
  config.positions = reader.Extent("max_position_embeddings");
  config.epsilon = reader.EpsilonOr("rms_norm_eps", form.epsilon);
  const bool has_older =
      form.older_activation_key != nullptr && !reader.Has(form.activation_key);
  config.activation = reader.ActivationOr(
      has_older ? form.older_activation_key : form.activation_key,
      form.activation);
  config.ties_output = reader.FlagOr("tie_word_embeddings", form.ties_output);
  config.has_rms_norms = true;
  config.is_gated = true;
  config.is_transposed = false;
  config.has_joined_matrices = form.has_joined_matrices;
  config.has_head_norms = form.head_norms != HeadNorms::kNone;
  config.joins_head_norms = form.head_norms == HeadNorms::kJoined;
  config.has_norms_before = form.has_norms_before;
  config.has_norms_after = form.has_norms_after;
  config.adds_one_to_gains = form.adds_one_to_gains;
  if (form.scales_words) {
    config.word_factor = std::sqrt(static_cast<float>(config.hidden));
    config.rounds_word_factor = true;
  }
  ReadFormKeys(reader, form, &config);
  config.rotating = ReadRotatingLayers(reader, form, config.layers);
  config.sliding =
      ReadSlidingLayers(reader, form, config.rotating, config.layers);
  // A bidirectional config counts the tokens on both sides.
  if (config.is_bidirectional && config.sliding.window > 0) {
    config.sliding.window = config.sliding.window / 2 + 1;
  }
  if (reader.status().ok()) ReadRotary(reader, form, &config);
  return config;
}

// Returns what the encoders with rotary positions have in common.
DecoderConfig MakeEncoderForm(ModelFamily family) {
  DecoderConfig config;
  config.family = family;
  config.is_bidirectional = true;
  config.ties_output = false;
  config.is_gated = true;
  config.is_transposed = false;
  config.has_joined_matrices = true;
  return config;
}

// Reads the layers of a ModernBERT that slide, and their rotations.
void ReadModernBertLayers(ConfigReader& reader, DecoderConfig* config) {
  // The config counts the tokens on both sides.
  config->sliding.window = reader.ExtentOr("local_attention", 128) / 2 + 1;
  config->sliding.full_every = reader.ExtentOr("global_attn_every_n_layers", 3);
  config->sliding.full_comes_first = true;
  const double theta = reader.NumberOr("global_rope_theta", 160000.0);
  const double sliding_theta =
      reader.IsNull("local_rope_theta")
          ? theta
          : reader.NumberOr("local_rope_theta", 10000.0);
  // Some code scales with it in all layers, and some ignores it.
  if (reader.Has("rope_scaling")) {
    reader.Refuse("rope_scaling", "set", "configs without it");
  }
  if (!reader.status().ok()) return;
  ReadLayerTypes(reader, config->layers, &config->sliding);
  ReadRotaryOfLayers(reader, theta, sliding_theta, config);
}

DecoderConfig ReadModernBert(ConfigReader& reader) {
  DecoderConfig config = MakeEncoderForm(ModelFamily::kModernBert);
  config.layers = reader.Extent("num_hidden_layers");
  config.hidden = reader.Extent("hidden_size");
  config.heads = reader.Extent("num_attention_heads");
  config.intermediate = reader.Extent("intermediate_size");
  config.vocabulary = reader.Extent("vocab_size");
  config.positions = reader.Extent("max_position_embeddings");
  config.epsilon = reader.EpsilonOr("norm_eps", 1e-5);
  config.activation = reader.ActivationOr("hidden_activation", "gelu");
  config.has_norm_bias = reader.FlagOr("norm_bias", false);
  config.replacing_norms = ReplacingNorms::kFirst;
  config.has_attention_bias = reader.FlagOr("attention_bias", false);
  config.has_output_bias = config.has_attention_bias;
  config.has_feed_bias = reader.FlagOr("mlp_bias", false);
  if (reader.status().ok()) reader.CheckHeads(config.hidden, config.heads);
  if (reader.status().ok()) ReadModernBertLayers(reader, &config);
  return config;
}

// Refuses a NomicBert whose parts have another order or form.
void RefuseNomicVariants(ConfigReader& reader) {
  for (const char* key : {"prenorm", "parallel_block", "use_rms_norm", "causal",
                          "rotary_emb_interleaved"}) {
    if (reader.FlagOr(key, false)) reader.Refuse(key, "true", "\"false\"");
  }
  if (reader.Has("rotary_emb_scale_base")) {
    reader.Refuse("rotary_emb_scale_base", "set", "configs without it");
  }
  if (reader.NumberOr("rotary_emb_fraction", 1) != 1) {
    reader.Refuse("rotary_emb_fraction", "below 1", "1");
  }
  for (const char* key : {"num_experts", "moe_every_n_layers"}) {
    // Zero or less means none.
    if (reader.NumberOr(key, 0) > 0) {
      reader.Refuse(key, "above 0", "models without experts");
    }
  }
}

// Reads NomicBert's activation, for which its own code has the gate's name.
Activation ReadNomicActivation(ConfigReader& reader) {
  if (!reader.Has("activation_function")) {
    return reader.ActivationOr("hidden_act", "silu");
  }
  const std::string name = reader.TextOr("activation_function", "");
  if (name == "swiglu") return Activation::kSilu;
  if (name == "geglu") return Activation::kGelu;
  reader.Refuse("activation_function", name, "\"swiglu\" and \"geglu\"");
  return Activation::kNone;
}

// Reads the keys of NomicBert's own code, or those of transformers 5.
DecoderConfig ReadNomicBert(ConfigReader& reader) {
  DecoderConfig config = MakeEncoderForm(ModelFamily::kNomicBert);
  const bool is_own = reader.Has("n_embd");
  const auto extent = [&](const char* own, const char* later) {
    return reader.Extent(is_own ? own : later);
  };
  config.layers = extent("n_layer", "num_hidden_layers");
  config.hidden = extent("n_embd", "hidden_size");
  config.heads = extent("n_head", "num_attention_heads");
  config.intermediate = extent("n_inner", "intermediate_size");
  config.positions = extent("n_positions", "max_position_embeddings");
  config.head_features_or_zero =
      reader.ExtentOr("head_dim", config.hidden / config.heads);
  config.vocabulary = reader.Extent("vocab_size");
  config.token_types = reader.CountOr("type_vocab_size", 2);
  config.epsilon =
      reader.EpsilonOr(is_own ? "layer_norm_epsilon" : "layer_norm_eps", 1e-12);
  config.activation = ReadNomicActivation(reader);
  config.replacing_norms = ReplacingNorms::kAll;
  config.has_attention_bias = reader.FlagOr("qkv_proj_bias", is_own);
  config.has_output_bias = config.has_attention_bias;
  config.has_feed_bias = reader.FlagOr("mlp_fc1_bias", is_own);
  if (config.has_feed_bias != reader.FlagOr("mlp_fc2_bias", is_own)) {
    reader.Refuse("mlp_fc2_bias", "another than mlp_fc1_bias", "the same");
  }
  RefuseNomicVariants(reader);
  // Beyond these positions the base would grow with the text.
  if (reader.Has("rotary_scaling_factor")) {
    config.positions = std::min(config.positions,
                                reader.ExtentOr("max_trained_positions", 2048));
  }
  const double theta = reader.NumberOr("rotary_emb_base", 1000.0);
  if (reader.status().ok()) reader.CheckHeads(config.hidden, config.heads);
  if (!reader.status().ok()) return config;
  config.rotary =
      ReadRotaryPositions(reader, MakeRotaryDefaults(config, theta));
  return config;
}

DecoderConfig ReadFamily(ConfigReader& reader, ModelFamily family) {
  if (family == ModelFamily::kGpt2) return ReadGpt2(reader);
  if (family == ModelFamily::kModernBert) return ReadModernBert(reader);
  if (family == ModelFamily::kNomicBert) return ReadNomicBert(reader);
  return ReadLlama(reader, FindDecoderForm(family));
}

}  // namespace

bool SlidingLayers::slides(int64_t layer) const {
  if (window == 0) return false;
  if (!listed.empty()) return listed[layer];
  if (only_every > 0) return (layer + 1) % only_every == 0;
  const int64_t in_group = full_comes_first ? layer : layer + 1;
  return layer >= first && (full_every == 0 || in_group % full_every != 0);
}

bool operator==(const SlidingLayers& a, const SlidingLayers& b) {
  return a.window == b.window && a.first == b.first &&
         a.full_every == b.full_every &&
         a.full_comes_first == b.full_comes_first &&
         a.only_every == b.only_every && a.listed == b.listed;
}

bool RotatingLayers::rotates(int64_t layer) const {
  if (!listed.empty()) return listed[layer];
  return unrotated_every == 0 || (layer + 1) % unrotated_every != 0;
}

bool operator==(const RotatingLayers& a, const RotatingLayers& b) {
  return a.unrotated_every == b.unrotated_every && a.listed == b.listed;
}

float DecoderConfig::score_scale() const {
  return score_scale_or_zero > 0
             ? score_scale_or_zero
             : 1.0f / std::sqrt(static_cast<float>(head_features()));
}

bool operator==(const DecoderConfig& a, const DecoderConfig& b) {
  const auto all = [](const DecoderConfig& config) {
    return std::tie(
        config.family, config.layers, config.hidden, config.heads,
        config.key_value_heads_or_zero, config.head_features_or_zero,
        config.intermediate, config.vocabulary, config.positions,
        config.epsilon, config.activation, config.ties_output,
        config.score_scale_or_zero, config.word_factor,
        config.rounds_word_factor, config.logit_divisor, config.has_rms_norms,
        config.adds_one_to_gains, config.has_head_norms,
        config.joins_head_norms, config.has_norms_before,
        config.has_norms_after, config.has_norm_bias, config.replacing_norms,
        config.is_bidirectional, config.token_types, config.is_gated,
        config.has_attention_bias, config.has_output_bias, config.has_feed_bias,
        config.has_joined_matrices, config.is_transposed, config.rotary,
        config.rotating, config.sliding, config.sliding_rotary);
  };
  return all(a) == all(b);
}

absl::StatusOr<DecoderConfig> ParseDecoderConfig(absl::string_view json,
                                                 absl::string_view name) {
  absl::StatusOr<ConfigReader> reader = ConfigReader::Parse(json, name);
  if (!reader.ok()) return reader.status();
  const ModelFamily family = FindModelFamily(*reader);
  if (!reader->status().ok()) return reader->status();
  if (!HasDecoderLayers(family)) {
    reader->Refuse("model_type", ModelFamilyName(family),
                   absl::StrCat("the decoders ", DecoderFamilyNames()));
    return reader->status();
  }
  DecoderConfig config = ReadFamily(*reader, family);
  if (config.rotary.most_positions > 0) {
    config.positions = std::min(config.positions, config.rotary.most_positions);
  }
  if (!reader->status().ok()) return reader->status();
  return config;
}

absl::StatusOr<DecoderConfig> ReadDecoderConfig(absl::string_view path) {
  const absl::StatusOr<std::string> text = ReadConfigText(path);
  if (!text.ok()) return text.status();
  return ParseDecoderConfig(*text, path);
}

}  // namespace footprint
