#include "footprint/lowmem/models/sentence_pooling.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/lowmem/checkpoints/config_reader.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

constexpr int64_t kLargestFileBytes = 1 << 20;

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
    {"pooling_mode_lasttoken", SentencePooling::Kind::kLast}};

absl::Status ReadMode(const std::string& path, SentencePooling* pooling) {
  const absl::StatusOr<std::string> text = ReadConfigText(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<ConfigReader> reader = ConfigReader::Parse(*text, path);
  if (!reader.ok()) return reader.status();
  int modes = 0;
  for (const PoolingMode& mode : kModes) {
    if (!reader->FlagOr(mode.key, false)) continue;
    pooling->kind = mode.kind;
    ++modes;
  }
  for (const char* other : {"pooling_mode_mean_sqrt_len_tokens",
                            "pooling_mode_weightedmean_tokens"}) {
    if (reader->FlagOr(other, false)) {
      reader->Refuse(other, "true", "the mean, cls, max and last token");
    }
  }
  if (modes != 1 && reader->status().ok()) {
    return absl::UnimplementedError(
        absl::StrCat(path, ": has ", modes, " pooling modes; one is known"));
  }
  return reader->status();
}

// "sentence_transformers.models.Pooling", in newer files shorter.
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
    return absl::InvalidArgumentError(absl::StrCat(path, ": is no JSON list"));
  }
  bool has_pooling = false;
  for (const nlohmann::json& module : modules) {
    const auto key = [&module](const char* name) {
      const bool has = module.is_object() && module.contains(name) &&
                       module[name].is_string();
      return has ? module[name].get<std::string>() : std::string();
    };
    const std::string type = key("type");
    if (IsModule(type, "Transformer")) continue;
    if (IsModule(type, "Pooling")) {
      const absl::Status status = ReadMode(
          absl::StrCat(directory, "/", key("path"), "/config.json"), pooling);
      if (!status.ok()) return status;
      has_pooling = true;
    } else if (IsModule(type, "Normalize")) {
      pooling->normalises = true;
    } else {
      return absl::UnimplementedError(
          absl::StrCat(path, ": module \"", type,
                       "\" is unknown; known are Transformer, Pooling and "
                       "Normalize"));
    }
  }
  if (has_pooling) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(path, ": has no Pooling"));
}

void Normalise(absl::Span<float> vector) {
  double squares = 0;
  for (const float x : vector) squares += static_cast<double>(x) * x;
  // As torch has it, so that a vector of zeros stays one.
  const double length = std::max(std::sqrt(squares), 1e-12);
  for (float& x : vector) x = static_cast<float>(x / length);
}

}  // namespace

absl::StatusOr<SentencePooling> ReadSentencePooling(
    const std::string& directory) {
  SentencePooling pooling;
  if (IsThere(directory + "/modules.json")) {
    const absl::Status status = ReadModules(directory, &pooling);
    if (!status.ok()) return status;
  } else {
    pooling.is_stated = false;
  }
  const std::string path = directory + "/sentence_bert_config.json";
  if (!IsThere(path)) return pooling;
  const absl::StatusOr<std::string> text = ReadConfigText(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<ConfigReader> reader = ConfigReader::Parse(*text, path);
  if (!reader.ok()) return reader.status();
  pooling.most_tokens = reader->CountOr("max_seq_length", 0);
  if (!reader->status().ok()) return reader->status();
  return pooling;
}

void PoolStates(const SentencePooling& pooling, absl::Span<const float> states,
                absl::Span<float> vector) {
  const size_t features = vector.size();
  const size_t tokens = states.size() / features;
  const auto at = [&](size_t token, size_t feature) {
    return states[token * features + feature];
  };
  for (size_t i = 0; i < features; ++i) {
    switch (pooling.kind) {
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
    }
  }
  if (pooling.normalises) Normalise(vector);
}

}  // namespace footprint
