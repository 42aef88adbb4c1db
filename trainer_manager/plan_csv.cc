#include "footprint/trainer_manager/plan_csv.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace footprint {
namespace {

enum Column { kId, kLower, kUpper, kSize, kAlignment, kOffset, kColumnCount };
constexpr std::array<absl::string_view, kColumnCount> kColumnNames = {
    "id", "lower", "upper", "size", "alignment", "offset"};
constexpr int kRequiredColumns = 4;

// Messages quote what was found, but not all of a long line.
std::string Quoted(absl::string_view text) {
  constexpr size_t kLongest = 40;
  const bool is_long = text.size() > kLongest;
  return absl::StrCat("\"", absl::CHexEscape(text.substr(0, kLongest)),
                      is_long ? "...\"" : "\"");
}

// Whether a field that is an id may hold it.
bool IsOfIds(char character) {
  return !absl::ascii_iscntrl(static_cast<unsigned char>(character)) &&
         character != '"' && character != ',';
}

bool CanStand(absl::string_view id) {
  return !id.empty() && std::all_of(id.begin(), id.end(), IsOfIds);
}

// One line at a time, with its place.
class Parser {
 public:
  Parser(absl::string_view text, absl::string_view file_name)
      : rest_(text), file_name_(file_name) {}

  absl::StatusOr<std::vector<TensorRequest>> Parse() {
    absl::Status status = ParseHeader();
    std::vector<TensorRequest> requests;
    while (status.ok() && NextLine()) {
      requests.emplace_back();
      status = ParseRow(&requests.back());
    }
    if (!status.ok()) return status;
    return requests;
  }

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
    size_t position = 0;
    for (const absl::string_view name : absl::StrSplit(line_, ',')) {
      int column = 0;
      while (column < kColumnCount && kColumnNames[column] != name) ++column;
      if (column == kColumnCount) {
        return Error(position, "unknown column ", Quoted(name),
                     "; expected id, lower, upper, size, alignment or offset");
      }
      if (seen[column]) {
        return Error(position, "the column ", Quoted(name), " occurs twice");
      }
      seen[column] = true;
      columns_.push_back(static_cast<Column>(column));
      position += name.size() + 1;
    }
    for (int column = 0; column < kRequiredColumns; ++column) {
      if (!seen[column]) {
        return Error(line_.size(), "the column \"", kColumnNames[column],
                     "\" is missing from the header");
      }
    }
    return absl::OkStatus();
  }

  absl::Status ParseRow(TensorRequest* request) {
    const std::vector<absl::string_view> fields = absl::StrSplit(line_, ',');
    size_t position = 0;
    for (size_t i = 0; i < fields.size() && i < columns_.size(); ++i) {
      absl::Status status =
          ParseField(columns_[i], fields[i], position, request);
      if (!status.ok()) return status;
      position += fields[i].size() + 1;
    }
    if (fields.size() == columns_.size()) return absl::OkStatus();
    const bool has_too_many = fields.size() > columns_.size();
    return Error(has_too_many ? position - 1 : line_.size(), fields.size(),
                 " fields, but the header has ", columns_.size(), " columns");
  }

  absl::Status ParseField(Column column, absl::string_view field,
                          size_t position, TensorRequest* request) {
    switch (column) {
      case kId:
        return ParseId(field, position, request);
      case kLower:
        return ParseNumber(field, position, &request->lower_step);
      case kUpper:
        return ParseNumber(field, position, &request->upper_step);
      case kSize:
        return ParseNumber(field, position, &request->size_bytes);
      case kAlignment:
        return ParseNumber(field, position, &request->alignment_bytes);
      case kOffset:
      case kColumnCount:
        break;
    }
    int64_t passed_over;
    return ParseNumber(field, position, &passed_over);
  }

  absl::Status ParseId(absl::string_view field, size_t position,
                       TensorRequest* request) {
    if (field.empty()) return Error(position, "an empty id");
    for (size_t i = 0; i < field.size(); ++i) {
      if (!IsOfIds(field[i])) {
        return Error(position + i, "the id ", Quoted(field),
                     " holds a control character or a quotation mark");
      }
    }
    request->id = std::string(field);
    const auto [previous, is_new] =
        lines_of_ids_.emplace(request->id, line_number_);
    if (is_new) return absl::OkStatus();
    return Error(position, "the id ", Quoted(field), " occurred in line ",
                 previous->second, " already");
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
};

}  // namespace

absl::StatusOr<std::vector<TensorRequest>> ParseRequestsCsv(
    absl::string_view text, absl::string_view file_name) {
  return Parser(text, file_name).Parse();
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
    absl::StrAppend(&csv, request.id, ",", request.lower_step, ",",
                    request.upper_step, ",", request.size_bytes, ",");
    absl::StrAppend(&csv, request.alignment_bytes, ",", plan.offsets_bytes[i],
                    "\n");
  }
  return csv;
}

}  // namespace footprint
