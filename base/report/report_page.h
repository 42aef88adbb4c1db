// Writes a report as a page, or adds its parts to one.
//
//   Page page("Memory of train.py", "");
//   AddWarnings(report, &page);
//   AddTable(report.tables[0], 40, &page);
//
// A part without content adds nothing. Pure; thread-safe. Memory: the added
// text.

#ifndef FOOTPRINT_BASE_REPORT_REPORT_PAGE_H_
#define FOOTPRINT_BASE_REPORT_REPORT_PAGE_H_

#include <cstddef>
#include <string>

#include "footprint/base/page/page.h"
#include "footprint/base/report/report.h"

namespace footprint {

// Returns a page with the whole report, but at most 200 rows of each table, and
// at most 90 bytes of each text in a table that is not a list.
std::string ReportPage(const Report& report);

void AddWarnings(const Report& report, PageContent* page);

// Adds a card per figure: the name, the rounded value or "not measured", and
// below them the exact bytes, the detail and the notes. Figures that are texts
// are rows of a table.
void AddFigures(const Report& report, PageContent* page);

// Adds a heading, a bar if the table is a breakdown, the lead, at most
// `most_rows` rows, with texts before numbers, the number of rows that were
// left out, and the note.
void AddTable(const ReportTable& table, size_t most_rows, PageContent* page);

// Adds the remarks and the facts, under a heading.
void AddRemarks(const Report& report, PageContent* page);

}  // namespace footprint

// Tested by report_writers_test.

#endif  // FOOTPRINT_BASE_REPORT_REPORT_PAGE_H_
