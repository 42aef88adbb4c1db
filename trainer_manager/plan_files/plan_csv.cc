#include "footprint/trainer_manager/plan_files/plan_csv.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/types/optional.h"
#include "footprint/base/text/csv_parser.h"

namespace footprint {
namespace {

enum Column {
  kId,
  kLower,
  kUpper,
  kSize,
  kAlignment,
  kOffset,
  kGaps,
  kColumnCount
};
constexpr std::array<absl::string_view, kColumnCount> kColumnNames = {
    "id", "lower", "upper", "size", "alignment", "offset", "gaps"};
constexpr int kRequiredColumns = 4;

// A field of a row, without its quotation marks.
struct Field {
  std::string text;
  int64_t line = 0;
  int64_t column = 0;
};

// Quotes a text for a message, shortened if it is long.
std::string Quoted(absl::string_view text) {
  constexpr size_t kLongest = 40;
  const bool is_long = text.size() > kLongest;
  return absl::StrCat("\"", absl::CHexEscape(text.substr(0, kLongest)),
                      is_long ? "...\"" : "\"");
}

bool IsControl(char character) {
  return absl::ascii_iscntrl(static_cast<unsigned char>(character));
}

bool CanStand(absl::string_view id) {
  return !id.empty() && std::none_of(id.begin(), id.end(), IsControl);
}

// Returns the id as a field, quoted where necessary.
std::string FormatField(absl::string_view id) {
  if (id.find_first_of(",\"") == absl::string_view::npos) {
    return std::string(id);
  }
  return absl::StrCat("\"", absl::StrReplaceAll(id, {{"\"", "\"\""}}), "\"");
}

// Reads one row at a time, with the positions of its fields.
class Parser {
 public:
  Parser(absl::string_view text, absl::string_view file_name)
      : csv_(file_name, text), file_name_(file_name) {}

  absl::StatusOr<std::vector<TensorRequest>> Parse() {
    absl::Status status = ParseHeader();
    std::vector<TensorRequest> requests;
    absl::optional<Field> blank_line;
    while (status.ok() && NextRow()) {
      if (row_.size() == 1 && row_[0].text.empty()) {
        if (!blank_line.has_value()) blank_line = row_[0];
        continue;
      }
      if (blank_line.has_value()) {
        return Error(*blank_line,
                     "a blank line; expected a row, or nothing behind it");
      }
      requests.emplace_back();
      status = ParseRow(&requests.back());
    }
    if (status.ok()) status = csv_.status();
    if (!status.ok()) return status;
    return requests;
  }

  int64_t tensors_with_gaps() const { return tensors_with_gaps_; }

 private:
  template <typename... Parts>
  absl::Status Error(const Field& field, const Parts&... parts) const {
    return absl::InvalidArgumentError(absl::StrCat(
        file_name_, ":", field.line, ":", field.column, ": ", parts...));
  }

  // Returns false at the end of the text, and where it cannot be read further.
  bool NextRow() {
    row_.clear();
    while (csv_.Next()) {
      row_.push_back({std::string(csv_.text()), csv_.line(), csv_.column()});
      if (csv_.is_last_in_record()) return true;
    }
    return false;
  }

  absl::Status ParseHeader() {
    if (!NextRow()) {
      if (!csv_.status().ok()) return csv_.status();
      return Error({"", 1, 1},
                   "the file is empty; expected the header "
                   "\"id,lower,upper,size\"");
    }
    std::array<bool, kColumnCount> seen = {};
    for (const Field& field : row_) {
      int column = 0;
      while (column < kColumnCount && kColumnNames[column] != field.text) {
        ++column;
      }
      if (column == kColumnCount) {
        return Error(field, "unknown column ", Quoted(field.text),
                     "; expected id, lower, upper, size, alignment, offset or "
                     "gaps");
      }
      if (seen[column]) {
        return Error(field, "the column ", Quoted(field.text), " occurs twice");
      }
      seen[column] = true;
      columns_.push_back(static_cast<Column>(column));
    }
    for (int column = 0; column < kRequiredColumns; ++column) {
      if (!seen[column]) {
        return Error(row_.back(), "the column \"", kColumnNames[column],
                     "\" is missing from the header");
      }
    }
    return absl::OkStatus();
  }

  absl::Status ParseRow(TensorRequest* request) {
    for (size_t i = 0; i < row_.size() && i < columns_.size(); ++i) {
      const absl::Status status = ParseField(columns_[i], row_[i], request);
      if (!status.ok()) return status;
    }
    if (row_.size() == columns_.size()) return CheckRow(*request);
    return Error(row_[std::min(row_.size() - 1, columns_.size())], row_.size(),
                 " fields, but the header has ", columns_.size(), " columns");
  }

  // Returns an error of the row by itself, at the field that has it.
  absl::Status CheckRow(const TensorRequest& request) const {
    const absl::Status status = CheckRequests(absl::MakeConstSpan(&request, 1));
    if (!absl::IsInvalidArgument(status)) return absl::OkStatus();
    const Column wrong = request.lower_step >= request.upper_step ? kUpper
                         : request.size_bytes < 1                 ? kSize
                                                                  : kAlignment;
    const auto column = std::find(columns_.begin(), columns_.end(), wrong);
    return Error(row_[static_cast<size_t>(column - columns_.begin())],
                 status.message());
  }

  absl::Status ParseField(Column column, const Field& field,
                          TensorRequest* request) {
    switch (column) {
      case kId:
        return ParseId(field, request);
      case kLower:
        return ParseNumber(field, &request->lower_step);
      case kUpper:
        return ParseNumber(field, &request->upper_step);
      case kSize:
        return ParseNumber(field, &request->size_bytes);
      case kAlignment:
        return ParseNumber(field, &request->alignment_bytes);
      case kGaps:
        return PassOverGaps(field);
      case kOffset:
      case kColumnCount:
        break;
    }
    int64_t passed_over;
    return ParseNumber(field, &passed_over);
  }

  // Accepts gaps "FROM-TO", or "FROM-TO@FROM:TO" with the bytes that stay in
  // use.
  absl::Status PassOverGaps(const Field& field) {
    for (const absl::string_view gap :
         absl::StrSplit(field.text, ' ', absl::SkipEmpty())) {
      const std::vector<absl::string_view> parts = absl::StrSplit(gap, '@');
      if (parts.size() > 2 || !IsRange(parts[0], '-') ||
          (parts.size() == 2 && !IsRange(parts[1], ':'))) {
        return Error(field, "expected gaps such as \"3-5 7-9@0:64\", ",
                     "found ", Quoted(gap));
      }
    }
    if (!field.text.empty()) ++tensors_with_gaps_;
    return absl::OkStatus();
  }

  static bool IsRange(absl::string_view text, char between) {
    const std::vector<absl::string_view> ends = absl::StrSplit(text, between);
    return ends.size() == 2 && IsDigits(ends[0]) && IsDigits(ends[1]);
  }

  static bool IsDigits(absl::string_view text) {
    return !text.empty() &&
           text.find_first_not_of("0123456789") == absl::string_view::npos;
  }

  absl::Status ParseId(const Field& field, TensorRequest* request) {
    if (field.text.empty()) return Error(field, "an empty id");
    if (!CanStand(field.text)) {
      return Error(field, "the id ", Quoted(field.text),
                   " holds a control character");
    }
    request->id = field.text;
    const auto [previous, is_new] =
        lines_of_ids_.emplace(request->id, field.line);
    if (is_new) return absl::OkStatus();
    return Error(field, "the id ", Quoted(field.text), " occurred in line ",
                 previous->second, " already");
  }

  absl::Status ParseNumber(const Field& field, int64_t* number) const {
    // SimpleAtoi also accepts spaces and a plus sign.
    absl::string_view digits = field.text;
    if (!digits.empty() && digits.front() == '-') digits.remove_prefix(1);
    for (const char character : digits) {
      if (!absl::ascii_isdigit(static_cast<unsigned char>(character))) {
        digits = absl::string_view();
        break;
      }
    }
    if (digits.empty()) {
      return Error(field, "expected a whole number, found ",
                   Quoted(field.text));
    }
    if (!absl::SimpleAtoi(field.text, number)) {
      return Error(field, "the number ", Quoted(field.text),
                   " does not fit 64 bits");
    }
    return absl::OkStatus();
  }

  CsvParser csv_;
  const absl::string_view file_name_;
  std::vector<Field> row_;
  std::vector<Column> columns_;
  absl::flat_hash_map<std::string, int64_t> lines_of_ids_;
  int64_t tensors_with_gaps_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<TensorRequest>> ParseRequestsCsv(
    absl::string_view text, absl::string_view file_name,
    int64_t* tensors_with_gaps) {
  Parser parser(text, file_name);
  auto requests = parser.Parse();
  if (tensors_with_gaps != nullptr) {
    *tensors_with_gaps = parser.tensors_with_gaps();
  }
  return requests;
}

absl::StatusOr<std::string> PlanToCsv(absl::Span<const TensorRequest> requests,
                                      const MemoryPlan& plan) {
  if (plan.offsets_bytes.size() != requests.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(plan.offsets_bytes.size(), " offsets for ",
                     requests.size(), " tensors"));
  }
  absl::flat_hash_set<absl::string_view> ids;
  std::string csv = "id,lower,upper,size,alignment,offset\n";
  for (size_t i = 0; i < requests.size(); ++i) {
    const TensorRequest& request = requests[i];
    if (!CanStand(request.id) || !ids.insert(request.id).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("the id ", Quoted(request.id), " of tensor #", i,
                       " cannot stand in a CSV file; choose another"));
    }
    absl::StrAppend(&csv, FormatField(request.id), ",", request.lower_step, ",",
                    request.upper_step, ",", request.size_bytes, ",");
    absl::StrAppend(&csv, request.alignment_bytes, ",", plan.offsets_bytes[i],
                    "\n");
  }
  return csv;
}

}  // namespace footprint
