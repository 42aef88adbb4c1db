// Lists the formats of a verdict by name.
//
//   absl::StatusOr<const ReportFormat*> format = FindReportFormat("markdown");
//   if (!format.ok()) return format.status();
//   ReportOptions options;
//   options.has_every_rule = true;
//   std::string report = (*format)->write(verdict, options);
//
// Every format has the same content: by default the nearest margin of each
// deployment, each rejection, warning and problem in full, and the decision;
// optionally every rule. Only the text format has colour and width. JUnit has
// no decision, only counts. GitLab's code quality has findings only.
//
// All names and messages are escaped in every format (report_escape.h). A new
// format is a writer in its own file and a row of the table in
// report_formats.cc. Thread-safe; the report is a copy. Memory and time: linear
// in the report, about 200 bytes for each judgement.

#ifndef FOOTPRINT_GATES_REPORTS_REPORT_FORMATS_H_
#define FOOTPRINT_GATES_REPORTS_REPORT_FORMATS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/reports/verdict_words.h"

namespace footprint {

struct ReportFormat {
  const char* name;       // the value of --format
  const char* file_name;  // file in a test's outputs, such as "verdict.md"
  std::string (*write)(const Verdict& verdict, const ReportOptions& options);
};

// Returns all formats, which live as long as the program.
absl::Span<const ReportFormat> ReportFormats();

// Returns the format of this name, or kInvalidArgument with a list of the
// formats.
absl::StatusOr<const ReportFormat*> FindReportFormat(absl::string_view name);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REPORTS_REPORT_FORMATS_H_
