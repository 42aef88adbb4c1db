#include "footprint/profiling/reports/text_report.h"

#include "absl/strings/str_cat.h"
#include "footprint/profiling/reports/text_parts.h"
#include "footprint/profiling/runs/measured_images.h"

namespace footprint {

std::string TextReport(const MeasuredRun& run) {
  const MeasuredImage* const largest = LargestImage(run);
  if (largest == nullptr) {
    return "nothing was measured: the agent was not loaded\n";
  }
  std::string text =
      absl::StrCat(HeadlineText(run, *largest), WarningText(run, *largest));
  for (const std::string& part :
       {StageText(*largest), SiteText(run, *largest), ProcessText(run),
        MachineText(run, *largest)}) {
    if (!part.empty()) absl::StrAppend(&text, "\n", part);
  }
  return text;
}

}  // namespace footprint
