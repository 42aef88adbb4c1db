#include "footprint/lowmem/models/gguf_config.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/lowmem/checkpoints/decoder_form.h"
#include "footprint/lowmem/checkpoints/model_family.h"
#include "footprint/lowmem/weights/float_reader.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using Json = nlohmann::json;

// Writes the keys of a file in the form of a config.json, and keeps the first
// error.
class ConfigWriter {
 public:
  ConfigWriter(const GgufIndex& index, std::string architecture)
      : index_(index),
        architecture_(std::move(architecture)),
        form_(FindDecoderFormOfGguf(architecture_)) {}

  const absl::Status& status() const { return status_; }
  std::string text() const { return json_.dump(); }
  bool Is(const char* name) const { return architecture_ == name; }
  // Returns the form of the architecture, or null if it has none.
  const DecoderForm* form() const { return form_; }

  std::string Key(const char* name) const {
    return absl::StrCat(architecture_, ".", name);
  }
  bool HasKey(const char* name) const { return index_.Has(Key(name)); }
  bool HasTensor(const char* name) const {
    return index_.FindOrNull(name) != nullptr;
  }
  // Returns whether any layer has a tensor whose name ends with `end`.
  bool HasInSomeLayer(const char* end) const {
    for (const TensorInfo& tensor : index_.tensors()) {
      if (absl::EndsWith(tensor.name, end)) return true;
    }
    return false;
  }

  int64_t Integer(const char* name) {
    return Keep(index_.Integer(Key(name)), int64_t{1});
  }
  int64_t IntegerOr(const char* name, int64_t otherwise) {
    return HasKey(name) ? Integer(name) : otherwise;
  }
  double NumberOr(const char* name, double otherwise) {
    if (!HasKey(name)) return otherwise;
    const double number = Keep(index_.Number(Key(name)), otherwise);
    // JSON cannot express NaN and infinity.
    if (!std::isfinite(number)) {
      Fail(absl::InvalidArgumentError(absl::StrCat(
          index_.file_name(), ": key \"", Key(name), "\" is ", number,
          ", which is not a finite number. The "
          "file is damaged: download it again")));
      return otherwise;
    }
    return number;
  }
  bool Flag(const char* name) { return Keep(index_.Flag(Key(name)), false); }
  std::string TextOr(const char* name, const std::string& otherwise) {
    return HasKey(name) ? Keep(index_.Text(Key(name)), otherwise) : otherwise;
  }

  template <class T>
  void Write(const char* key, const T& value) {
    json_[key] = value;
  }
  void WriteInteger(const char* key, const char* name) {
    Write(key, Integer(name));
  }

  void Fail(absl::Status status) { status_.Update(std::move(status)); }
  void Refuse(absl::string_view what) {
    Fail(
        absl::UnimplementedError(absl::StrCat(index_.file_name(), ": ", what)));
  }

 private:
  template <class T>
  T Keep(const absl::StatusOr<T>& value, const T& otherwise) {
    status_.Update(value.status());
    return value.ok() ? *value : otherwise;
  }

  const GgufIndex& index_;
  const std::string architecture_;
  const DecoderForm* const form_;
  Json json_ = Json::object();
  absl::Status status_;
};

void WriteVocabulary(const GgufIndex& index, ConfigWriter& writer) {
  const absl::StatusOr<const TensorInfo*> words =
      index.Find("token_embd.weight");
  if (!words.ok()) {
    writer.Fail(words.status());
    return;
  }
  const int64_t rows = (*words)->shape.rows();
  const char* const tokens = "tokenizer.ggml.tokens";
  const GgufValue* const list = index.FindValue(tokens);
  if (list != nullptr && list->type == GgufType::kArray &&
      list->count != rows) {
    writer.Fail(absl::InvalidArgumentError(absl::StrCat(
        index.file_name(), ": key \"", tokens, "\" has ", list->count,
        " words, but token_embd.weight ", rows,
        " rows: they are not of one model. Convert the model again")));
  }
  writer.Write("vocab_size", rows);
  writer.Write("tie_word_embeddings", !writer.HasTensor("output.weight"));
}

void WriteGpt2Config(ConfigWriter& writer) {
  writer.Write("model_type", "gpt2");
  writer.WriteInteger("n_layer", "block_count");
  writer.WriteInteger("n_embd", "embedding_length");
  writer.WriteInteger("n_head", "attention.head_count");
  writer.WriteInteger("n_inner", "feed_forward_length");
  writer.WriteInteger("n_positions", "context_length");
  writer.Write("layer_norm_epsilon",
               writer.NumberOr("attention.layer_norm_epsilon", 1e-5));
}

// Returns the numbers of a tensor by which angles are divided.
absl::StatusOr<std::vector<float>> ReadFactors(WeightStore& store,
                                               const char* tensor) {
  const absl::StatusOr<Weight> weight = store.Find(tensor);
  if (!weight.ok()) return weight.status();
  constexpr int64_t kMostPairs = 1 << 15;
  if (weight->dtype() != DType::kF32 || weight->rows() != 1 ||
      weight->columns() > kMostPairs) {
    return absl::InvalidArgumentError(absl::StrCat(
        store.index().file_name(), ": ", tensor, " is ",
        weight->shape().ToString(), " of ", DTypeName(weight->dtype()),
        ", not the floats of a head's pairs"));
  }
  std::vector<float> factors(static_cast<size_t>(weight->columns()));
  const absl::Status status = ReadRows(store, *weight, 0, 1, factors.data());
  if (!status.ok()) return status;
  return factors;
}

// Longer texts need other factors, so positions end where these factors do.
void WriteLongRope(ConfigWriter& writer, WeightStore& store, Json* parameters) {
  const absl::StatusOr<std::vector<float>> factors =
      ReadFactors(store, "rope_factors_short.weight");
  if (!factors.ok()) {
    writer.Fail(factors.status());
    return;
  }
  (*parameters)["rope_type"] = "longrope";
  (*parameters)["short_factor"] = *factors;
  (*parameters)["original_max_position_embeddings"] = writer.IntegerOr(
      "rope.scaling.original_context_length", writer.Integer("context_length"));
  if (writer.HasKey("rope.scaling.attn_factor")) {
    (*parameters)["attention_factor"] =
        writer.NumberOr("rope.scaling.attn_factor", 1);
  }
}

// Writes the other settings of YaRN under config.json's names.
void WriteYarn(ConfigWriter& writer, Json* parameters) {
  const std::pair<const char*, const char*> kNumbers[] = {
      {"attention_factor", "rope.scaling.yarn_attn_factor"},
      {"beta_fast", "rope.scaling.yarn_beta_fast"},
      {"beta_slow", "rope.scaling.yarn_beta_slow"}};
  for (const auto& [key, name] : kNumbers) {
    if (writer.HasKey(name)) (*parameters)[key] = writer.NumberOr(name, 0);
  }
  const char* const truncate = "rope.scaling.yarn_truncate";
  if (writer.HasKey(truncate)) {
    (*parameters)["truncate"] = writer.Flag(truncate);
  }
}

// Writes the angles of each scaling except Llama 3's, which is applied
// afterwards. A file with a factor and no type means "linear"; older files use
// another key.
void WriteScaling(ConfigWriter& writer, WeightStore& store) {
  const DecoderForm& form = *writer.form();
  Json parameters = Json::object();
  parameters["rope_theta"] = writer.NumberOr("rope.freq_base", 10000.0);
  const std::string type = writer.TextOr("rope.scaling.type", "linear");
  double factor = writer.NumberOr("rope.scaling.factor",
                                  writer.NumberOr("rope.scale_linear", 1));
  if (factor == 0) factor = 1;  // some files say 0 for no scaling
  if (type == "yarn") WriteYarn(writer, &parameters);
  if ((type == "linear" || type == "yarn") && factor != 1) {
    parameters["rope_type"] = type;
    parameters["factor"] = factor;
    if (writer.HasKey("rope.scaling.original_context_length")) {
      parameters["original_max_position_embeddings"] =
          writer.Integer("rope.scaling.original_context_length");
    }
  } else if (type == "longrope" ||
             writer.HasTensor("rope_factors_short.weight")) {
    WriteLongRope(writer, store, &parameters);
  } else if (type != "none" && type != "linear" && type != "yarn") {
    writer.Refuse(absl::StrCat("rope.scaling.type \"", type,
                               "\" is not supported; \"none\", \"linear\", "
                               "\"yarn\" and \"longrope\" are"));
  }
  if (writer.HasKey("rope.dimension_count")) {
    const int64_t head = writer.IntegerOr(
        "attention.key_length",
        writer.Integer("embedding_length") /
            std::max<int64_t>(1, writer.Integer("attention.head_count")));
    const int64_t turned = writer.Integer("rope.dimension_count");
    // The reader multiplies the share by the head's features and rounds down.
    const double middle = turned < head ? 0.5 : 0;
    parameters["partial_rotary_factor"] =
        (static_cast<double>(turned) + middle) /
        static_cast<double>(std::max<int64_t>(1, head));
  }
  if (form.sliding_theta > 0) {
    // Sliding layers have separate angles, without the scaling.
    Json sliding = {{"rope_theta", writer.NumberOr("rope.freq_base_swa",
                                                   form.sliding_theta)}};
    parameters = {{"full_attention", parameters},
                  {"sliding_attention", sliding}};
  }
  writer.Write("rope_parameters", parameters);
}

void WriteQueryScalar(ConfigWriter& writer) {
  // The largest model divides scores by the root of hidden / heads. The others
  // divide them by the root of a head's features.
  const int64_t hidden = writer.Integer("embedding_length");
  const int64_t heads =
      std::max<int64_t>(1, writer.Integer("attention.head_count"));
  const bool is_largest =
      writer.Integer("block_count") == writer.form()->gguf_largest_layers;
  writer.Write("query_pre_attn_scalar",
               is_largest
                   ? hidden / heads
                   : writer.IntegerOr("attention.key_length", hidden / heads));
}

// Writes the factors of the embeddings, the residuals, the scores and the
// logits. Scores have the usual factor if the file does not name one.
void WriteMultipliers(ConfigWriter& writer) {
  const std::pair<const char*, const char*> kFactors[] = {
      {"embedding_multiplier", "embedding_scale"},
      {"residual_multiplier", "residual_scale"},
      {"logits_scaling", "logit_scale"}};
  for (const auto& [key, name] : kFactors) {
    writer.Write(key, writer.NumberOr(name, 1));
  }
  const int64_t features =
      writer.Integer("embedding_length") /
      std::max<int64_t>(1, writer.Integer("attention.head_count"));
  const double usual =
      1 / std::sqrt(static_cast<double>(std::max<int64_t>(
              1, writer.IntegerOr("attention.key_length", features))));
  const double scale = writer.NumberOr("attention.scale", 0);
  writer.Write("attention_multiplier", scale == 0 ? usual : scale);
}

void WriteWindow(ConfigWriter& writer) {
  const int64_t window = writer.IntegerOr("attention.sliding_window", 0);
  if (window == 0) {
    writer.Write("sliding_window", nullptr);
    return;
  }
  writer.Write("sliding_window", window);
  writer.Write("use_sliding_window", true);
  if (writer.HasKey("attention.sliding_window_pattern")) {
    writer.WriteInteger("sliding_window_pattern",
                        "attention.sliding_window_pattern");
  }
}

void WriteLlamaConfig(ConfigWriter& writer, WeightStore& store) {
  const DecoderForm& form = *writer.form();
  writer.Write("model_type", ModelFamilyName(form.family));
  writer.Write(form.activation_key, form.activation);
  writer.WriteInteger("num_hidden_layers", "block_count");
  writer.WriteInteger("hidden_size", "embedding_length");
  writer.WriteInteger("num_attention_heads", "attention.head_count");
  writer.Write("num_key_value_heads",
               writer.IntegerOr("attention.head_count_kv",
                                writer.Integer("attention.head_count")));
  writer.WriteInteger("intermediate_size", "feed_forward_length");
  writer.WriteInteger("max_position_embeddings", "context_length");
  writer.Write("rms_norm_eps",
               writer.NumberOr("attention.layer_norm_rms_epsilon", 1e-5));
  const int64_t heads =
      std::max<int64_t>(1, writer.Integer("attention.head_count"));
  const int64_t key_length = writer.IntegerOr(
      "attention.key_length", writer.Integer("embedding_length") / heads);
  writer.Write("head_dim", key_length);
  const int64_t value_length =
      writer.IntegerOr("attention.value_length", key_length);
  if (value_length != key_length) {
    writer.Refuse(absl::StrCat(
        "keys and values have heads of different lengths, which is not "
        "supported: ",
        writer.Key("attention.value_length"), " is ", value_length, " and ",
        writer.Key("attention.key_length"), " ",
        writer.HasKey("attention.key_length") ? "is " : "would be ",
        key_length));
  }
  if (writer.IntegerOr("expert_count", 0) > 0) {
    writer.Refuse("mixtures of experts are not supported");
  }
  if (form.has_query_scalar) WriteQueryScalar(writer);
  if (form.has_multipliers) WriteMultipliers(writer);
  if (form.window_keys != WindowKeys::kNone) {
    WriteWindow(writer);
  } else if (!form.gguf_has_idle_window &&
             writer.IntegerOr("attention.sliding_window", 0) > 0) {
    writer.Refuse(absl::StrCat(
        "key \"", writer.Key("attention.sliding_window"),
        "\" is set, but layers of this architecture see all tokens"));
  }
  WriteScaling(writer, store);
}

// Llama 3's scaling: the file has the factor of each pair.
absl::Status DivideAngles(WeightStore& store, RotaryPositions* rotary) {
  const char* const tensor = "rope_freqs.weight";
  const absl::StatusOr<std::vector<float>> factors = ReadFactors(store, tensor);
  if (!factors.ok()) return factors.status();
  if (factors->size() != rotary->frequencies.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        store.index().file_name(), ": ", tensor, " has ", factors->size(),
        " numbers, not the ", rotary->pairs(), " of a head"));
  }
  for (size_t i = 0; i < factors->size(); ++i) {
    if (!((*factors)[i] > 0)) {
      return absl::InvalidArgumentError(
          absl::StrCat(store.index().file_name(), ": ", tensor,
                       " has a number that is not above zero"));
    }
    rotary->frequencies[i] /= (*factors)[i];
  }
  return absl::OkStatus();
}

void SetWhatTensorsSay(const ConfigWriter& writer, DecoderConfig* config) {
  // If only some layers have a bias, reading the tensors fails later.
  config->has_attention_bias = writer.HasInSomeLayer(".attn_q.bias") ||
                               writer.HasInSomeLayer(".attn_k.bias") ||
                               writer.HasInSomeLayer(".attn_v.bias") ||
                               writer.HasInSomeLayer(".attn_qkv.bias");
  config->has_output_bias = writer.HasInSomeLayer(".attn_output.bias");
  config->has_feed_bias = writer.HasInSomeLayer(".ffn_down.bias") ||
                          writer.HasInSomeLayer(".ffn_up.bias") ||
                          writer.HasInSomeLayer(".ffn_gate.bias");
  config->has_joined_matrices = writer.HasTensor("blk.0.attn_qkv.weight");
  config->is_transposed = false;
  config->adds_one_to_gains = false;
  config->rotary.has_neighbours =
      writer.form() != nullptr && writer.form()->gguf_has_neighbours;
}

// Refuses a number that is neither `unchanged` nor 0.
void RefuseUnless(ConfigWriter& writer, const char* name, double unchanged) {
  const double number = writer.NumberOr(name, unchanged);
  if (number == unchanged || number == 0) return;
  writer.Refuse(absl::StrCat("key \"", writer.Key(name), "\" is ", number,
                             ", which changes the model in a way that is not "
                             "supported"));
}

// Refuses keys of other models with the same architecture, which would silently
// give wrong results, unless their values change nothing.
void RefuseOtherSums(ConfigWriter& writer) {
  const bool has_multipliers =
      writer.form() != nullptr && writer.form()->has_multipliers;
  const std::pair<const char*, double> kMultipliers[] = {{"attention.scale", 0},
                                                         {"logit_scale", 1},
                                                         {"embedding_scale", 1},
                                                         {"residual_scale", 1}};
  for (const auto& [name, unchanged] : kMultipliers) {
    if (!has_multipliers) RefuseUnless(writer, name, unchanged);
  }
  const std::pair<const char*, double> kUnchanged[] = {
      {"attention.clamp_kqv", 0},
      {"attention.max_alibi_bias", 0},
      {"attention.temperature_scale", 0},
      {"attn_logit_softcapping", 0},
      {"final_logit_softcapping", 0},
      {"rope.scaling.yarn_ext_factor", 1},
      {"rope.scaling.yarn_log_multiplier", 0}};
  for (const auto& [name, unchanged] : kUnchanged) {
    RefuseUnless(writer, name, unchanged);
  }
  if (writer.HasKey("attention.causal") && !writer.Flag("attention.causal")) {
    writer.Refuse(absl::StrCat("key \"", writer.Key("attention.causal"),
                               "\" is false: tokens that see those after them "
                               "are not supported"));
  }
}

// Checks the config under config.json's names. An error also has the file's own
// names.
absl::StatusOr<DecoderConfig> ParseWritten(const ConfigWriter& writer,
                                           const std::string& file_name) {
  absl::StatusOr<DecoderConfig> config =
      ParseDecoderConfig(writer.text(), file_name);
  if (config.ok()) return config;
  const std::pair<const char*, const char*> kNames[] = {
      {"num_hidden_layers", "block_count"},
      {"hidden_size", "embedding_length"},
      {"num_attention_heads", "attention.head_count"},
      {"num_key_value_heads", "attention.head_count_kv"},
      {"intermediate_size", "feed_forward_length"},
      {"max_position_embeddings", "context_length"},
      {"rms_norm_eps", "attention.layer_norm_rms_epsilon"},
      {"head_dim", "attention.key_length"},
      {"sliding_window", "attention.sliding_window"},
      {"rope_theta", "rope.freq_base"},
      {"partial_rotary_factor", "rope.dimension_count"},
      {"factor is", "rope.scaling.factor"},
      {"n_layer", "block_count"},
      {"n_embd", "embedding_length"},
      {"n_head", "attention.head_count"},
      {"n_inner", "feed_forward_length"},
      {"n_positions", "context_length"},
      {"layer_norm_epsilon", "attention.layer_norm_epsilon"}};
  const absl::string_view message = config.status().message();
  for (const auto& [published, name] : kNames) {
    if (!absl::StrContains(message, absl::StrCat(": ", published))) continue;
    return absl::Status(
        config.status().code(),
        absl::StrCat(message, " (the file's key \"", writer.Key(name), "\")"));
  }
  return config;
}

}  // namespace

absl::StatusOr<DecoderConfig> ReadGgufConfig(const GgufIndex& index,
                                             WeightStore& store) {
  const absl::StatusOr<std::string> architecture =
      index.Text("general.architecture");
  if (!architecture.ok()) return architecture.status();
  ConfigWriter writer(index, *architecture);
  if (index.Has("split.count")) {
    const absl::StatusOr<int64_t> parts = index.Integer("split.count");
    if (parts.ok() && *parts > 1) {
      writer.Refuse(
          absl::StrCat("the model is in ", *parts,
                       " files; make one of them: llama-gguf-split --merge"));
    }
  }
  if (writer.Is("gpt2")) {
    WriteGpt2Config(writer);
  } else if (writer.form() != nullptr) {
    WriteLlamaConfig(writer, store);
  } else {
    writer.Refuse(absl::StrCat(
        "general.architecture \"", *architecture, "\" is not supported; ",
        absl::StrJoin(GgufArchitectures(), ", "), " and \"gpt2\" are"));
  }
  RefuseOtherSums(writer);
  if (writer.status().ok()) WriteVocabulary(index, writer);
  if (!writer.status().ok()) return writer.status();
  absl::StatusOr<DecoderConfig> config =
      ParseWritten(writer, index.file_name());
  if (!config.ok()) return config;
  SetWhatTensorsSay(writer, &*config);
  if (!writer.HasTensor("rope_freqs.weight")) return config;
  const absl::Status status = DivideAngles(store, &config->rotary);
  if (!status.ok()) return status;
  return config;
}

}  // namespace footprint
