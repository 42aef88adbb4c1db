#include "footprint/gates/deployments/tabular/csv_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/deployments/tabular/csv_fields.h"

namespace footprint {
namespace tabular {
namespace {

constexpr int32_t kIgnored = -1;

// Where each field of a record belongs in a row, or kIgnored.
struct Layout {
  std::vector<int32_t> column_of_field;
  size_t column_count = 0;
};

absl::Status FieldError(const CsvFields& fields, absl::string_view message) {
  return absl::InvalidArgumentError(
      absl::StrCat(fields.Place(), ": ", message));
}

// An excerpt that keeps a message on one line.
std::string Excerpt(absl::string_view text) {
  constexpr size_t kMaximumBytes = 24;
  std::string excerpt(text.substr(0, kMaximumBytes));
  for (char& byte : excerpt) {
    if (static_cast<unsigned char>(byte) < ' ') byte = ' ';
  }
  return absl::StrCat("\"", excerpt, text.size() > kMaximumBytes ? "..." : "",
                      "\"");
}

class HeaderReader {
 public:
  explicit HeaderReader(const CsvColumns& columns)
      : columns_(columns), ignored_found_(columns.ignored.size(), false) {}

  // Takes the header's fields; which columns they are, in `layout`.
  absl::Status Read(CsvFields* fields, Layout* layout) {
    bool is_in_record = true;
    while (is_in_record && fields->Next()) {
      AddField(fields->text(), layout);
      is_in_record = !fields->is_last_in_record();
    }
    if (!fields->status().ok()) return fields->status();
    if (layout->column_of_field.empty()) {
      return FieldError(*fields,
                        "the file is empty; its first line should be a header");
    }
    return PlaceTargetLast(*fields, layout);
  }

 private:
  void AddField(absl::string_view name, Layout* layout) {
    const auto ignored = std::find(columns_.ignored.begin(),
                                   columns_.ignored.end(), std::string(name));
    if (ignored != columns_.ignored.end()) {
      ignored_found_[ignored - columns_.ignored.begin()] = true;
      layout->column_of_field.push_back(kIgnored);
      return;
    }
    if (!columns_.target.empty() && name == columns_.target) {
      target_field_ = layout->column_of_field.size();
      has_target_ = true;
    }
    layout->column_of_field.push_back(
        static_cast<int32_t>(layout->column_count++));
  }

  absl::Status PlaceTargetLast(const CsvFields& fields, Layout* layout) const {
    for (size_t i = 0; i < ignored_found_.size(); ++i) {
      if (!ignored_found_[i]) return MissingColumn(fields, columns_.ignored[i]);
    }
    if (layout->column_count == 0) {
      return FieldError(fields, "every column is ignored");
    }
    if (columns_.target.empty()) return absl::OkStatus();
    if (!has_target_) return MissingColumn(fields, columns_.target);
    const int32_t old_column = layout->column_of_field[target_field_];
    for (int32_t& column : layout->column_of_field) {
      if (column > old_column) --column;
    }
    layout->column_of_field[target_field_] =
        static_cast<int32_t>(layout->column_count - 1);
    return absl::OkStatus();
  }

  static absl::Status MissingColumn(const CsvFields& fields,
                                    const std::string& name) {
    return absl::NotFoundError(
        absl::StrCat(fields.Place(), ": the header has no column ",
                     Excerpt(name), "; its first line names the columns"));
  }

  const CsvColumns& columns_;
  std::vector<bool> ignored_found_;
  size_t target_field_ = 0;
  bool has_target_ = false;
};

absl::string_view WithoutBlanks(absl::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

absl::Status ParseField(const CsvFields& fields, size_t field, double* number) {
  const absl::string_view text = WithoutBlanks(fields.text());
  const char* end = text.data() + text.size();
  const std::from_chars_result result =
      std::from_chars(text.data(), end, *number);
  const bool is_number = result.ptr == end && !text.empty();
  if (is_number && result.ec == std::errc() && std::isfinite(*number)) {
    return absl::OkStatus();
  }
  const bool is_too_large =
      is_number && result.ec == std::errc::result_out_of_range;
  return FieldError(
      fields, absl::StrCat("field ", field + 1, " should be a ",
                           is_too_large ? "number in the range of a double"
                                        : "finite number",
                           " but is ", Excerpt(text)));
}

absl::Status ReadRecord(const Layout& layout, CsvFields* fields, double* row) {
  const size_t expected = layout.column_of_field.size();
  for (size_t field = 0; field < expected; ++field) {
    if (field > 0 && !fields->Next()) return fields->status();
    const int32_t column = layout.column_of_field[field];
    if (column != kIgnored) {
      absl::Status status = ParseField(*fields, field, &row[column]);
      if (!status.ok()) return status;
    }
    if (fields->is_last_in_record() && field + 1 < expected) {
      return FieldError(
          *fields, absl::StrCat("the line has ", field + 1,
                                " fields where the header has ", expected));
    }
  }
  if (!fields->is_last_in_record()) {
    return FieldError(*fields,
                      absl::StrCat("the line goes on after this field, where "
                                   "the header has only ",
                                   expected, " fields"));
  }
  return absl::OkStatus();
}

void AppendNumber(double number, char separator, OutputFile* file) {
  // The shortest text that is read back as the same number has at most 24.
  char text[32];
  char* end = std::to_chars(text, text + sizeof(text) - 1, number).ptr;
  *end++ = separator;
  file->Write({text, static_cast<size_t>(end - text)});
}

}  // namespace

absl::StatusOr<Table> ReadCsvTable(const std::string& path,
                                   const CsvColumns& columns) {
  CsvFields fields;
  absl::Status status = fields.Open(path);
  if (!status.ok()) return status;
  Layout layout;
  status = HeaderReader(columns).Read(&fields, &layout);
  if (!status.ok()) return status;
  TableBuilder builder(layout.column_count);
  bool has_rows = false;
  while (fields.Next()) {
    has_rows = true;
    status = ReadRecord(layout, &fields, builder.AddRow());
    if (!status.ok()) return status;
  }
  if (!fields.status().ok()) return fields.status();
  if (!has_rows) return FieldError(fields, "no rows follow the header");
  return std::move(builder).Build();
}

CsvTableWriter::CsvTableWriter(const std::string& path, size_t column_count)
    : file_(path), column_count_(column_count) {
  for (size_t i = 1; i < column_count; ++i) {
    file_.Write(absl::StrCat("feature_", i, ","));
  }
  file_.Write("target\n");
}

void CsvTableWriter::AddRow(const double* numbers) {
  for (size_t i = 0; i + 1 < column_count_; ++i) {
    AppendNumber(numbers[i], ',', &file_);
  }
  AppendNumber(numbers[column_count_ - 1], '\n', &file_);
}

absl::Status WriteCsvColumn(const std::string& name,
                            const std::vector<double>& numbers,
                            const std::string& path) {
  OutputFile file(path);
  file.Write(absl::StrCat(name, "\n"));
  for (const double number : numbers) AppendNumber(number, '\n', &file);
  return file.Commit();
}

}  // namespace tabular
}  // namespace footprint
