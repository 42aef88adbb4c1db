#include "footprint/gates/reports/report_formats.h"

#include <iterator>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/reports/github_report.h"
#include "footprint/gates/reports/gitlab_report.h"
#include "footprint/gates/reports/json_report.h"
#include "footprint/gates/reports/junit_report.h"
#include "footprint/gates/reports/markdown_report.h"
#include "footprint/gates/reports/openmetrics_report.h"
#include "footprint/gates/reports/sarif_report.h"
#include "footprint/gates/reports/text_report.h"

namespace footprint {
namespace {

constexpr ReportFormat kFormats[] = {
    {"text", "verdict.txt", WriteTextReport},
    {"json", "verdict.json", WriteJsonReport},
    {"junit", "verdict.xml", WriteJunitReport},
    {"markdown", "verdict.md", WriteMarkdownReport},
    {"sarif", "verdict.sarif", WriteSarifReport},
    {"github", "verdict.github.txt", WriteGithubReport},
    {"github-summary", "verdict.github.md", WriteGithubSummary},
    {"gitlab", "verdict.gitlab.json", WriteGitlabReport},
    {"openmetrics", "verdict.openmetrics.txt", WriteOpenmetricsReport},
};

}  // namespace

absl::Span<const ReportFormat> ReportFormats() { return kFormats; }

absl::StatusOr<const ReportFormat*> FindReportFormat(absl::string_view name) {
  for (const ReportFormat& format : kFormats) {
    if (name == format.name) return &format;
  }
  std::string names;
  for (const ReportFormat& format : kFormats) {
    const bool is_last = &format == std::end(kFormats) - 1;
    absl::StrAppend(&names,
                    is_last         ? " or "
                    : names.empty() ? ""
                                    : ", ",
                    format.name);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "there is no format \"", EscapeForTerminal(name), "\"; use ", names));
}

}  // namespace footprint
