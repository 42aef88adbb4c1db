#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/run_page/page_sections.h"
#include "footprint/profiling/runs/code_places.h"
#include "footprint/profiling/runs/leak_probability.h"

namespace footprint {
namespace {

// A table of places, most of one figure first.
struct PlaceTable {
  const char* heading;
  std::string caption;
  std::vector<std::string> header;
  size_t most_rows;
  // By which rows are sorted; places without any are left out.
  std::function<int64_t(const PlaceFigures&)> weight;
  std::function<std::string(int64_t)> format;
  // Texts that stand beside the place.
  std::function<std::vector<std::string>(const PlaceFigures&, int64_t whole)>
      cells;
};

void AddPlaceTable(const PlaceTable& description, const PlaceRows& places,
                   PageContent* page) {
  std::vector<const PlaceFigures*> sorted;
  int64_t whole = 0;
  for (const PlaceFigures& place : places) {
    const int64_t weight = description.weight(place);
    if (weight > 0) sorted.push_back(&place);
    whole += weight;
  }
  if (sorted.empty()) return;
  const size_t count = std::min(description.most_rows, sorted.size());
  std::partial_sort(
      sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(count),
      sorted.end(), [&](const PlaceFigures* a, const PlaceFigures* b) {
        const int64_t weight_a = description.weight(*a);
        const int64_t weight_b = description.weight(*b);
        return weight_a != weight_b ? weight_a > weight_b : a < b;
      });
  PageTable table;
  table.caption = description.caption;
  table.header = description.header;
  table.wraps_text = true;
  int64_t shown = 0;
  for (size_t i = 0; i < count; ++i) {
    shown += description.weight(*sorted[i]);
    table.rows.push_back({PlaceName(sorted[i]->frame)});
    for (std::string& cell : description.cells(*sorted[i], whole)) {
      table.rows.back().push_back(std::move(cell));
    }
  }
  if (*description.heading != '\0') page->AddHeading(description.heading);
  page->AddTable(table);
  if (sorted.size() > count) {
    page->AddParagraph(absl::StrCat(
        "And ", FormatCount(static_cast<int64_t>(sorted.size() - count)),
        " others with ", description.format(whole - shown), " in all."));
  }
}

std::string FormatNs(int64_t ns) { return Seconds(ns); }

void AddPeakLines(const PageLimits& limits, const PlaceRows& places,
                  PageContent* page) {
  AddPlaceTable(
      {"Lines of code at the peak",
       "Bytes are put down to the innermost call that does not allocate for "
       "its caller.",
       {"function and line", "at the peak", "share", "blocks",
        "allocated in "
        "all"},
       limits.table_rows,
       [](const PlaceFigures& place) { return place.at_peak.bytes; },
       FormatBytes,
       [](const PlaceFigures& place, int64_t whole) {
         return std::vector<std::string>{
             AmountText(place.at_peak), Share(place.at_peak.bytes, whole),
             FormatCount(place.at_peak.count), AmountText(place.allocated)};
       }},
      places, page);
}

void AddVolumeLines(const PageLimits& limits, const PlaceRows& places,
                    PageContent* page) {
  AddPlaceTable(
      {"Lines of code by volume",
       "All that was allocated, however short it lived.",
       {"function and line", "allocated", "share", "calls", "at the peak"},
       limits.table_rows / 2,
       [](const PlaceFigures& place) { return place.allocated.bytes; },
       FormatBytes,
       [](const PlaceFigures& place, int64_t whole) {
         return std::vector<std::string>{
             AmountText(place.allocated), Share(place.allocated.bytes, whole),
             FormatCount(place.allocated.count), AmountText(place.at_peak)};
       }},
      places, page);
}

void AddTemporary(const PageLimits& limits, const PlaceRows& places,
                  PageContent* page) {
  AddPlaceTable(
      {"Temporary allocations",
       "Blocks that were freed before their thread allocated again.",
       {"function and line", "temporary", "of its calls", "allocated"},
       limits.table_rows / 2,
       [](const PlaceFigures& place) { return place.temporary_count; },
       FormatCount,
       [](const PlaceFigures& place, int64_t) {
         return std::vector<std::string>{
             FormatCount(place.temporary_count),
             Share(place.temporary_count, place.allocated.count),
             AmountText(place.allocated)};
       }},
      places, page);
}

void AddLeft(const MeasuredImage& image, const PageLimits& limits,
             const PlaceRows& places, PageContent* page) {
  if (!image.has_totals()) return;
  AddPlaceTable(
      {"Left at exit",
       absl::StrCat(
           "Never freed: ", FormatBytes(image.live_bytes()),
           " in all. Blocks that a program keeps to its end on purpose "
           "stand here, too."),
       {"function and line", "left", "share", "blocks"},
       limits.table_rows / 2,
       [](const PlaceFigures& place) { return place.at_end.bytes; },
       FormatBytes,
       [](const PlaceFigures& place, int64_t whole) {
         return std::vector<std::string>{AmountText(place.at_end),
                                         Share(place.at_end.bytes, whole),
                                         FormatCount(place.at_end.count)};
       }},
      places, page);
}

// For figures that are no single process's.
const char* OfAllProcesses(const MeasuredRun& run) {
  return run.images_size() > 1 ? ", in all processes together" : "";
}

void AddCopies(const MeasuredRun& run, const PageLimits& limits,
               const PlaceRows& places, PageContent* page) {
  AddPlaceTable({"Copies",
                 absl::StrCat("Bytes that memcpy and its like copied",
                              OfAllProcesses(run), "."),
                 {"function and line", "copied", "share", "calls"},
                 limits.table_rows / 2,
                 [](const PlaceFigures& place) { return place.copied.bytes; },
                 FormatBytes,
                 [](const PlaceFigures& place, int64_t whole) {
                   return std::vector<std::string>{
                       AmountText(place.copied),
                       Share(place.copied.bytes, whole),
                       FormatCount(place.copied.count)};
                 }},
                places, page);
}

void AddProcessorTime(const MeasuredRun& run, const PageLimits& limits,
                      const PlaceRows& places, PageContent* page) {
  StackedBars chart;
  chart.title = "Where the processor was";
  chart.description = absl::StrCat("Sampled", OfAllProcesses(run), ".");
  chart.series = {"native code", "the interpreter", "the system"};
  chart.format = [](double ns) { return Seconds(static_cast<int64_t>(ns)); };
  double native = 0;
  double interpreter = 0;
  double system = 0;
  for (const PlaceFigures& place : places) {
    native += static_cast<double>(place.native_ns);
    interpreter += static_cast<double>(place.interpreter_ns);
    system += static_cast<double>(place.system_ns);
  }
  if (!(native + interpreter + system > 0)) return;
  chart.bars = {{"processor time", {native, interpreter, system}}};
  page->AddHeading("Processor time");
  page->AddStackedBars(chart);
  const auto sum = [](const PlaceFigures& place) {
    return place.native_ns + place.interpreter_ns + place.system_ns;
  };
  AddPlaceTable({"",
                 absl::StrCat("By place in the code", OfAllProcesses(run), "."),
                 {"function and line", "time", "share", "native", "interpreter",
                  "system"},
                 limits.table_rows / 2,
                 sum,
                 FormatNs,
                 [sum](const PlaceFigures& place, int64_t whole) {
                   return std::vector<std::string>{
                       Seconds(sum(place)), Share(sum(place), whole),
                       Seconds(place.native_ns), Seconds(place.interpreter_ns),
                       Seconds(place.system_ns)};
                 }},
                places, page);
}

}  // namespace

void AddPlaces(const MeasuredRun& run, const MeasuredImage& image,
               const PageLimits& limits, const PlaceRows& places,
               PageContent* page) {
  AddPeakLines(limits, places, page);
  AddVolumeLines(limits, places, page);
  AddTemporary(limits, places, page);
  AddLeft(image, limits, places, page);
  AddCopies(run, limits, places, page);
  AddProcessorTime(run, limits, places, page);
}

void AddSuspectedLeaks(const MeasuredRun& run, const MeasuredImage& image,
                       const PageLimits& limits, PageContent* page) {
  if (image.suspected_leaks_size() == 0) return;
  const CodePlaces places(run);
  PageTable table;
  table.caption = absl::StrCat(
      "Places whose bytes grew while the program ran, surest first. ",
      kLeakCaveat);
  table.header = {"function and line", "probability", "live",
                  "growth a second"};
  table.wraps_text = true;
  for (const SuspectedLeak& leak : image.suspected_leaks()) {
    if (table.rows.size() >= limits.table_rows / 2) break;
    const CodeFrame& place = places.FrameOf(places.OfCall(leak.call()));
    table.rows.push_back(
        {PlaceName(&place),
         absl::StrFormat("%.1f %%", 100 * leak.probability()),
         FormatRoundedBytes(leak.live_bytes()),
         FormatRoundedBytes(static_cast<int64_t>(leak.growth_bytes_per_s()))});
  }
  page->AddHeading("Suspected leaks");
  page->AddTable(table);
}

}  // namespace footprint
