#include "footprint/base/report/report.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/base/memory/saturated_sum.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/report_escape.h"

namespace footprint {
namespace {

ReportValue MakeValue(ReportUnit unit, int64_t number) {
  ReportValue value;
  value.unit = unit;
  value.number = number;
  return value;
}

std::string WriteShare(const ReportValue& value) {
  if (value.whole == 0) {
    return !value.is_change ? "-" : value.number == 0 ? "0.0 %" : "new";
  }
  const double percent = 100.0 * static_cast<double>(value.number) /
                         static_cast<double>(value.whole);
  return value.is_change ? absl::StrFormat("%+.1f %%", percent)
                         : absl::StrFormat("%.1f %%", percent);
}

std::string WriteUnsigned(const ReportValue& value, size_t most_text_bytes) {
  switch (value.unit) {
    case ReportUnit::kNothing:
      return "-";
    case ReportUnit::kBlank:
      return "";
    case ReportUnit::kText:
      if (value.is_command) return EscapeForTerminal(value.text);
      return value.keeps_end ? ShortenPath(value.text, most_text_bytes)
                             : ShortenText(value.text, most_text_bytes);
    case ReportUnit::kBytes:
      return FormatRoundedBytes(value.number);
    case ReportUnit::kCount:
      return FormatCount(value.number);
    case ReportUnit::kNumber:
      return absl::StrCat(value.number);
    case ReportUnit::kNanoseconds:
      return absl::StrFormat("%.3f s",
                             static_cast<double>(value.number) * 1e-9);
    case ReportUnit::kShare:
      return WriteShare(value);
    case ReportUnit::kBytesPerSecond:
      return absl::StrCat(FormatRoundedBytes(value.number), "/s");
  }
  return "";
}

}  // namespace

ReportValue TextValue(absl::string_view text) {
  ReportValue value;
  value.unit = ReportUnit::kText;
  value.text = std::string(text);
  return value;
}

ReportValue PathValue(absl::string_view path) {
  ReportValue value = TextValue(path);
  value.keeps_end = true;
  return value;
}

ReportValue CommandValue(absl::string_view command) {
  ReportValue value = TextValue(command);
  value.is_command = true;
  return value;
}

ReportValue BytesValue(int64_t bytes) {
  return MakeValue(ReportUnit::kBytes, bytes);
}

ReportValue CountValue(int64_t count) {
  return MakeValue(ReportUnit::kCount, count);
}

ReportValue NumberValue(int64_t number) {
  return MakeValue(ReportUnit::kNumber, number);
}

ReportValue TimeValue(int64_t nanoseconds) {
  return MakeValue(ReportUnit::kNanoseconds, nanoseconds);
}

ReportValue ShareValue(int64_t part, int64_t whole) {
  ReportValue value = MakeValue(ReportUnit::kShare, part);
  value.whole = whole;
  return value;
}

ReportValue RateValue(int64_t bytes_per_s) {
  return MakeValue(ReportUnit::kBytesPerSecond, bytes_per_s);
}

std::string ShortenText(absl::string_view text, size_t most_bytes) {
  std::string shown = EscapeForTerminal(text);
  if (shown.size() <= most_bytes) return shown;
  size_t kept = most_bytes - 3;
  // A character is never cut in half.
  while (kept > 0 && (shown[kept] & 0xC0) == 0x80) --kept;
  return absl::StrCat(shown.substr(0, kept), "...");
}

std::string ShortenPath(absl::string_view path, size_t most_bytes) {
  const std::string shown = EscapeForTerminal(path);
  if (shown.size() <= most_bytes) return shown;
  size_t begin = shown.size() - most_bytes + 3;
  while (begin < shown.size() && (shown[begin] & 0xC0) == 0x80) ++begin;
  return absl::StrCat("...", shown.substr(begin));
}

std::string WriteValue(const ReportValue& value, size_t most_text_bytes) {
  const bool needs_plus =
      value.is_change && value.number > 0 && value.unit != ReportUnit::kShare;
  return absl::StrCat(needs_plus ? "+" : "",
                      WriteUnsigned(value, most_text_bytes));
}

std::string WriteExactValue(const ReportValue& value) {
  if (value.unit != ReportUnit::kBytes) {
    return WriteValue(value, std::string::npos);
  }
  return absl::StrCat(value.is_change && value.number > 0 ? "+" : "",
                      FormatBytes(value.number));
}

void KeepFirstRows(size_t most, ReportTable* table) {
  for (size_t i = most; i < table->rows.size(); ++i) {
    ++table->other_count;
    if (table->sum_column == ComparedColumn::kNone) continue;
    table->other_sum = SaturatedSum(
        table->other_sum, table->rows[i].cells[table->sum_column].number);
  }
  if (table->rows.size() > most) table->rows.resize(most);
}

std::string CountRows(int64_t count, absl::string_view row_name) {
  return absl::StrCat(FormatCount(count), " ", row_name,
                      count == 1                      ? ""
                      : absl::EndsWith(row_name, "s") ? "es"
                                                      : "s");
}

std::string DescribeOtherRows(const ReportTable& table) {
  if (table.other_count == 0) return "";
  const std::string text = absl::StrCat(
      "and ",
      CountRows(table.other_count, absl::StrCat("more ", table.row_name)));
  if (table.sum_column == ComparedColumn::kNone) return text;
  ReportValue sum;
  sum.unit = table.columns[table.sum_column].unit;
  sum.number = table.other_sum;
  sum.is_change =
      !table.rows.empty() && table.rows[0].cells[table.sum_column].is_change;
  return absl::StrCat(text, ": ", WriteExactValue(sum));
}

std::string KeyOfName(absl::string_view name) {
  std::string key;
  for (char c : name) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c))) {
      key += absl::ascii_tolower(static_cast<unsigned char>(c));
    } else if (!key.empty() && key.back() != '_') {
      key += '_';
    }
  }
  while (!key.empty() && key.back() == '_') key.pop_back();
  return key;
}

std::string KeyOfColumn(const ReportColumn& column) {
  const std::string name = KeyOfName(column.name);
  switch (column.unit) {
    case ReportUnit::kBytes:
      return absl::StrCat(name, "_bytes");
    case ReportUnit::kNanoseconds:
      return absl::StrCat(name, "_ns");
    case ReportUnit::kBytesPerSecond:
      return absl::StrCat(name, "_bytes_per_s");
    default:
      return name;
  }
}

}  // namespace footprint
