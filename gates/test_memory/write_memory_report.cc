#include "footprint/gates/test_memory/write_memory_report.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/report/report.h"
#include "footprint/base/report/report_json.h"
#include "footprint/base/report/report_markdown.h"
#include "footprint/base/report/report_text.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/test_memory/memory_report.h"
#include "nlohmann/json.hpp"

namespace footprint {

absl::StatusOr<std::string> WriteMemoryReport(
    const std::string& format, absl::Span<const RecordedTest> tests) {
  const Report report = MakeMemoryReport(tests);
  if (format == "text") {
    return absl::StrCat(TableText(report.tables[0]), WarningsText(report));
  }
  if (format == "markdown") return ReportMarkdown("Memory of tests", report);
  if (format == "json") return ReportJson(report).dump(2) + "\n";
  return absl::InvalidArgumentError(
      absl::StrCat("--format=", EscapeForTerminal(format),
                   " is not text, markdown or json"));
}

}  // namespace footprint
