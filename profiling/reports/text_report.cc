#include "footprint/profiling/reports/text_report.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "footprint/profiling/reports/text_parts.h"
#include "footprint/profiling/runs/measured_images.h"
#include "footprint/profiling/runs/site_rows.h"

namespace footprint {
namespace {

// The peak and the headings stand out, and what is missing does.
std::string Colored(absl::string_view text) {
  std::string colored;
  bool is_heading = false;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const char* style = "";
    if (absl::StartsWith(line, "warning ")) {
      style = "\x1b[33m";
    } else if (is_heading || absl::StartsWith(line, "peak heap ")) {
      style = "\x1b[1m";
    }
    is_heading = line.empty();
    absl::StrAppend(&colored, style, line, *style == '\0' ? "" : "\x1b[0m",
                    "\n");
  }
  colored.pop_back();
  return colored;
}

}  // namespace

std::string TextReport(const MeasuredRun& run, const TextOptions& options) {
  const MeasuredImage* const largest = LargestImage(run);
  if (largest == nullptr) {
    return "nothing was measured: the agent was not loaded\n";
  }
  const std::vector<SiteRow> rows = SiteRows(run, *largest);
  std::string text =
      absl::StrCat(HeadlineText(run, *largest), TimelineText(*largest),
                   WarningText(run, *largest));
  for (const std::string& part :
       {StageText(*largest),
        SiteText(run, *largest, rows, options.memory_threshold),
        CallPathText(run, *largest, rows), LeakText(run, *largest),
        LeftText(*largest, rows),
        TemporaryText(rows, run.sampling_interval_bytes() > 0),
        ProcessorText(run, options.cpu_threshold), CopyText(run),
        ThreadText(*largest), ProcessText(run), MachineText(run, *largest)}) {
    if (!part.empty()) absl::StrAppend(&text, "\n", part);
  }
  return options.is_colored ? Colored(text) : text;
}

}  // namespace footprint
