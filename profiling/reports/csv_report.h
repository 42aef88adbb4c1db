// Writes a run's places in the code as a table for spreadsheets.
//
//   std::string rows = CsvReport(run);  // "process,command,function,...\r\n"
//
// The format is RFC 4180's: one line for each place in each process, with
// numbers of bytes and blocks that are not rounded. Within a process the places
// with most bytes at the peak come first. A field is empty if its value is
// unknown. A text that a spreadsheet would take for a formula gets an
// apostrophe in front.
//
// Pure; thread-safe. Memory: the rows and the text. Time: linear in the sites,
// plus the sorting of their places.

#ifndef FOOTPRINT_PROFILING_REPORTS_CSV_REPORT_H_
#define FOOTPRINT_PROFILING_REPORTS_CSV_REPORT_H_

#include <string>

#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

std::string CsvReport(const MeasuredRun& run);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_REPORTS_CSV_REPORT_H_
