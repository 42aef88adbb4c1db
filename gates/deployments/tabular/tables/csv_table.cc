#include "footprint/gates/deployments/tabular/tables/csv_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/charconv.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "footprint/gates/deployments/tabular/tables/csv_fields.h"

namespace footprint {
namespace tabular {
namespace {

constexpr int32_t kIgnored = -1;

// The column of each field of a record, or kIgnored.
struct Layout {
  std::vector<int32_t> column_of_field;
  size_t column_count = 0;
  const char* first_line = "header";
  // Advice if the only name contains a delimiter of other files.
  std::string hint;
};

absl::Status FieldError(const CsvFields& fields, absl::string_view message) {
  return absl::InvalidArgumentError(
      absl::StrCat(fields.Location(), ": ", message));
}

// Returns an excerpt that keeps a message on one line.
std::string Excerpt(absl::string_view text) {
  constexpr size_t kMaximumBytes = 24;
  std::string excerpt(text.substr(0, kMaximumBytes));
  for (char& byte : excerpt) {
    if (static_cast<unsigned char>(byte) < ' ') byte = ' ';
  }
  return absl::StrCat("\"", excerpt, text.size() > kMaximumBytes ? "..." : "",
                      "\"");
}

absl::string_view WithoutBlanks(absl::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

enum class NumberKind { kFinite, kTooLarge, kNone };

NumberKind ReadNumber(absl::string_view text, double* number) {
  text = WithoutBlanks(text);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') {
    text.remove_prefix(1);
  }
  const char* end = text.data() + text.size();
  const std::from_chars_result result =
      std::from_chars(text.data(), end, *number);
  if (result.ptr != end || text.empty()) return NumberKind::kNone;
  if (result.ec == std::errc::result_out_of_range) {
    // The standard library does not say whether the number is too large or too
    // small. Abseil gives the nearest number: the largest, or 0.
    absl::from_chars(text.data(), end, *number);
    return std::fabs(*number) > 1 ? NumberKind::kTooLarge : NumberKind::kFinite;
  }
  return result.ec == std::errc() && std::isfinite(*number)
             ? NumberKind::kFinite
             : NumberKind::kNone;
}

// Returns whether `text` looks like a value rather than a name: a number, or a
// word for a missing number (those of pandas, and "?", "-").
bool IsLikeInRow(absl::string_view text) {
  text = WithoutBlanks(text);
  double number = 0;
  if (text.empty() || ReadNumber(text, &number) != NumberKind::kNone) {
    return true;
  }
  constexpr absl::string_view kMissing[] = {
      "NA",   "N/A",  "n/a",  "<NA>", "#N/A", "#NA", "NULL",
      "Null", "null", "None", "none", "?",    "-",   ".",
  };
  for (const absl::string_view missing : kMissing) {
    if (text == missing) return true;
  }
  if (text[0] == '+' || text[0] == '-') text.remove_prefix(1);
  constexpr absl::string_view kNotFinite[] = {"nan", "inf", "infinity"};
  for (const absl::string_view name : kNotFinite) {
    if (absl::EqualsIgnoreCase(text, name)) return true;
  }
  return false;
}

// Returns advice if `text` looks as if it had another delimiter.
std::string DelimiterHint(absl::string_view text, char delimiter) {
  struct Candidate {
    char byte;
    const char* hint;
  };
  constexpr Candidate kCandidates[] = {
      {';', "; if semicolons part the fields, say --delimiter=\";\""},
      {'\t', "; if tabs part the fields, say --delimiter=tab"},
      {'|', "; if bars part the fields, say --delimiter=\"|\""},
      {',',
       "; if commas part the fields, say --delimiter=, and if this is a "
       "decimal "
       "comma, write a point"},
      {' ', "; if blanks part the fields, say --delimiter=\" \""},
  };
  for (const Candidate& candidate : kCandidates) {
    if (candidate.byte != delimiter &&
        text.find(candidate.byte) != absl::string_view::npos) {
      return candidate.hint;
    }
  }
  return "";
}

absl::Status ParseField(const CsvFields& fields, size_t field, char delimiter,
                        double* number) {
  const NumberKind kind = ReadNumber(fields.text(), number);
  if (kind == NumberKind::kFinite) return absl::OkStatus();
  const absl::string_view text = WithoutBlanks(fields.text());
  return FieldError(fields, absl::StrCat("field ", field + 1, " should be a ",
                                         kind == NumberKind::kTooLarge
                                             ? "number in the range of a double"
                                             : "finite number",
                                         " but is ", Excerpt(text),
                                         DelimiterHint(text, delimiter)));
}

// Reads the first line: the columns and, without a header, the first row.
class FirstLineReader {
 public:
  explicit FirstLineReader(const CsvColumns& columns)
      : columns_(columns),
        has_header_(columns.header != CsvHeader::kNo),
        ignored_found_(columns.ignored.size(), false) {}

  // Reads the line's fields, and sets `layout` to their columns.
  absl::Status Read(CsvFields* fields, Layout* layout) {
    bool is_in_record = true;
    while (is_in_record && fields->Next()) {
      if (layout->column_of_field.empty()) location_ = fields->Location();
      absl::Status status = AddField(*fields, layout);
      if (!status.ok()) return status;
      is_in_record = !fields->is_last_in_record();
    }
    if (!fields->status().ok()) return fields->status();
    if (layout->column_of_field.empty()) {
      return FieldError(*fields,
                        "the file is empty; its first line should be a header");
    }
    if (!has_header_) {
      layout->first_line = "first line";
    } else if (field_of_name_.size() == 1) {
      const std::string& name = field_of_name_.begin()->first;
      layout->hint = DelimiterHint(name, columns_.delimiter);
      if (WithoutBlanks(name).empty()) {
        return absl::InvalidArgumentError(absl::StrCat(
            location_, ": the first line is blank; it should be a header"));
      }
    }
    absl::Status status = PlaceTargetLast(layout);
    if (!status.ok()) return status;
    if (columns_.header == CsvHeader::kAuto && !like_in_row_.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          location_, ": the first line should name the columns, but ",
          like_in_row_,
          ", as a row's would be; say --header=no if it is a row, "
          "--header=yes if its names are like that"));
    }
    return absl::OkStatus();
  }

  // Copies the first line as a row, if it is not a header.
  void CopyRow(const Layout& layout, double* row) const {
    auto number = numbers_.begin();
    for (const int32_t column : layout.column_of_field) {
      if (column != kIgnored) row[column] = *number++;
    }
  }

 private:
  absl::Status AddField(const CsvFields& fields, Layout* layout) {
    const size_t field = layout->column_of_field.size();
    const std::string name =
        has_header_ ? std::string(fields.text()) : absl::StrCat(field + 1);
    absl::Status status = CheckName(fields, field, name);
    if (!status.ok()) return status;
    bool is_ignored = false;
    for (size_t i = 0; i < columns_.ignored.size(); ++i) {
      if (columns_.ignored[i] != name) continue;
      ignored_found_[i] = is_ignored = true;
    }
    const bool is_target = !columns_.target.empty() && name == columns_.target;
    if (is_ignored && is_target) {
      return FieldError(fields, absl::StrCat("column ", Excerpt(name),
                                             " is the target and is ignored; "
                                             "it can be one of both"));
    }
    if (is_target) {
      target_field_ = field;
      has_target_ = true;
    }
    layout->column_of_field.push_back(
        is_ignored ? kIgnored : static_cast<int32_t>(layout->column_count++));
    return is_ignored ? absl::OkStatus() : AddNumber(fields, field);
  }

  absl::Status CheckName(const CsvFields& fields, size_t field,
                         const std::string& name) {
    if (!has_header_) return absl::OkStatus();
    // Blanks around a number are skipped, so rows of one number each would seem
    // complete.
    if (columns_.delimiter != '\t' && name.find('\t') != std::string::npos) {
      return FieldError(fields,
                        absl::StrCat("a column is named ", Excerpt(name),
                                     DelimiterHint(name, columns_.delimiter),
                                     "; a name has no tabs"));
    }
    const auto [known, is_new] = field_of_name_.emplace(name, field);
    if (is_new) return absl::OkStatus();
    return FieldError(
        fields, absl::StrCat("columns ", known->second + 1, " and ", field + 1,
                             " are both named ", Excerpt(name),
                             "; give one of them another name"));
  }

  absl::Status AddNumber(const CsvFields& fields, size_t field) {
    double number = 0;
    if (has_header_) {
      if (like_in_row_.empty() && IsLikeInRow(fields.text())) {
        like_in_row_ = absl::StrCat("its field ", field + 1, " is ",
                                    Excerpt(WithoutBlanks(fields.text())));
      }
      return absl::OkStatus();
    }
    absl::Status status =
        ParseField(fields, field, columns_.delimiter, &number);
    if (status.ok()) numbers_.push_back(number);
    return status;
  }

  absl::Status PlaceTargetLast(Layout* layout) const {
    for (size_t i = 0; i < ignored_found_.size(); ++i) {
      if (!ignored_found_[i])
        return MissingColumn(*layout, columns_.ignored[i]);
    }
    if (layout->column_count == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(location_, ": every column is ignored"));
    }
    if (columns_.target.empty()) return absl::OkStatus();
    if (!has_target_) return MissingColumn(*layout, columns_.target);
    const int32_t old_column = layout->column_of_field[target_field_];
    for (int32_t& column : layout->column_of_field) {
      if (column > old_column) --column;
    }
    layout->column_of_field[target_field_] =
        static_cast<int32_t>(layout->column_count - 1);
    return absl::OkStatus();
  }

  absl::Status MissingColumn(const Layout& layout,
                             const std::string& name) const {
    const size_t count = layout.column_of_field.size();
    if (!has_header_) {
      return absl::NotFoundError(
          absl::StrCat(location_, ": the file has no column ", Excerpt(name),
                       "; without a header they are named 1 to ", count));
    }
    return absl::NotFoundError(
        absl::StrCat(location_, ": the header has no column ", Excerpt(name),
                     "; its first line names the columns", layout.hint));
  }

  const CsvColumns& columns_;
  const bool has_header_;
  std::vector<bool> ignored_found_;
  std::string location_;
  std::map<std::string, size_t> field_of_name_;
  // The first name of a column that is not ignored that looks like a value.
  std::string like_in_row_;
  std::vector<double> numbers_;
  size_t target_field_ = 0;
  bool has_target_ = false;
};

absl::Status ReadRecord(const Layout& layout, char delimiter, CsvFields* fields,
                        double* row) {
  const size_t expected = layout.column_of_field.size();
  for (size_t field = 0; field < expected; ++field) {
    if (field > 0 && !fields->Next()) return fields->status();
    const int32_t column = layout.column_of_field[field];
    if (column != kIgnored) {
      absl::Status status = ParseField(*fields, field, delimiter, &row[column]);
      if (!status.ok()) return status;
    }
    if (fields->is_last_in_record() && field + 1 < expected) {
      return FieldError(
          *fields,
          absl::StrCat("the line has ", field + 1, " fields where the ",
                       layout.first_line, " has ", expected,
                       DelimiterHint(fields->text(), delimiter)));
    }
  }
  if (!fields->is_last_in_record()) {
    return FieldError(
        *fields, absl::StrCat("the line goes on after this field, where the ",
                              layout.first_line, " has only ", expected,
                              " fields", layout.hint));
  }
  return absl::OkStatus();
}

absl::Status NoMemoryError(const CsvFields& fields,
                           const TableBuilder& builder) {
  return absl::ResourceExhaustedError(absl::StrCat(
      fields.Location(), ": no memory for the table: ", builder.row_count(),
      " rows take ", builder.size_bytes(), " bytes, and ",
      builder.refused_bytes(),
      " more were refused; raise the limit of memory, leave columns out with "
      "--ignore, or convert the file with make_table and read it with "
      "--io=mapped"));
}

// Reads the first line into `layout` and, if it is a row, into `builder`.
absl::Status ReadFirstLine(const CsvColumns& columns, CsvFields* fields,
                           Layout* layout,
                           absl::optional<TableBuilder>* builder) {
  FirstLineReader reader(columns);
  absl::Status status = reader.Read(fields, layout);
  if (!status.ok()) return status;
  builder->emplace(layout->column_count);
  if (columns.header != CsvHeader::kNo) return absl::OkStatus();
  double* row = (*builder)->AddRow();
  if (row == nullptr) return NoMemoryError(*fields, **builder);
  reader.CopyRow(*layout, row);
  return absl::OkStatus();
}

// A quoted field counts even if it is empty.
bool IsBlankLine(const CsvFields& fields) {
  return fields.is_last_in_record() && !fields.is_quoted() &&
         WithoutBlanks(fields.text()).empty();
}

absl::Status AppendNumber(double number, char separator, AtomicFile* file) {
  // The shortest text that reads back as the same double has at most 24
  // characters.
  char text[32];
  char* end = std::to_chars(text, text + sizeof(text) - 1, number).ptr;
  *end++ = separator;
  return file->Append({text, static_cast<size_t>(end - text)});
}

absl::StatusOr<AtomicFile> CreateCsv(const std::string& path) {
  AtomicFileOptions options;
  options.to_disk = ToDisk::kNoFsync;
  options.special_files = SpecialFiles::kWriteAsTheyAre;
  return AtomicFile::Create(path, options);
}

}  // namespace

absl::StatusOr<Table> ReadCsvTable(const std::string& path,
                                   const CsvColumns& columns) {
  CsvFields fields(columns.delimiter);
  absl::Status status = fields.Open(path);
  if (!status.ok()) return status;
  Layout layout;
  absl::optional<TableBuilder> builder;
  status = ReadFirstLine(columns, &fields, &layout, &builder);
  if (!status.ok()) return status;
  std::string blank_place;
  while (fields.Next()) {
    if (IsBlankLine(fields)) {
      if (blank_place.empty()) blank_place = fields.Location();
      continue;
    }
    if (!blank_place.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          blank_place, ": a blank line, and rows after it; delete the line"));
    }
    double* row = builder->AddRow();
    if (row == nullptr) return NoMemoryError(fields, *builder);
    status = ReadRecord(layout, columns.delimiter, &fields, row);
    if (!status.ok()) return status;
  }
  if (!fields.status().ok()) return fields.status();
  if (builder->row_count() == 0) {
    return FieldError(fields,
                      absl::StrCat("no rows follow the header", layout.hint));
  }
  return std::move(*builder).Build();
}

absl::StatusOr<CsvTableWriter> CsvTableWriter::Create(const std::string& path,
                                                      size_t column_count) {
  absl::StatusOr<AtomicFile> file = CreateCsv(path);
  if (!file.ok()) return file.status();
  absl::Status status;
  for (size_t i = 1; i < column_count && status.ok(); ++i) {
    status = file->Append(absl::StrCat("feature_", i, ","));
  }
  if (status.ok()) status = file->Append("target\n");
  if (!status.ok()) return status;
  return CsvTableWriter(*std::move(file), column_count);
}

absl::Status CsvTableWriter::AddRow(const double* numbers) {
  absl::Status status;
  for (size_t i = 0; i < column_count_ && status.ok(); ++i) {
    const bool is_last = i + 1 == column_count_;
    status = AppendNumber(numbers[i], is_last ? '\n' : ',', &file_);
  }
  return status;
}

absl::Status WriteCsvColumn(const std::string& name,
                            absl::Span<const double> numbers,
                            const std::string& path) {
  absl::StatusOr<AtomicFile> file = CreateCsv(path);
  if (!file.ok()) return file.status();
  absl::Status status = file->Append(absl::StrCat(name, "\n"));
  for (size_t i = 0; i < numbers.size() && status.ok(); ++i) {
    status = AppendNumber(numbers[i], '\n', &*file);
  }
  return status.ok() ? file->Commit() : status;
}

}  // namespace tabular
}  // namespace footprint
