// Writes a report as JSON: the exact values of every table, by the names of
// their columns.
//
//   json["report"] = ReportJson(report);
//
//   {"warnings": ["the program was killed by signal 9"],
//    "figures": {"peak_heap": {"bytes": 12582912, "detail": "after 1.200 s"}},
//    "tables": {"threads": {
//      "rows": [{"allocated_bytes": 5242880, "name": "worker"}],
//      "other_count": 2}}}
//
// An unknown value is null; a share is a fraction of one. The value of a figure
// stands under "bytes", "count", "ns", "share" or "value". If two columns have
// one name, the second name ends in "_2". If several figures or tables have one
// name, only the last is kept; remarks and facts are left out. A title, a
// summary and parts stand under their names. Pure; thread-safe.
// Memory: that of the JSON, several times the text.

#ifndef FOOTPRINT_BASE_REPORT_REPORT_JSON_H_
#define FOOTPRINT_BASE_REPORT_REPORT_JSON_H_

#include "footprint/base/report/report.h"
#include "nlohmann/json_fwd.hpp"

namespace footprint {

nlohmann::ordered_json ReportJson(const Report& report);

}  // namespace footprint

// Tested by report_writers_test.

#endif  // FOOTPRINT_BASE_REPORT_REPORT_JSON_H_
