#include "footprint/trainer_manager/planner/plan_csv.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

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
constexpr absl::string_view kByteOrderMark = "\xef\xbb\xbf";

// Of a line, without its quotation marks.
struct Field {
  std::string text;
  size_t position = 0;
  bool is_quoted = false;
};

// Messages quote what was found, but not all of a long line.
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

// As a field, quoted where it must be.
std::string FieldOf(absl::string_view id) {
  if (id.find_first_of(",\"") == absl::string_view::npos) {
    return std::string(id);
  }
  return absl::StrCat("\"", absl::StrReplaceAll(id, {{"\"", "\"\""}}), "\"");
}

// One line at a time, with its place.
class Parser {
 public:
  Parser(absl::string_view text, absl::string_view file_name)
      : rest_(text), file_name_(file_name) {
    if (absl::StartsWith(rest_, kByteOrderMark)) {
      rest_.remove_prefix(kByteOrderMark.size());
    }
  }

  absl::StatusOr<std::vector<TensorRequest>> Parse() {
    absl::Status status = ParseHeader();
    std::vector<TensorRequest> requests;
    while (status.ok() && NextLine()) {
      if (line_.empty()) {
        if (rest_.find_first_not_of("\r\n") == absl::string_view::npos) break;
        return Error(0, "a blank line; expected a row, or nothing behind it");
      }
      requests.emplace_back();
      status = ParseRow(&requests.back());
    }
    if (!status.ok()) return status;
    return requests;
  }

  int64_t tensors_with_gaps() const { return tensors_with_gaps_; }

 private:
  template <typename... Parts>
  absl::Status Error(size_t column, const Parts&... parts) const {
    return absl::InvalidArgumentError(absl::StrCat(
        file_name_, ":", line_number_, ":", column + 1, ": ", parts...));
  }

  bool NextLine() {
    if (rest_.empty()) return false;
    ++line_number_;
    const size_t end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end == absl::string_view::npos ? rest_.size()
                                                       : end + 1);
    if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
    return true;
  }

  absl::Status ParseHeader() {
    if (!NextLine()) {
      line_number_ = 1;
      return Error(0,
                   "the file is empty; expected the header "
                   "\"id,lower,upper,size\"");
    }
    std::array<bool, kColumnCount> seen = {};
    std::vector<Field> fields;
    const absl::Status status = SplitLine(&fields);
    if (!status.ok()) return status;
    for (const Field& field : fields) {
      int column = 0;
      while (column < kColumnCount && kColumnNames[column] != field.text) {
        ++column;
      }
      if (column == kColumnCount) {
        return Error(field.position, "unknown column ", Quoted(field.text),
                     "; expected id, lower, upper, size, alignment, offset or "
                     "gaps");
      }
      if (seen[column]) {
        return Error(field.position, "the column ", Quoted(field.text),
                     " occurs twice");
      }
      seen[column] = true;
      columns_.push_back(static_cast<Column>(column));
    }
    for (int column = 0; column < kRequiredColumns; ++column) {
      if (!seen[column]) {
        return Error(line_.size(), "the column \"", kColumnNames[column],
                     "\" is missing from the header");
      }
    }
    return absl::OkStatus();
  }

  // The fields of the line.
  absl::Status SplitLine(std::vector<Field>* fields) const {
    size_t next = 0;
    while (true) {
      Field field;
      field.position = next;
      field.is_quoted = next < line_.size() && line_[next] == '"';
      if (field.is_quoted) {
        const absl::Status status = ReadQuoted(&next, &field.text);
        if (!status.ok()) return status;
      } else {
        const size_t end = std::min(line_.find(',', next), line_.size());
        field.text = std::string(line_.substr(next, end - next));
        next = end;
      }
      fields->push_back(std::move(field));
      if (next == line_.size()) return absl::OkStatus();
      ++next;  // behind the comma
    }
  }

  // From a quotation mark at `*next` to behind the one that closes it.
  absl::Status ReadQuoted(size_t* next, std::string* text) const {
    const size_t begin = *next;
    while (true) {
      const size_t end = line_.find('"', *next + 1);
      if (end == absl::string_view::npos) {
        return Error(begin, "a quotation mark that the line does not close");
      }
      absl::StrAppend(text, line_.substr(*next + 1, end - *next - 1));
      *next = end + 1;
      if (*next == line_.size() || line_[*next] == ',') {
        return absl::OkStatus();
      }
      if (line_[*next] != '"') {
        return Error(*next, "expected a comma behind the quoted field");
      }
      text->push_back('"');
    }
  }

  absl::Status ParseRow(TensorRequest* request) {
    std::vector<Field> fields;
    absl::Status status = SplitLine(&fields);
    if (!status.ok()) return status;
    for (size_t i = 0; i < fields.size() && i < columns_.size(); ++i) {
      status = ParseField(columns_[i], fields[i], request);
      if (!status.ok()) return status;
    }
    if (fields.size() == columns_.size()) return CheckRow(fields, *request);
    const bool has_too_many = fields.size() > columns_.size();
    return Error(
        has_too_many ? fields[columns_.size()].position - 1 : line_.size(),
        fields.size(), " fields, but the header has ", columns_.size(),
        " columns");
  }

  // What the row says by itself, at the field that says it.
  absl::Status CheckRow(const std::vector<Field>& fields,
                        const TensorRequest& request) const {
    const absl::Status status = CheckRequests(absl::MakeConstSpan(&request, 1));
    if (!absl::IsInvalidArgument(status)) return absl::OkStatus();
    const Column wrong = request.lower_step >= request.upper_step ? kUpper
                         : request.size_bytes < 1                 ? kSize
                                                                  : kAlignment;
    const auto column = std::find(columns_.begin(), columns_.end(), wrong);
    return Error(
        fields[static_cast<size_t>(column - columns_.begin())].position,
        status.message());
  }

  absl::Status ParseField(Column column, const Field& field,
                          TensorRequest* request) {
    switch (column) {
      case kId:
        return ParseId(field, request);
      case kLower:
        return ParseNumber(field.text, field.position, &request->lower_step);
      case kUpper:
        return ParseNumber(field.text, field.position, &request->upper_step);
      case kSize:
        return ParseNumber(field.text, field.position, &request->size_bytes);
      case kAlignment:
        return ParseNumber(field.text, field.position,
                           &request->alignment_bytes);
      case kGaps:
        return PassOverGaps(field);
      case kOffset:
      case kColumnCount:
        break;
    }
    int64_t passed_over;
    return ParseNumber(field.text, field.position, &passed_over);
  }

  // Each "FROM-TO", or "FROM-TO@FROM:TO" with the bytes that stay in use.
  absl::Status PassOverGaps(const Field& field) {
    for (const absl::string_view gap :
         absl::StrSplit(field.text, ' ', absl::SkipEmpty())) {
      const std::vector<absl::string_view> parts = absl::StrSplit(gap, '@');
      if (parts.size() > 2 || !IsRange(parts[0], '-') ||
          (parts.size() == 2 && !IsRange(parts[1], ':'))) {
        return Error(field.position, "expected gaps such as \"3-5 7-9@0:64\", ",
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
    if (field.text.empty()) return Error(field.position, "an empty id");
    for (size_t i = 0; i < field.text.size(); ++i) {
      const char character = field.text[i];
      if (IsControl(character) || (character == '"' && !field.is_quoted)) {
        return Error(field.is_quoted ? field.position : field.position + i,
                     "the id ", Quoted(field.text),
                     " holds a control character or a quotation mark");
      }
    }
    request->id = field.text;
    const auto [previous, is_new] =
        lines_of_ids_.emplace(request->id, line_number_);
    if (is_new) return absl::OkStatus();
    return Error(field.position, "the id ", Quoted(field.text),
                 " occurred in line ", previous->second, " already");
  }

  absl::Status ParseNumber(absl::string_view field, size_t position,
                           int64_t* number) const {
    // SimpleAtoi would take spaces and a plus sign as well.
    absl::string_view digits = field;
    if (!digits.empty() && digits.front() == '-') digits.remove_prefix(1);
    for (const char character : digits) {
      if (!absl::ascii_isdigit(static_cast<unsigned char>(character))) {
        digits = absl::string_view();
        break;
      }
    }
    if (digits.empty()) {
      return Error(position, "expected a whole number, found ", Quoted(field));
    }
    if (!absl::SimpleAtoi(field, number)) {
      return Error(position, "the number ", Quoted(field),
                   " does not fit 64 bits");
    }
    return absl::OkStatus();
  }

  absl::string_view rest_;
  const absl::string_view file_name_;
  absl::string_view line_;
  int64_t line_number_ = 0;
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
    absl::StrAppend(&csv, FieldOf(request.id), ",", request.lower_step, ",",
                    request.upper_step, ",", request.size_bytes, ",");
    absl::StrAppend(&csv, request.alignment_bytes, ",", plan.offsets_bytes[i],
                    "\n");
  }
  return csv;
}

}  // namespace footprint
