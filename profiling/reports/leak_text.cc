#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/text_table.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/text_parts.h"
#include "footprint/profiling/runs/code_places.h"
#include "footprint/profiling/runs/leak_probability.h"

namespace footprint {

std::string LeakText(const MeasuredRun& run, const MeasuredImage& image) {
  constexpr int kMaxRows = 8;
  constexpr size_t kMaxFunctionBytes = 60;
  if (image.suspected_leaks().empty()) return "";
  const CodePlaces places(run);
  TextTable table({{"suspected leak", TextTable::kFigures},
                   {"live", TextTable::kFigures},
                   {"growth", TextTable::kFigures},
                   {"function"},
                   {"where"}});
  std::vector<std::vector<std::string>> cells;
  for (const SuspectedLeak& leak : image.suspected_leaks()) {
    if (cells.size() == kMaxRows) break;
    const CodeFrame& place = places.FrameOf(places.OfCall(leak.call()));
    cells.push_back(
        {absl::StrFormat("%.0f %%", 100 * leak.probability()),
         FormatRoundedBytes(leak.live_bytes()),
         absl::StrCat(AbbreviateBytes(leak.growth_bytes_per_s()), "/s"),
         Shortened(place.function(), kMaxFunctionBytes), PlaceText(place)});
  }
  return absl::StrCat(TableText(table, cells), kLeakCaveat, "\n");
}

}  // namespace footprint
