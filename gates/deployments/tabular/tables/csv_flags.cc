#include "footprint/gates/deployments/tabular/tables/csv_flags.h"

#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

ABSL_FLAG(std::string, target, "",
          "name of the CSV column to predict; empty: the last");
ABSL_FLAG(std::vector<std::string>, ignore, {},
          "names of CSV columns to leave out, separated by commas");
ABSL_FLAG(
    std::string, header, "auto",
    "whether the first CSV line names the columns: yes, no (then they are "
    "named 1, 2 and so on) or auto (yes, and an error if one of them is a "
    "number or empty, as a row's would be)");
ABSL_FLAG(std::string, delimiter, ",",
          "what parts the fields of a CSV line: one character, or tab");

namespace footprint {
namespace tabular {
namespace {

absl::StatusOr<CsvHeader> ParseHeader(const std::string& text) {
  if (text == "auto") return CsvHeader::kAuto;
  if (text == "yes") return CsvHeader::kYes;
  if (text == "no") return CsvHeader::kNo;
  return absl::InvalidArgumentError(
      absl::StrCat("--header is \"", text, "\"; it must be auto, yes or no"));
}

absl::StatusOr<char> ParseDelimiter(const std::string& text) {
  if (text == "tab" || text == "\\t" || text == "\t") return '\t';
  // A character of numbers or of the syntax would split a field.
  if (text.size() == 1 && (absl::ascii_ispunct(text[0]) || text[0] == ' ') &&
      std::string("\"'+-.").find(text[0]) == std::string::npos) {
    return text[0];
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--delimiter is \"", text,
      "\"; it must be tab or one character that no number has, such as \";\""));
}

}  // namespace

absl::StatusOr<CsvColumns> CsvColumnsOfFlags() {
  CsvColumns columns;
  columns.target = absl::GetFlag(FLAGS_target);
  columns.ignored = absl::GetFlag(FLAGS_ignore);
  const absl::StatusOr<CsvHeader> header =
      ParseHeader(absl::GetFlag(FLAGS_header));
  if (!header.ok()) return header.status();
  columns.header = *header;
  const absl::StatusOr<char> delimiter =
      ParseDelimiter(absl::GetFlag(FLAGS_delimiter));
  if (!delimiter.ok()) return delimiter.status();
  columns.delimiter = *delimiter;
  return columns;
}

absl::Status RefuseCsvFlags() {
  const char* given = !absl::GetFlag(FLAGS_target).empty()    ? "target"
                      : !absl::GetFlag(FLAGS_ignore).empty()  ? "ignore"
                      : absl::GetFlag(FLAGS_header) != "auto" ? "header"
                      : absl::GetFlag(FLAGS_delimiter) != "," ? "delimiter"
                                                              : nullptr;
  if (given == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--", given,
                   " is about a CSV table, which is not read here; "
                   "leave it out"));
}

absl::Status RefuseArguments(const std::vector<char*>& arguments) {
  if (arguments.size() < 2) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("\"", arguments[1],
                   "\" is no flag, and there is nothing else to say; names of "
                   "columns are separated by commas without blanks; see "
                   "--help"));
}

}  // namespace tabular
}  // namespace footprint
