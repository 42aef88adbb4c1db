// Reads the keys of a checkpoint's config.json, and keeps the first error.
//
//   absl::StatusOr<std::string> text = footprint::ReadConfigText(path);
//   absl::StatusOr<footprint::ConfigReader> reader =
//       footprint::ConfigReader::Parse(*text, path);
//   const int64_t layers = reader->Extent("n_layer");
//   if (!reader->status().ok()) return reader->status();
//
// After an error the numbers are plausible but meaningless. Check status()
// before using any.
//
// The error is InvalidArgument if the file is not a regular file or a JSON
// object or has more than 4 MiB, or if a key is missing or impossible; the
// message names the file and the key. The error is Unimplemented if Refuse was
// called. The error is NotFound if there is no such file.
//
// Owns what it parsed, so it may outlive the text. Thread-compatible. Memory:
// the parsed text, a few times the file's size.

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

// Returns the text of a config.json.
absl::StatusOr<std::string> ReadConfigText(absl::string_view path);

class ConfigReader {
 public:
  // Parses a text, which messages call `name`.
  static absl::StatusOr<ConfigReader> Parse(absl::string_view json,
                                            absl::string_view name);

  const absl::Status& status() const { return status_; }

  // Returns whether the key exists and is not null.
  bool Has(const char* key) const { return Find(key) != nullptr; }
  // Returns whether the key exists and is null.
  bool IsNull(const char* key) const;

  // Returns an integer from 1 to 2^30; a null value is an error.
  int64_t Extent(const char* key);
  // This and the following functions with `otherwise` return it if the key is
  // missing or null, and record an error if the value has another type or is
  // out of range.
  int64_t ExtentOr(const char* key, int64_t otherwise);
  // Returns an integer from 0 to 2^30.
  int64_t CountOr(const char* key, int64_t otherwise);
  double NumberOr(const char* key, double otherwise);
  bool FlagOr(const char* key, bool otherwise);
  std::string TextOr(const char* key, const std::string& otherwise);
  // Returns a list of strings.
  std::vector<std::string> TextsOr(const char* key,
                                   const std::vector<std::string>& otherwise);

  // Returns a list of numbers.
  std::vector<double> NumbersOr(const char* key,
                                const std::vector<double>& otherwise);
  // Returns a list of numbers. A single number is a list of one, and a missing
  // key gives an empty list.
  std::vector<double> NumberOrNumbers(const char* key);

  // Returns a reader of the object under the key. It begins with this reader's
  // error and keeps its own later ones; see Take. If the key is missing or its
  // value is not an object, returns an empty reader and records an error here.
  // EmptySection returns the empty reader without an error.
  ConfigReader Section(const char* key);
  ConfigReader EmptySection(const char* key) const;
  // Takes over a section's error, if this reader has none.
  void Take(const ConfigReader& section) { status_.Update(section.status_); }
  // Copies the value of a key from the other reader if it is missing here.
  void Inherit(const char* key, const ConfigReader& other);

  // Reads "gelu", "gelu_new", "gelu_pytorch_tanh", "relu" or "silu".
  Activation ActivationOr(const char* key, const std::string& otherwise);
  // Reads an epsilon, which must be finite as a float and above zero: padding
  // tokens are all equal, so their deviation is zero.
  float EpsilonOr(const char* key, double otherwise);
  // Records an error unless attention can divide the features among the heads.
  // `heads` is at least 1.
  void CheckHeads(int64_t hidden, int64_t heads);

  // These record an error unless there is one already. Fail records
  // InvalidArgument with what is wrong with the key, and Refuse records
  // Unimplemented with the known values.
  void Fail(absl::string_view key, absl::string_view what);
  void Refuse(absl::string_view key, absl::string_view value,
              absl::string_view known);

 private:
  ConfigReader(nlohmann::json json, absl::string_view name)
      : json_(std::move(json)), name_(name) {}
  // Returns null if the key is missing or null.
  const nlohmann::json* Find(const char* key) const;
  int64_t CheckedExtent(const char* key, const nlohmann::json& value);

  nlohmann::json json_;
  std::string name_;
  absl::Status status_;
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_CHECKPOINTS_CONFIG_READER_H_
