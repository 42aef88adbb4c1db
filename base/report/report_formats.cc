#include "footprint/base/report/report_formats.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/base/report/report_json.h"
#include "footprint/base/report/report_markdown.h"
#include "footprint/base/report/report_page.h"
#include "footprint/base/text/report_escape.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

struct Writer {
  const char* format;
  std::string (*write)(const Report& report, const ReportTextOptions& options);
};

constexpr Writer kWriters[] = {
    {"text", ReportText},
    {"json",
     [](const Report& report, const ReportTextOptions& /*options*/) {
       // A name may not be UTF-8.
       return ReportJson(report).dump(
                  2, ' ', /*ensure_ascii=*/true,
                  nlohmann::ordered_json::error_handler_t::replace) +
              "\n";
     }},
    {"markdown",
     [](const Report& report, const ReportTextOptions& /*options*/) {
       return ReportMarkdown(report);
     }},
    {"html",
     [](const Report& report, const ReportTextOptions& /*options*/) {
       return ReportPage(report);
     }},
};

const Writer* FindWriter(absl::string_view format) {
  return std::find_if(
      std::begin(kWriters), std::end(kWriters),
      [format](const Writer& each) { return format == each.format; });
}

}  // namespace

absl::Status CheckReportWriter(absl::string_view format) {
  if (FindWriter(format) != std::end(kWriters)) return absl::OkStatus();
  const std::string formats =
      absl::StrJoin(kWriters, ", ", [](std::string* text, const Writer& each) {
        absl::StrAppend(text, each.format);
      });
  return absl::InvalidArgumentError(absl::StrCat(
      "--format=", EscapeForTerminal(format), " is not one of: ", formats));
}

std::string WriteReportAs(absl::string_view format, const Report& report,
                          const ReportTextOptions& options) {
  return FindWriter(format)->write(report, options);
}

}  // namespace footprint
