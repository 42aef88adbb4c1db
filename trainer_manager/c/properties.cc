#include "footprint/trainer_manager/c/properties.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "footprint/base/text/near_names.h"
#include "footprint/base/text/parse_bytes.h"

namespace footprint {

namespace {

// Splits the text at commas. A backslash before a comma or before another
// backslash stands for that character; any other backslash is kept.
std::vector<std::string> SplitAtCommas(absl::string_view text) {
  std::vector<std::string> parts(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',') {
      parts.emplace_back();
      continue;
    }
    const bool is_escape = text[i] == '\\' && i + 1 < text.size() &&
                           (text[i + 1] == ',' || text[i + 1] == '\\');
    if (is_escape) ++i;
    parts.back() += text[i];
  }
  return parts;
}

}  // namespace

absl::StatusOr<Properties> Properties::Parse(absl::string_view text) {
  Properties properties;
  if (absl::StripAsciiWhitespace(text).empty()) return properties;
  for (const std::string& part : SplitAtCommas(text)) {
    const std::pair<absl::string_view, absl::string_view> halves =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    const absl::string_view key = absl::StripAsciiWhitespace(halves.first);
    const absl::string_view value = absl::StripAsciiWhitespace(halves.second);
    if (key.empty() || value.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", absl::CHexEscape(part),
                       "\" is not a property; write KEY=VALUE, with commas "
                       "between properties and \\, for a comma in a value"));
    }
    if (properties.values_.emplace(key, value).second) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "the property \"", absl::CHexEscape(key), "\" is given twice"));
  }
  return properties;
}

const std::string* Properties::TakeText(absl::string_view key) {
  known_.emplace_back(key);
  const auto found = values_.find(std::string(key));
  if (found == values_.end()) return nullptr;
  taken_.emplace_back(key);
  return &found->second;
}

void Properties::NoteMalformed(absl::string_view key,
                               absl::string_view needed) {
  if (!first_error_.empty()) return;
  first_error_ =
      absl::StrCat("the property \"", key, "\" is \"",
                   absl::CHexEscape(values_[std::string(key)]), "\"; ", needed);
}

void Properties::Take(absl::string_view key, int64_t* value) {
  const std::string* const text = TakeText(key);
  if (text == nullptr || absl::SimpleAtoi(*text, value)) return;
  NoteMalformed(key, "a whole number is needed");
}

void Properties::Take(absl::string_view key, float* value) {
  const std::string* const text = TakeText(key);
  if (text == nullptr || absl::SimpleAtof(*text, value)) return;
  NoteMalformed(key, "a number is needed");
}

void Properties::Take(absl::string_view key, bool* value) {
  const std::string* const text = TakeText(key);
  if (text == nullptr) return;
  if (*text == "true" || *text == "false") {
    *value = *text == "true";
  } else {
    NoteMalformed(key, "true or false is needed");
  }
}

void Properties::Take(absl::string_view key, std::string* value) {
  const std::string* const text = TakeText(key);
  if (text != nullptr) *value = *text;
}

void Properties::TakeBytes(absl::string_view key, int64_t* value) {
  const std::string* const text = TakeText(key);
  if (text == nullptr) return;
  const absl::StatusOr<int64_t> bytes = ParseBytes(*text);
  if (bytes.ok()) {
    *value = *bytes;
  } else {
    NoteMalformed(key, "a number of bytes such as 24 MB is needed");
  }
}

bool Properties::Has(absl::string_view key) {
  known_.emplace_back(key);
  return values_.count(std::string(key)) > 0;
}

void Properties::Require(absl::string_view key) {
  if (Has(key) || !first_error_.empty()) return;
  first_error_ = absl::StrCat("the property \"", key, "\" is missing");
}

absl::Status Properties::Finish(absl::string_view what) const {
  if (!first_error_.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": ", first_error_));
  }
  for (const auto& entry : values_) {
    if (std::count(taken_.begin(), taken_.end(), entry.first) > 0) continue;
    const std::vector<absl::string_view> known(known_.begin(), known_.end());
    return absl::InvalidArgumentError(absl::StrCat(
        what, ": it has no property \"", absl::CHexEscape(entry.first), "\"",
        known.empty() ? "; it takes none" : NearNamesText(entry.first, known)));
  }
  return absl::OkStatus();
}

}  // namespace footprint
