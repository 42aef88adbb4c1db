// Two reports joined: what became of each figure, and of each row that has the
// same key in both.
//
//   const Report changes = CompareReports(before, after);
//   std::cout << TableText(changes.tables[0]);  // the figures
//
// A table is compared in the columns that it names (`compared`); rows that did
// not change are left out, and so are, of estimates, changes of less than two
// standard deviations, which the note counts. The largest change stands first.
// A table that one report lacks was not measured there: a note says that it is
// not compared. A figure that is not known in one of them has no change.
//
// Pure; thread-safe. Memory: some 300 bytes for each key. Time: n log n.

#ifndef FOOTPRINT_BASE_REPORT_COMPARE_REPORTS_H_
#define FOOTPRINT_BASE_REPORT_COMPARE_REPORTS_H_

#include "footprint/base/report/report.h"

namespace footprint {

Report CompareReports(const Report& before, const Report& after);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_REPORT_COMPARE_REPORTS_H_
