#include "footprint/lowmem/models/sentence_pooling.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/lowmem/checkpoints/config_reader.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

// tokenizer_config.json takes some MiB if the tokenizer has many added words.
constexpr int64_t kLargestFileBytes = 16 << 20;

bool IsThere(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0;
}

struct PoolingMode {
  const char* key;
  SentencePooling::Kind kind;
};

constexpr PoolingMode kModes[] = {
    {"pooling_mode_mean_tokens", SentencePooling::Kind::kMean},
    {"pooling_mode_cls_token", SentencePooling::Kind::kFirst},
    {"pooling_mode_max_tokens", SentencePooling::Kind::kLargest},
    {"pooling_mode_lasttoken", SentencePooling::Kind::kLast},
    {"pooling_mode_mean_sqrt_len_tokens", SentencePooling::Kind::kMeanByRoot},
    {"pooling_mode_weightedmean_tokens", SentencePooling::Kind::kWeightedMean}};

// Newer files name the same poolings as values of one key, pooling_mode.
constexpr PoolingMode kNamedModes[] = {
    {"mean", SentencePooling::Kind::kMean},
    {"cls", SentencePooling::Kind::kFirst},
    {"max", SentencePooling::Kind::kLargest},
    {"lasttoken", SentencePooling::Kind::kLast},
    {"mean_sqrt_len_tokens", SentencePooling::Kind::kMeanByRoot},
    {"weightedmean", SentencePooling::Kind::kWeightedMean}};

// Names of the file with the settings of the Transformer module; the first that
// exists counts. sentence-transformers chose the name by the family of the
// model.
constexpr const char* kSettings[] = {
    "sentence_bert_config.json", "sentence_roberta_config.json",
    "sentence_distilbert_config.json", "sentence_camembert_config.json",
    "sentence_xlm-roberta_config.json"};

absl::Status ReadMode(const std::string& path, SentencePooling* pooling) {
  const absl::StatusOr<std::string> text = ReadConfigText(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<ConfigReader> reader = ConfigReader::Parse(*text, path);
  if (!reader.ok()) return reader.status();
  const std::string name = reader->TextOr("pooling_mode", "");
  int modes = 0;
  for (const PoolingMode& mode : kNamedModes) {
    if (name != mode.key) continue;
    pooling->kind = mode.kind;
    ++modes;
  }
  if (!name.empty() && modes == 0) {
    reader->Refuse("pooling_mode", name, "the mean, cls, max and last token");
  }
  for (const PoolingMode& mode : kModes) {
    // The older keys count only if the newer one is missing.
    if (!name.empty() || !reader->FlagOr(mode.key, false)) continue;
    pooling->kind = mode.kind;
    ++modes;
  }
  if (!pooling->prompt.empty() && !reader->FlagOr("include_prompt", true)) {
    reader->Refuse("include_prompt", "false", "poolings that count the prompt");
  }
  if (modes != 1 && reader->status().ok()) {
    return absl::UnimplementedError(
        absl::StrCat(path, ": has ", modes, " pooling modes; one is known"));
  }
  return reader->status();
}

// Returns whether `name` is the last part of the type. A type is a path such as
// "sentence_transformers.models.Pooling"; newer files shorten it.
bool IsModule(const std::string& type, absl::string_view name) {
  return type == name || absl::EndsWith(type, absl::StrCat(".", name));
}

absl::Status ReadModules(const std::string& directory,
                         SentencePooling* pooling) {
  const std::string path = directory + "/modules.json";
  const absl::StatusOr<std::string> text =
      ReadWholeFile(path, kLargestFileBytes);
  if (!text.ok()) return text.status();
  const nlohmann::json modules =
      nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!modules.is_array()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is not a JSON list"));
  }
  // Dense and Normalize must follow the Pooling, and no Dense may follow the
  // Normalize.
  bool has_pooling = false;
  for (const nlohmann::json& module : modules) {
    const auto key = [&module](const char* name) {
      const bool has = module.is_object() && module.contains(name) &&
                       module[name].is_string();
      return has ? module[name].get<std::string>() : std::string();
    };
    const std::string type = key("type");
    const std::string folder = absl::StrCat(directory, "/", key("path"));
    if (IsModule(type, "Transformer")) {
      // Without a path the model is in the folder of modules.json.
      if (!key("path").empty()) pooling->model_folder = folder;
    } else if (IsModule(type, "Pooling") && !has_pooling) {
      const absl::Status status = ReadMode(folder + "/config.json", pooling);
      if (!status.ok()) return status;
      has_pooling = true;
    } else if (IsModule(type, "Dense") && has_pooling && !pooling->normalises) {
      pooling->dense.push_back(folder);
    } else if (IsModule(type, "Normalize") && has_pooling) {
      pooling->normalises = true;
    } else if (!IsModule(type, "Dropout")) {
      return absl::UnimplementedError(
          absl::StrCat(path, ": module \"", type,
                       "\" is unknown there; known are Transformer, Pooling, "
                       "Dense and Normalize, in this order"));
    }
  }
  if (has_pooling) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(path, ": has no Pooling"));
}

// Returns the JSON of a file, or null if the file does not exist.
absl::StatusOr<nlohmann::json> ReadJson(const std::string& path) {
  if (!IsThere(path)) return nlohmann::json();
  const absl::StatusOr<std::string> text =
      ReadWholeFile(path, kLargestFileBytes);
  if (!text.ok()) return text.status();
  nlohmann::json json =
      nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (json.is_object()) return json;
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": is not a JSON object"));
}

absl::Status ReadPrompt(const std::string& directory,
                        const std::string& prompt_name, std::string* prompt) {
  const std::string path = directory + "/config_sentence_transformers.json";
  const absl::StatusOr<nlohmann::json> json = ReadJson(path);
  if (!json.ok()) return json.status();
  std::string name = prompt_name;
  if (name.empty() && json->contains("default_prompt_name") &&
      (*json)["default_prompt_name"].is_string()) {
    name = (*json)["default_prompt_name"].get<std::string>();
  }
  if (name.empty()) return absl::OkStatus();
  std::vector<std::string> names;
  if (json->contains("prompts") && (*json)["prompts"].is_object()) {
    for (const auto& entry : (*json)["prompts"].items()) {
      if (!entry.value().is_string()) continue;
      names.push_back(entry.key());
      if (entry.key() != name) continue;
      *prompt = entry.value().get<std::string>();
      return absl::OkStatus();
    }
  }
  return absl::NotFoundError(
      absl::StrCat(path, ": has no prompt \"", name, "\"; it has ",
                   names.empty() ? "none" : absl::StrJoin(names, ", ")));
}

// Returns the tokenizer's own limit of tokens, which applies if the model's
// module has none. Returns 0 if the tokenizer has none.
absl::StatusOr<int64_t> ReadTokenizersMost(const std::string& folder) {
  const absl::StatusOr<nlohmann::json> json =
      ReadJson(folder + "/tokenizer_config.json");
  if (!json.ok()) return json.status();
  if (!json->contains("model_max_length")) return 0;
  const nlohmann::json& most = (*json)["model_max_length"];
  // For a tokenizer without a limit, transformers writes 10^30 here.
  constexpr double kLargest = 1 << 30;
  if (!most.is_number() || most.get<double>() < 1 ||
      most.get<double>() > kLargest) {
    return 0;
  }
  return most.get<int64_t>();
}

absl::Status ReadSettings(SentencePooling* pooling) {
  for (const char* name : kSettings) {
    const std::string path = absl::StrCat(pooling->model_folder, "/", name);
    if (!IsThere(path)) continue;
    const absl::StatusOr<std::string> text = ReadConfigText(path);
    if (!text.ok()) return text.status();
    absl::StatusOr<ConfigReader> reader = ConfigReader::Parse(*text, path);
    if (!reader.ok()) return reader.status();
    pooling->most_tokens = reader->CountOr("max_seq_length", 0);
    pooling->lowers = reader->FlagOr("do_lower_case", false);
    if (!reader->status().ok()) return reader->status();
    break;
  }
  if (pooling->most_tokens > 0) return absl::OkStatus();
  const absl::StatusOr<int64_t> most =
      ReadTokenizersMost(pooling->model_folder);
  if (!most.ok()) return most.status();
  pooling->most_tokens = *most;
  return absl::OkStatus();
}

}  // namespace

const char* PoolingName(SentencePooling::Kind kind) {
  for (const PoolingMode& mode : kNamedModes) {
    if (mode.kind == kind) return mode.key;
  }
  return "";
}

absl::StatusOr<SentencePooling> ReadSentencePooling(
    const std::string& directory, const std::string& prompt_name) {
  SentencePooling pooling;
  pooling.model_folder = directory;
  absl::Status status = ReadPrompt(directory, prompt_name, &pooling.prompt);
  if (!status.ok()) return status;
  if (IsThere(directory + "/modules.json")) {
    status = ReadModules(directory, &pooling);
  } else {
    pooling.is_stated = false;
  }
  if (status.ok()) status = ReadSettings(&pooling);
  if (!status.ok()) return status;
  return pooling;
}

void NormaliseVector(absl::Span<float> vector) {
  double squares = 0;
  for (const float x : vector) squares += static_cast<double>(x) * x;
  // The least divisor is that of torch's normalize. A vector of zeros stays as
  // it is.
  const double length = std::max(std::sqrt(squares), 1e-12);
  for (float& x : vector) x = static_cast<float>(x / length);
}

void PoolStates(SentencePooling::Kind kind, absl::Span<const float> states,
                absl::Span<float> vector) {
  const size_t features = vector.size();
  const size_t tokens = states.size() / features;
  const auto at = [&](size_t token, size_t feature) {
    return states[token * features + feature];
  };
  // Each feature is pooled by itself, and sums are in double precision.
  for (size_t i = 0; i < features; ++i) {
    switch (kind) {
      case SentencePooling::Kind::kFirst:
        vector[i] = at(0, i);
        break;
      case SentencePooling::Kind::kLast:
        vector[i] = at(tokens - 1, i);
        break;
      case SentencePooling::Kind::kLargest:
        vector[i] = at(0, i);
        for (size_t token = 1; token < tokens; ++token) {
          vector[i] = std::max(vector[i], at(token, i));
        }
        break;
      case SentencePooling::Kind::kMean: {
        double sum = 0;
        for (size_t token = 0; token < tokens; ++token) sum += at(token, i);
        vector[i] = static_cast<float>(sum / static_cast<double>(tokens));
        break;
      }
      case SentencePooling::Kind::kMeanByRoot: {
        double sum = 0;
        for (size_t token = 0; token < tokens; ++token) sum += at(token, i);
        vector[i] =
            static_cast<float>(sum / std::sqrt(static_cast<double>(tokens)));
        break;
      }
      case SentencePooling::Kind::kWeightedMean: {
        double sum = 0;
        double weights = 0;
        for (size_t token = 0; token < tokens; ++token) {
          const auto weight = static_cast<double>(token + 1);
          sum += weight * at(token, i);
          weights += weight;
        }
        vector[i] = static_cast<float>(sum / weights);
        break;
      }
    }
  }
}

}  // namespace footprint
