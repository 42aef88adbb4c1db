#include "footprint/lowmem/encoder_config.h"

#include <stdio.h>

#include <cmath>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

// Far above any model, and low enough that no product of two overflows.
constexpr int64_t kLargestExtent = int64_t{1} << 30;
// What lies beyond is not read, and what is then cut off is no JSON.
constexpr size_t kLargestConfigBytes = 64 << 10;

class ConfigReader {
 public:
  ConfigReader(const nlohmann::json& json, absl::string_view name)
      : json_(json), name_(name) {}

  // The first fault, if any.
  const absl::Status& status() const { return status_; }

  int64_t Extent(const char* key) {
    const auto found = json_.find(key);
    if (found == json_.end()) {
      Fail(key, "is missing");
      return 1;
    }
    return CheckedExtent(key, *found);
  }

  int64_t ExtentOr(const char* key, int64_t otherwise) {
    const auto found = json_.find(key);
    return found == json_.end() ? otherwise : CheckedExtent(key, *found);
  }

  double NumberOr(const char* key, double otherwise) {
    const auto found = json_.find(key);
    if (found == json_.end()) return otherwise;
    if (found->is_number()) return found->get<double>();
    Fail(key, "is not a number");
    return otherwise;
  }

  std::string TextOr(const char* key, const std::string& otherwise) {
    const auto found = json_.find(key);
    if (found == json_.end() || found->is_null()) return otherwise;
    if (found->is_string()) return found->get<std::string>();
    Fail(key, "is not a string");
    return otherwise;
  }

  void Fail(absl::string_view key, absl::string_view what) {
    status_.Update(
        absl::InvalidArgumentError(absl::StrCat(name_, ": ", key, " ", what)));
  }
  void Refuse(absl::string_view key, absl::string_view value,
              absl::string_view known) {
    status_.Update(absl::UnimplementedError(absl::StrCat(
        name_, ": ", key, " is \"", value, "\"; known are ", known)));
  }

 private:
  int64_t CheckedExtent(const char* key, const nlohmann::json& value) {
    if (value.is_number_unsigned()) {
      const uint64_t number = value.get<uint64_t>();
      if (number >= 1 && number <= kLargestExtent) {
        return static_cast<int64_t>(number);
      }
    }
    Fail(key, absl::StrCat("is not a whole number from 1 to ", kLargestExtent));
    return 1;
  }

  const nlohmann::json& json_;
  absl::string_view name_;
  absl::Status status_;
};

void ReadBert(ConfigReader& reader, EncoderConfig& config) {
  config.family = EncoderFamily::kBert;
  config.layers = reader.Extent("num_hidden_layers");
  config.hidden = reader.Extent("hidden_size");
  config.heads = reader.Extent("num_attention_heads");
  config.intermediate = reader.Extent("intermediate_size");
  config.positions = reader.Extent("max_position_embeddings");
  config.token_types = reader.ExtentOr("type_vocab_size", 2);
  config.epsilon = static_cast<float>(reader.NumberOr("layer_norm_eps", 1e-12));
}

void ReadDistilBert(ConfigReader& reader, EncoderConfig& config) {
  config.family = EncoderFamily::kDistilBert;
  config.layers = reader.Extent("n_layers");
  config.hidden = reader.Extent("dim");
  config.heads = reader.Extent("n_heads");
  config.intermediate = reader.Extent("hidden_dim");
  config.positions = reader.Extent("max_position_embeddings");
  config.token_types = 0;
  config.epsilon = 1e-12f;
}

void ReadActivation(ConfigReader& reader, const char* key,
                    EncoderConfig& config) {
  const std::string name = reader.TextOr(key, "gelu");
  if (name == "gelu") {
    config.activation = Activation::kGelu;
  } else if (name == "gelu_new") {
    config.activation = Activation::kGeluTanh;
  } else if (name == "relu") {
    config.activation = Activation::kRelu;
  } else {
    reader.Refuse(key, name, "\"gelu\", \"gelu_new\" and \"relu\"");
  }
}

}  // namespace

absl::StatusOr<EncoderConfig> ParseEncoderConfig(absl::string_view json,
                                                 absl::string_view name) {
  const nlohmann::json parsed = nlohmann::json::parse(
      json.begin(), json.end(), nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": not a JSON object"));
  }
  ConfigReader reader(parsed, name);
  EncoderConfig config;
  const std::string family = reader.TextOr("model_type", "bert");
  if (family == "bert") {
    ReadBert(reader, config);
    ReadActivation(reader, "hidden_act", config);
  } else if (family == "distilbert") {
    ReadDistilBert(reader, config);
    ReadActivation(reader, "activation", config);
  } else {
    reader.Refuse("model_type", family, "\"bert\" and \"distilbert\"");
  }
  const std::string position =
      reader.TextOr("position_embedding_type", "absolute");
  if (position != "absolute") {
    reader.Refuse("position_embedding_type", position, "\"absolute\"");
  }
  config.vocabulary = reader.Extent("vocab_size");
  if (!reader.status().ok()) return reader.status();
  if (config.hidden % config.heads != 0) {
    reader.Fail("hidden size",
                absl::StrCat(config.hidden, " is not a multiple of the ",
                             config.heads, " heads"));
  }
  // Padding tokens are all equal: without it their deviation is zero.
  if (!(config.epsilon > 0) || !std::isfinite(config.epsilon)) {
    reader.Fail("layer_norm_eps", "is not above zero");
  }
  if (!reader.status().ok()) return reader.status();
  return config;
}

absl::StatusOr<EncoderConfig> ReadEncoderConfig(absl::string_view path) {
  const std::string name(path);
  // Not a C++ stream: its locales would cost a small process a megabyte.
  FILE* const file = fopen(name.c_str(), "rb");
  std::string text;
  bool read = file != nullptr;
  if (file != nullptr) {
    text.resize(kLargestConfigBytes);
    text.resize(fread(&text[0], 1, text.size(), file));
    read = ferror(file) == 0;
    fclose(file);
  }
  if (!read) {
    return absl::NotFoundError(absl::StrCat(
        name,
        ": cannot be read; a checkpoint's folder holds config.json and "
        "model.safetensors"));
  }
  return ParseEncoderConfig(text, name);
}

}  // namespace footprint
