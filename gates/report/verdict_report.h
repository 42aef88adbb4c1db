// A verdict as people and machines read it.
//
//   ReportOptions options;
//   options.format = ReportFormat::kMarkdown;
//   std::string report = WriteReport(verdict, options);
//
// * text: a table by deployment, with rounded and exact figures; what was
//   rejected, with the excess and the command that would accept it; problems;
//   and a last line that begins with the decision;
// * json: one object with the fields of gate.proto's Verdict, numbers as
//   numbers, enumerators by name;
// * junit: a test suite a deployment, a test case a rule, for CI systems;
// * markdown: the same tables, for merge requests.
//
// Any name and message is safe in every format (report_escape.h). Pure
// functions, thread-safe; the report copies what it names. Memory and time:
// linear in the report, about 200 bytes a judgement.

#ifndef FOOTPRINT_GATES_REPORT_VERDICT_REPORT_H_
#define FOOTPRINT_GATES_REPORT_VERDICT_REPORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/judge/gate.pb.h"

namespace footprint {

enum class ReportFormat { kText, kJson, kJunit, kMarkdown };

struct ReportOptions {
  ReportFormat format = ReportFormat::kText;
  // Text only: for terminals.
  bool has_colour = false;
};

std::string WriteReport(const Verdict& verdict, const ReportOptions& options);

// "text", "json", "junit" or "markdown"; kInvalidArgument names these.
absl::StatusOr<ReportFormat> ParseReportFormat(absl::string_view name);

// The last line of the text report, without the newline.
std::string SummaryLine(const Verdict& verdict);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REPORT_VERDICT_REPORT_H_
