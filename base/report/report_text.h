// Writes a report for a terminal, as a whole or part by part.
//
//   std::cout << ReportText(report, options);
//
// A terminal shows no figure, column or table that is marked as detail, and at
// most `text_rows` rows of each table. Remarks and facts are left out. A part
// without content is empty; otherwise it ends with a newline. Pure;
// thread-safe. Memory: the text, and a table's cells twice.

#ifndef FOOTPRINT_BASE_REPORT_REPORT_TEXT_H_
#define FOOTPRINT_BASE_REPORT_REPORT_TEXT_H_

#include <cstddef>
#include <string>

#include "footprint/base/report/report.h"

namespace footprint {

inline constexpr size_t kUnwrapped = SIZE_MAX;

struct ReportTextOptions {
  // Lines are no wider, except those of tables.
  size_t width = 80;
  bool has_colour = false;
};

// Returns the title, the figures, the tables, the warnings, the parts and the
// summary. A blank line precedes the tables, each part and the summary.
std::string ReportText(const Report& report,
                       const ReportTextOptions& options = {});

// Returns "peak heap  12.0 MiB (12,582,912 B), after 1.200 s", a line per
// figure, and below it a line per note.
std::string FiguresText(const Report& report, size_t width = kUnwrapped);

// Returns "warning    the program was killed", one line per warning.
std::string WarningsText(const Report& report, size_t width = kUnwrapped);

// Returns the tables that are not marked as detail, with blank lines between
// them.
std::string TablesText(const Report& report,
                       const ReportTextOptions& options = {kUnwrapped});

// Returns the lead, the table, the number of missing rows, and the note.
std::string TableText(const ReportTable& table,
                      const ReportTextOptions& options = {kUnwrapped});

}  // namespace footprint

// Tested by report_writers_test.

#endif  // FOOTPRINT_BASE_REPORT_REPORT_TEXT_H_
