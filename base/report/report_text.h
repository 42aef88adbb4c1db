// Writes a report for a terminal, part by part.
//
//   std::cout << FiguresText(report) << WarningsText(report);
//   for (const ReportTable& table : report.tables) {
//     if (!table.is_detail) std::cout << "\n" << TableText(table);
//   }
//
// A terminal shows no figure or column that is marked as detail, and at most
// `text_rows` rows of each table; the caller leaves out tables that are
// details. Remarks and facts are left out. A part without content is empty;
// otherwise it ends with a newline. Pure; thread-safe. Memory: the text, and a
// table's cells twice.

#ifndef FOOTPRINT_BASE_REPORT_REPORT_TEXT_H_
#define FOOTPRINT_BASE_REPORT_REPORT_TEXT_H_

#include <string>

#include "footprint/base/report/report.h"

namespace footprint {

// Returns "peak heap  12.0 MiB (12,582,912 B), after 1.200 s", a line per
// figure, and below it a line per note.
std::string FiguresText(const Report& report);

// Returns "warning    the program was killed", one line per warning.
std::string WarningsText(const Report& report);

// Returns the lead, the table, the number of missing rows, and the note.
std::string TableText(const ReportTable& table);

}  // namespace footprint

// Tested by report_writers_test.

#endif  // FOOTPRINT_BASE_REPORT_REPORT_TEXT_H_
