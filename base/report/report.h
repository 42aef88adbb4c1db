// A report without its format: figures, warnings and tables of values that keep
// their unit.
//
//   Report report;
//   report.figures.push_back({"peak heap", BytesValue(12 << 20), "exact"});
//   ReportTable table;
//   table.heading = "Threads";
//   table.columns = {{"allocated", ReportUnit::kBytes}, {"name"}};
//   table.rows.push_back({{BytesValue(5 << 20), TextValue("worker")}});
//   report.tables.push_back(table);
//   std::cout << FiguresText(report) << TableText(report.tables[0]);
//
// A report is made once, and each format has a writer: report_text.h,
// report_page.h, report_json.h and report_markdown.h. So a figure is the same
// in each of them. report_formats.h finds the writer of a name, and
// compare_reports.h joins two reports.
//
// Thread-compatible; every struct owns its data. Memory: some 70 bytes per
// cell, and the texts.

#ifndef FOOTPRINT_BASE_REPORT_REPORT_H_
#define FOOTPRINT_BASE_REPORT_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace footprint {

enum class ReportUnit {
  kNothing,  // the value is unknown: "-"
  kBlank,    // there is no value, and none is expected
  kText,
  kBytes,
  kCount,   // digits in groups of three
  kNumber,  // a name made of digits: a process's number
  kNanoseconds,
  kShare,  // `number` of `whole`
  kBytesPerSecond,
};

struct ReportValue {
  bool is_known() const { return unit != ReportUnit::kNothing; }

  ReportUnit unit = ReportUnit::kNothing;
  int64_t number = 0;
  int64_t whole = 0;
  std::string text = {};
  // True for a difference, which is written with its sign.
  bool is_change = false;
  // True for a text that loses its beginning when it is shortened, such as a
  // path.
  bool keeps_end = false;
  // True for a command for a shell, which a terminal shows on lines of its own.
  bool is_command = false;
};

// Each function makes a value of one unit. A path is a text that keeps its end.
// No format shortens a command; a terminal breaks it into lines that a shell
// reads as the same words. A share of a `whole` of 0 is written as "-", and a
// change from 0 as "new".
ReportValue TextValue(absl::string_view text);
ReportValue PathValue(absl::string_view path);
ReportValue CommandValue(absl::string_view command);
ReportValue BytesValue(int64_t bytes);
ReportValue CountValue(int64_t count);
ReportValue NumberValue(int64_t number);
ReportValue TimeValue(int64_t nanoseconds);
ReportValue ShareValue(int64_t part, int64_t whole);
ReportValue RateValue(int64_t bytes_per_s);

// Returns the value as people read it, rounded: "12.0 MiB", "+1.50 MiB",
// "12.5 %", "1.500 s". Text that is not a command is shortened by ShortenText
// or ShortenPath.
std::string WriteValue(const ReportValue& value, size_t most_text_bytes = 400);

// Return the text as one line of printable characters of at most `most_bytes`,
// which must be at least 3. "..." shows where it was cut: at the end of a text,
// and at the beginning of a path. No character is cut in half.
std::string ShortenText(absl::string_view text, size_t most_bytes);
std::string ShortenPath(absl::string_view path, size_t most_bytes);

// Returns the same as WriteValue, with the exact figure after rounded bytes. No
// text is shortened.
std::string WriteExactValue(const ReportValue& value);

struct ReportFigure {
  std::string name;
  ReportValue value = {};
  // The text that follows the value, for example "after 1.200 s of 2.000 s".
  std::string detail = {};
  // Sentences without their full stops.
  std::vector<std::string> notes = {};
  // True if a terminal, where room is scarce, leaves the figure out.
  bool is_detail = false;
  // The value that a comparison of two reports uses instead of `value`.
  ReportValue compared = {};
};

struct ReportColumn {
  std::string name;
  ReportUnit unit = ReportUnit::kText;
  bool is_detail = false;
  // A terminal cuts longer texts to this length; 0: to the usual length.
  size_t most_text_bytes = 0;
  // True if a page, which has little room for columns, shows this text below
  // that of the column before it, which must also be a text.
  bool is_below_previous = false;
};

struct ReportRow {
  // There is one cell for each column.
  std::vector<ReportValue> cells;
  // A comparison joins the rows that have the same key.
  std::string key = {};
  // The depth of the row if rows form a tree; 0 is outermost.
  size_t depth = 0;
};

// A column whose change a comparison of two reports shows.
struct ComparedColumn {
  size_t column = 0;
  // The column with its standard deviation; kNone: the values are exact.
  size_t sigma_column = kNone;
  // True if the largest of the rows with one key counts, instead of their sum.
  bool takes_largest = false;
  bool is_detail = false;

  static constexpr size_t kNone = SIZE_MAX;
};

struct ReportTable {
  std::string heading;
  // Texts before the table and after it.
  std::string lead;
  std::string note;
  // Numbers must come before texts, which is the order on a terminal.
  std::vector<ReportColumn> columns;
  std::vector<ReportRow> rows;
  // The word for one row, for example "place".
  std::string row_name = "row";
  // The number of rows that were left out.
  int64_t other_count = 0;
  // The column for which `other_sum` is the sum over the rows that were left
  // out; kNone: there is no sum.
  size_t sum_column = ComparedColumn::kNone;
  int64_t other_sum = 0;
  // The number of rows that a terminal shows.
  size_t text_rows = 12;
  bool is_detail = false;
  // True if the rows are parts of one whole, with their sizes in the first
  // column.
  bool is_breakdown = false;
  // True if a terminal shows each row as a paragraph: the cells in their order,
  // a colon before the last text, and below it a command. Blank lines stand
  // between rows that end with a command.
  bool is_list = false;
  std::vector<ComparedColumn> compared;
};

struct ReportWarning {
  std::string text;
  // True if it is worth knowing but leaves no gap in the figures.
  bool is_note = false;
};

struct Report {
  std::string title;
  std::vector<ReportFigure> figures;
  std::vector<ReportWarning> warnings;
  std::vector<ReportTable> tables;
  // Sentences and facts about how the figures were measured.
  std::vector<std::string> remarks;
  std::vector<ReportFigure> facts;
  // Reports of parts, which each format shows one after the other.
  std::vector<Report> parts;
  // The outcome in a sentence, which is the last line on a terminal.
  std::string summary;
};

// Keeps the first `most` rows, and adds the others to the count and the sum of
// rows that were left out.
void KeepFirstRows(size_t most, ReportTable* table);

// Returns "and 3 more places: 12.0 MiB (12,582,912 B)"; empty if no row was
// left out.
std::string DescribeOtherRows(const ReportTable& table);

// Returns "3 places" or "1 process".
std::string CountRows(int64_t count, absl::string_view row_name);

// Returns the name of a column in a file: "at_the_peak_bytes".
std::string KeyOfColumn(const ReportColumn& column);

// Returns a heading as a name in a file: "lines_of_code".
std::string KeyOfName(absl::string_view name);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_REPORT_REPORT_H_
