// The formats of a verdict, by name.
//
//   absl::StatusOr<const ReportFormat*> format = FindReportFormat("markdown");
//   if (!format.ok()) return format.status();
//   ReportOptions options;
//   options.has_every_rule = true;
//   std::string report = (*format)->write(verdict, options);
//
// Every format tells the same: by default a line a deployment with its nearest
// margin, what is not accepted in full, and the decision; on demand every rule.
// Colour and width are of text alone. GitLab's code quality has findings only.
//
// Any name and message is safe in every format (report_escape.h). A further
// format is a writer in a file of its own and a row of the table in
// report_formats.cc. Thread-safe; the report copies what it names. Memory and
// time: linear in the report, about 200 bytes a judgement.

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
  const char* name;       // as of --format
  const char* file_name;  // where a test leaves it, such as "verdict.md"
  std::string (*write)(const Verdict& verdict, const ReportOptions& options);
};

// All of them; they live as long as the program.
absl::Span<const ReportFormat> ReportFormats();

// kInvalidArgument names the formats there are.
absl::StatusOr<const ReportFormat*> FindReportFormat(absl::string_view name);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REPORTS_REPORT_FORMATS_H_
