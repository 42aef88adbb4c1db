// Joins two reports: compares each figure that is a number of bytes, a count or
// a time, and the rows that have the same key in both.
//
//   const Report changes = CompareReports(before, after);
//   std::cout << TableText(changes.tables[0]);  // the figures
//
// A table is compared in the columns that it names (`compared`). Rows that did
// not change are left out. So are changes of estimates of less than two
// standard deviations, which the note counts. The largest change comes first. A
// table that one report lacks was not measured there, and a note says that it
// is not compared. A figure that is unknown in one report has no change; one
// that is 0 in both is left out. The warnings of both reports are kept; titles,
// remarks, facts, parts and summaries are not.
//
// Pure; thread-safe. Memory: some 100 bytes per key, and 500 per changed row.
// Time: n log n.

#ifndef FOOTPRINT_BASE_REPORT_COMPARE_REPORTS_H_
#define FOOTPRINT_BASE_REPORT_COMPARE_REPORTS_H_

#include "footprint/base/report/report.h"

namespace footprint {

Report CompareReports(const Report& before, const Report& after);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_REPORT_COMPARE_REPORTS_H_
