#include "footprint/lowmem/checkpoints/config_reader.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/whole_file.h"

namespace footprint {
namespace {

// The limit is far above the extents of any model, and the product of two
// extents does not overflow.
constexpr int64_t kLargestExtent = int64_t{1} << 30;
// Configs are far smaller, even those that name thousands of labels.
constexpr int64_t kLargestConfigBytes = 4 << 20;

}  // namespace

absl::StatusOr<std::string> ReadConfigText(absl::string_view path) {
  absl::StatusOr<std::string> text =
      ReadWholeFile(std::string(path), kLargestConfigBytes);
  if (text.ok()) return text;
  return absl::Status(
      text.status().code(),
      absl::StrCat(text.status().message(),
                   "; a checkpoint's folder holds config.json and "
                   "model.safetensors"));
}

absl::StatusOr<ConfigReader> ConfigReader::Parse(absl::string_view json,
                                                 absl::string_view name) {
  nlohmann::json parsed = nlohmann::json::parse(
      json.begin(), json.end(), nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name,
                     ": is not a JSON object; copy the file of the published "
                     "checkpoint again"));
  }
  return ConfigReader(std::move(parsed), name);
}

const nlohmann::json* ConfigReader::Find(const char* key) const {
  const auto found = json_.find(key);
  return found == json_.end() || found->is_null() ? nullptr : &*found;
}

bool ConfigReader::IsNull(const char* key) const {
  const auto found = json_.find(key);
  return found != json_.end() && found->is_null();
}

int64_t ConfigReader::CountOr(const char* key, int64_t otherwise) {
  const nlohmann::json* const value = Find(key);
  const bool is_zero = value != nullptr && value->is_number_unsigned() &&
                       value->get<uint64_t>() == 0;
  return is_zero ? 0 : ExtentOr(key, otherwise);
}

int64_t ConfigReader::Extent(const char* key) {
  // A null value is an error of its own here, unlike a missing key.
  const auto found = json_.find(key);
  if (found != json_.end()) return CheckedExtent(key, *found);
  Fail(key, "is missing");
  return 1;
}

int64_t ConfigReader::ExtentOr(const char* key, int64_t otherwise) {
  const nlohmann::json* const value = Find(key);
  return value == nullptr ? otherwise : CheckedExtent(key, *value);
}

double ConfigReader::NumberOr(const char* key, double otherwise) {
  const nlohmann::json* const value = Find(key);
  if (value == nullptr) return otherwise;
  if (value->is_number()) return value->get<double>();
  Fail(key, "is not a number");
  return otherwise;
}

bool ConfigReader::FlagOr(const char* key, bool otherwise) {
  const nlohmann::json* const value = Find(key);
  if (value == nullptr) return otherwise;
  if (value->is_boolean()) return value->get<bool>();
  Fail(key, "is not true or false");
  return otherwise;
}

std::string ConfigReader::TextOr(const char* key,
                                 const std::string& otherwise) {
  const nlohmann::json* const value = Find(key);
  if (value == nullptr) return otherwise;
  if (value->is_string()) return value->get<std::string>();
  Fail(key, "is not a string");
  return otherwise;
}

std::vector<std::string> ConfigReader::TextsOr(
    const char* key, const std::vector<std::string>& otherwise) {
  const nlohmann::json* const value = Find(key);
  if (value == nullptr) return otherwise;
  const auto refuse = [&] {
    Fail(key, "is not a list of strings");
    return otherwise;
  };
  if (!value->is_array()) return refuse();
  std::vector<std::string> texts;
  for (const nlohmann::json& text : *value) {
    if (!text.is_string()) return refuse();
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

std::vector<double> ConfigReader::NumbersOr(
    const char* key, const std::vector<double>& otherwise) {
  const nlohmann::json* const value = Find(key);
  if (value == nullptr) return otherwise;
  const auto refuse = [&] {
    Fail(key, "is not a list of numbers");
    return otherwise;
  };
  if (!value->is_array()) return refuse();
  std::vector<double> numbers;
  for (const nlohmann::json& number : *value) {
    if (!number.is_number()) return refuse();
    numbers.push_back(number.get<double>());
  }
  return numbers;
}

std::vector<double> ConfigReader::NumberOrNumbers(const char* key) {
  const nlohmann::json* const value = Find(key);
  if (value != nullptr && value->is_number()) return {value->get<double>()};
  return NumbersOr(key, {});
}

ConfigReader ConfigReader::EmptySection(const char* key) const {
  ConfigReader section(nlohmann::json::object(),
                       absl::StrCat(name_, ": ", key));
  section.status_ = status_;
  return section;
}

ConfigReader ConfigReader::Section(const char* key) {
  const nlohmann::json* const value = Find(key);
  if (value == nullptr || !value->is_object()) {
    Fail(key, "is not an object");
    return EmptySection(key);
  }
  ConfigReader section = EmptySection(key);
  section.json_ = *value;
  return section;
}

void ConfigReader::Inherit(const char* key, const ConfigReader& other) {
  const nlohmann::json* const value = other.Find(key);
  if (value != nullptr && !Has(key)) json_[key] = *value;
}

Activation ConfigReader::ActivationOr(const char* key,
                                      const std::string& otherwise) {
  const std::string name = TextOr(key, otherwise);
  if (name == "gelu") return Activation::kGelu;
  // These are two names of one function, the approximation by tanh.
  if (name == "gelu_new" || name == "gelu_pytorch_tanh") {
    return Activation::kGeluTanh;
  }
  if (name == "relu") return Activation::kRelu;
  if (name == "silu") return Activation::kSilu;
  Refuse(key, name,
         "\"gelu\", \"gelu_new\", \"gelu_pytorch_tanh\", \"relu\" and "
         "\"silu\"");
  return Activation::kNone;
}

float ConfigReader::EpsilonOr(const char* key, double otherwise) {
  const auto epsilon = static_cast<float>(NumberOr(key, otherwise));
  if (!(epsilon > 0) || !std::isfinite(epsilon)) {
    Fail(key, "is not above zero");
  }
  return epsilon;
}

void ConfigReader::CheckHeads(int64_t hidden, int64_t heads) {
  if (hidden % heads == 0) return;
  Fail("hidden size",
       absl::StrCat(hidden, " is not a multiple of the ", heads, " heads"));
}

void ConfigReader::Fail(absl::string_view key, absl::string_view what) {
  status_.Update(
      absl::InvalidArgumentError(absl::StrCat(name_, ": ", key, " ", what)));
}

void ConfigReader::Refuse(absl::string_view key, absl::string_view value,
                          absl::string_view known) {
  status_.Update(absl::UnimplementedError(absl::StrCat(
      name_, ": ", key, " is \"", value, "\"; known are ", known)));
}

int64_t ConfigReader::CheckedExtent(const char* key,
                                    const nlohmann::json& value) {
  if (value.is_number_unsigned()) {
    const uint64_t number = value.get<uint64_t>();
    if (number >= 1 && number <= kLargestExtent) {
      return static_cast<int64_t>(number);
    }
  }
  Fail(key, absl::StrCat("is not a whole number from 1 to ", kLargestExtent));
  return 1;
}

}  // namespace footprint
