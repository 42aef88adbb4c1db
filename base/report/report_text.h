// A report for a terminal, part by part.
//
//   std::cout << FiguresText(report) << WarningsText(report);
//   for (const ReportTable& table : report.tables) {
//     if (!table.is_detail) std::cout << "\n" << TableText(table);
//   }
//
// A terminal gets no figure, column or table that is marked as detail, and of
// each table at most `text_rows` rows. A part without content is empty; else it
// ends with a newline. Pure; thread-safe. Memory: the text, and a table's cells
// twice.

#ifndef FOOTPRINT_BASE_REPORT_REPORT_TEXT_H_
#define FOOTPRINT_BASE_REPORT_REPORT_TEXT_H_

#include <string>

#include "footprint/base/report/report.h"

namespace footprint {

// "peak heap  12.0 MiB (12,582,912 B), after 1.200 s", a line a figure, and
// below it one for each note.
std::string FiguresText(const Report& report);

// "warning    the program was killed", a line each.
std::string WarningsText(const Report& report);

// The lead, the table, how many rows are missing, and the note.
std::string TableText(const ReportTable& table);

}  // namespace footprint

// Tested by report_writers_test.

#endif  // FOOTPRINT_BASE_REPORT_REPORT_TEXT_H_
