#include "footprint/lowmem/programs/text_lines.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/regular_file.h"
#include "footprint/base/text/format_bytes.h"
#include "nlohmann/json.hpp"

namespace footprint::lowmem_internal {
namespace {

constexpr size_t kMostLineBytes = size_t{16} << 20;

}  // namespace

absl::StatusOr<std::string> ParseTextLine(absl::string_view line,
                                          bool is_json) {
  if (!is_json) return std::string(line);
  const nlohmann::json json = nlohmann::json::parse(
      line.begin(), line.end(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_string()) {
    return absl::InvalidArgumentError("is not a JSON string");
  }
  return json.get<std::string>();
}

absl::StatusOr<TextLines> TextLines::Open(const std::string& path,
                                          bool is_json) {
  const absl::Status regular = OpenRegularFile(path).status();
  if (!regular.ok()) return regular;
  return TextLines(path, is_json);
}

bool TextLines::Next() {
  constexpr auto kEnd = std::ifstream::traits_type::eof();
  line_.clear();
  is_too_long_ = false;
  auto next = stream_.get();
  if (next == kEnd) return false;
  ++number_;
  for (; next != kEnd && next != '\n'; next = stream_.get()) {
    is_too_long_ |= line_.size() == kMostLineBytes;
    if (!is_too_long_) line_.push_back(static_cast<char>(next));
  }
  if (!line_.empty() && line_.back() == '\r') line_.pop_back();
  return true;
}

absl::StatusOr<std::string> TextLines::Text() const {
  if (is_too_long_) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the line is longer than ",
        FormatBytes(static_cast<int64_t>(kMostLineBytes)), "; cut it"));
  }
  return ParseTextLine(line_, is_json_);
}

std::string TextLines::Place() const {
  return absl::StrCat(path_, ": line ", number_, ": ");
}

absl::Status TextLines::status() const {
  if (!stream_.bad()) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(path_, ": cannot be read behind line ", number_));
}

}  // namespace footprint::lowmem_internal
