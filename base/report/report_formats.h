// Finds the writer of a report by the name of its format.
//
//   absl::Status status = CheckReportWriter("markdown");
//   if (!status.ok()) return status;
//   std::cout << WriteReportAs("markdown", report);
//
// The formats are text, json, markdown and html. A new one is a writer in its
// own file and a row of the table in report_formats.cc. Pure; thread-safe.
// Memory: the text.

#ifndef FOOTPRINT_BASE_REPORT_REPORT_FORMATS_H_
#define FOOTPRINT_BASE_REPORT_REPORT_FORMATS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "footprint/base/report/report.h"
#include "footprint/base/report/report_text.h"

namespace footprint {

// Returns InvalidArgument, with a list of the formats, for an unknown one.
absl::Status CheckReportWriter(absl::string_view format);

// Returns the report in a format that CheckReportWriter accepts. The options
// are for text only.
std::string WriteReportAs(absl::string_view format, const Report& report,
                          const ReportTextOptions& options = {});

}  // namespace footprint

// Tested by report_writers_test.

#endif  // FOOTPRINT_BASE_REPORT_REPORT_FORMATS_H_
