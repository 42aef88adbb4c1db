// Reads the keys of a checkpoint's config.json, and keeps the first fault.
//
//   absl::StatusOr<std::string> text = footprint::ReadConfigText(path);
//   absl::StatusOr<footprint::ConfigReader> reader =
//       footprint::ConfigReader::Parse(*text, path);
//   const int64_t layers = reader->Extent("n_layer");
//   if (!reader->status().ok()) return reader->status();
//
// After a fault the numbers are plausible and meaningless: ask status() before
// using any.
//
// InvalidArgument: no regular file, not a JSON object, more than 4 MiB, or a
// key is missing or impossible; the text names the file and the key.
// Unimplemented: a value that Refuse was called with. NotFound: no such file.
//
// Owns what it parsed and outlives the text. Thread-compatible. Memory: the
// parsed text, a few times the file's size.

#ifndef FOOTPRINT_LOWMEM_CHECKPOINTS_CONFIG_READER_H_
#define FOOTPRINT_LOWMEM_CHECKPOINTS_CONFIG_READER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/simd/activation.h"
#include "nlohmann/json.hpp"

namespace footprint {

// The text of a config.json.
absl::StatusOr<std::string> ReadConfigText(absl::string_view path);

class ConfigReader {
 public:
  // `name` is for messages.
  static absl::StatusOr<ConfigReader> Parse(absl::string_view json,
                                            absl::string_view name);

  const absl::Status& status() const { return status_; }

  // Returns whether there is such a key, and not null.
  bool Has(const char* key) const { return Find(key) != nullptr; }
  // Returns whether the key is there and its value null.
  bool IsNull(const char* key) const;

  // A whole number from 1 to 2^30.
  int64_t Extent(const char* key);
  // `otherwise` where there is no such key, or null.
  int64_t ExtentOr(const char* key, int64_t otherwise);
  // A whole number from 0 to 2^30.
  int64_t CountOr(const char* key, int64_t otherwise);
  double NumberOr(const char* key, double otherwise);
  bool FlagOr(const char* key, bool otherwise);
  std::string TextOr(const char* key, const std::string& otherwise);
  // A list of strings.
  std::vector<std::string> TextsOr(const char* key,
                                   const std::vector<std::string>& otherwise);

  // A list of numbers.
  std::vector<double> NumbersOr(const char* key,
                                const std::vector<double>& otherwise);
  // A list of numbers, or one number as a list of it; none where there is no
  // such key.
  std::vector<double> NumberOrNumbers(const char* key);

  // Returns a reader of the object that is the key's value, which begins with
  // this one's fault; an empty one, and a fault, where it is none. What it
  // finds wrong is its own: see Take.
  ConfigReader Section(const char* key);
  ConfigReader EmptySection(const char* key) const;
  // Takes over the fault of a section, if it is the first.
  void Take(const ConfigReader& section) { status_.Update(section.status_); }
  // Has the other reader's value of a key that is missing here.
  void Inherit(const char* key, const ConfigReader& other);

  // "gelu", "gelu_new", "gelu_pytorch_tanh", "relu" or "silu".
  Activation ActivationOr(const char* key, const std::string& otherwise);
  // Reads an epsilon, which is above zero: padding tokens are all equal, so
  // their deviation is zero.
  float EpsilonOr(const char* key, double otherwise);
  // Attention shares the features among the heads.
  void CheckHeads(int64_t hidden, int64_t heads);

  void Fail(absl::string_view key, absl::string_view what);
  void Refuse(absl::string_view key, absl::string_view value,
              absl::string_view known);

 private:
  ConfigReader(nlohmann::json json, absl::string_view name)
      : json_(std::move(json)), name_(name) {}
  // Returns null where there is none.
  const nlohmann::json* Find(const char* key) const;
  int64_t CheckedExtent(const char* key, const nlohmann::json& value);

  nlohmann::json json_;
  std::string name_;
  absl::Status status_;
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_CHECKPOINTS_CONFIG_READER_H_
