#include "footprint/profiling/run_page/comparison_page.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "footprint/base/page/page.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/run_page/page_sections.h"
#include "footprint/profiling/run_page/place_changes.h"
#include "footprint/profiling/run_page/run_flame_graph.h"
#include "footprint/profiling/run_page/run_page.h"
#include "footprint/profiling/runs/measured_images.h"

namespace footprint {
namespace {

// "+1.50 MiB"
std::string Signed(int64_t value, std::string (*format)(int64_t)) {
  return absl::StrCat(value > 0 ? "+" : "", format(value));
}

// "+12.5 %"
std::string SignedShare(int64_t change, int64_t before) {
  if (before == 0) return change == 0 ? "0.0 %" : "new";
  return absl::StrFormat("%+.1f %%", 100.0 * static_cast<double>(change) /
                                         static_cast<double>(before));
}

std::vector<std::string> FigureRow(const char* name, int64_t before,
                                   int64_t after,
                                   std::string (*format)(int64_t)) {
  return {name, format(before), format(after), Signed(after - before, format),
          SignedShare(after - before, before)};
}

std::string Ns(int64_t ns) {
  return ns < 0 ? absl::StrCat("-", Seconds(-ns)) : Seconds(ns);
}

void AddFigureTable(const MeasuredRun& before, const MeasuredRun& after,
                    const MeasuredImage& image_before,
                    const MeasuredImage& image_after, PageContent* page) {
  PageTable table;
  table.caption =
      "Heap figures are exact; resident bytes and times vary from run to run.";
  table.header = {"figure", "before", "after", "change", "by"};
  table.rows.push_back(FigureRow("peak heap", OwnPeakBytes(image_before),
                                 OwnPeakBytes(image_after),
                                 FormatRoundedBytes));
  if (image_before.has_totals() && image_after.has_totals()) {
    table.rows.push_back(
        FigureRow("allocated in all", image_before.allocated_bytes(),
                  image_after.allocated_bytes(), FormatRoundedBytes));
    table.rows.push_back(FigureRow("calls", image_before.allocation_count(),
                                   image_after.allocation_count(),
                                   FormatCount));
    table.rows.push_back(FigureRow("left at exit", image_before.live_bytes(),
                                   image_after.live_bytes(),
                                   FormatRoundedBytes));
  }
  table.rows.push_back(FigureRow(
      "resident, all processes together", ResidentTogetherBytes(before),
      ResidentTogetherBytes(after), FormatRoundedBytes));
  table.rows.push_back(
      FigureRow("time", before.wall_time_ns(), after.wall_time_ns(), Ns));
  page->AddHeading("Figures");
  page->AddTable(table);
}

using WhichChange = AmountChange PlaceChange::*;

std::string ChangeText(const AmountChange& change) {
  std::string text = Signed(change.bytes(), FormatRoundedBytes);
  if (change.sigma() >= 1) {
    absl::StrAppend(&text, " \u00b1 ",
                    FormatRoundedBytes(static_cast<int64_t>(change.sigma())));
  }
  return text;
}

// Sure changes first, the largest first.
void AddChangeTable(const char* heading,
                    const std::vector<PlaceChange>& changes, WhichChange which,
                    size_t most_rows, PageContent* page) {
  std::vector<const PlaceChange*> sorted;
  int64_t whole = 0;
  for (const PlaceChange& change : changes) {
    whole += (change.*which).bytes();
    if ((change.*which).bytes() != 0) sorted.push_back(&change);
  }
  page->AddHeading(heading);
  if (sorted.empty()) {
    page->AddParagraph("Nothing changed.");
    return;
  }
  const auto key = [which](const PlaceChange* change) {
    const AmountChange& amount = change->*which;
    return std::make_pair(!amount.is_sure(), -std::abs(amount.bytes()));
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&key](const PlaceChange* a, const PlaceChange* b) {
                     return key(a) < key(b);
                   });
  PageTable table;
  table.caption =
      "Changes that may be chance, within two sigma, stand last and say so.";
  table.header = {"function and line", "change", "before", "after", "sure"};
  table.wraps_text = true;
  int64_t shown = 0;
  for (const PlaceChange* change : sorted) {
    if (table.rows.size() == most_rows) break;
    const AmountChange& amount = change->*which;
    shown += amount.bytes();
    table.rows.push_back({PlaceName(change->frame), ChangeText(amount),
                          AmountText(amount.before), AmountText(amount.after),
                          amount.is_sure() ? "yes" : "may be chance"});
  }
  page->AddTable(table);
  const size_t others = sorted.size() - table.rows.size();
  page->AddParagraph(absl::StrCat(
      "All places together: ", Signed(whole, FormatBytes),
      others == 0
          ? "."
          : absl::StrCat("; of it ", Signed(whole - shown, FormatBytes), " at ",
                         FormatCount(static_cast<int64_t>(others)),
                         " others.")));
}

// Figures of the stages of one name.
struct StageChange {
  int64_t peak_before = 0;
  int64_t peak_after = 0;
  int64_t allocated_before = 0;
  int64_t allocated_after = 0;
};

void AddStageTable(const MeasuredImage& before, const MeasuredImage& after,
                   size_t most_rows, PageContent* page) {
  std::vector<std::string> names;
  std::map<std::string, StageChange> changes;
  const auto of_stage = [&](const MeasuredImage& image, int stage) {
    const std::string name = StageName(image, static_cast<size_t>(stage));
    if (changes.count(name) == 0) names.push_back(name);
    return &changes[name];
  };
  for (int i = 1; i < before.stages_size(); ++i) {
    StageChange* const change = of_stage(before, i);
    change->peak_before =
        std::max(change->peak_before, before.stages(i).peak_live_bytes());
    change->allocated_before += before.stages(i).allocated_bytes();
  }
  for (int i = 1; i < after.stages_size(); ++i) {
    StageChange* const change = of_stage(after, i);
    change->peak_after =
        std::max(change->peak_after, after.stages(i).peak_live_bytes());
    change->allocated_after += after.stages(i).allocated_bytes();
  }
  if (names.empty()) return;
  PageTable table;
  table.caption = "Exact, by the stage's name.";
  table.header = {"stage", "peak before", "after", "change", "allocated before",
                  "after", "change"};
  table.wraps_text = true;
  for (const std::string& name : names) {
    if (table.rows.size() == most_rows) break;
    const StageChange& change = changes[name];
    table.rows.push_back(
        {name, FormatRoundedBytes(change.peak_before),
         FormatRoundedBytes(change.peak_after),
         Signed(change.peak_after - change.peak_before, FormatRoundedBytes),
         FormatRoundedBytes(change.allocated_before),
         FormatRoundedBytes(change.allocated_after),
         Signed(change.allocated_after - change.allocated_before,
                FormatRoundedBytes)});
  }
  page->AddHeading("Stages");
  page->AddTable(table);
  if (names.size() > table.rows.size()) {
    page->AddParagraph(absl::StrCat("And ", names.size() - table.rows.size(),
                                    " other stages."));
  }
}

std::vector<PageFigure> Headline(const MeasuredImage& before,
                                 const MeasuredImage& after) {
  const int64_t change = OwnPeakBytes(after) - OwnPeakBytes(before);
  return {{"Peak heap", Signed(change, FormatRoundedBytes),
           absl::StrCat(FormatBytes(OwnPeakBytes(before)), " before, ",
                        FormatBytes(OwnPeakBytes(after)),
                        " after: ", SignedShare(change, OwnPeakBytes(before)),
                        ". Exact.")}};
}

std::string CommandOf(const MeasuredRun& run) {
  constexpr size_t kMostBytes = 100;
  return Shortened(absl::StrJoin(run.program(), " "), kMostBytes);
}

void AddWarningsOfBoth(const MeasuredRun& before, const MeasuredRun& after,
                       PageContent* page) {
  std::vector<std::string> warnings;
  const auto add = [&](const char* name, const MeasuredRun& run) {
    for (const std::string& warning : Warnings(run, *LargestImage(run))) {
      warnings.push_back(absl::StrCat(name, warning));
    }
  };
  add("Before: ", before);
  add("After: ", after);
  page->AddWarnings(warnings);
}

std::string PageWithin(const MeasuredRun& before, const MeasuredRun& after,
                       const std::vector<PlaceChange>& changes,
                       const PageLimits& limits) {
  const MeasuredImage& image_before = *LargestImage(before);
  const MeasuredImage& image_after = *LargestImage(after);
  Page page("Memory, before and after",
            absl::StrCat("Before: ", CommandOf(before),
                         ". After: ", CommandOf(after), "."));
  AddWarningsOfBoth(before, after, &page);
  page.AddFigures(Headline(image_before, image_after));
  AddFigureTable(before, after, image_before, image_after, &page);
  FlameGraph graph =
      ComparisonFlameGraph(before, after, limits.flame_graph_bytes);
  if (!graph.nodes.empty()) {
    graph.description =
        "Red grew, blue shrank, the more the deeper; grey did not change, or "
        "no "
        "more than chance may.";
    page.AddHeading("Where from");
    page.AddFlameGraph(graph);
  }
  AddChangeTable("Lines of code at the peak", changes, &PlaceChange::at_peak,
                 limits.table_rows, &page);
  AddChangeTable("Lines of code by volume", changes, &PlaceChange::allocated,
                 limits.table_rows, &page);
  AddStageTable(image_before, image_after, limits.table_rows, &page);
  return page.Html();
}

}  // namespace

std::string ComparisonPage(const MeasuredRun& before,
                           const MeasuredRun& after) {
  if (LargestImage(before) == nullptr || LargestImage(after) == nullptr) {
    Page page("Memory, before and after", "");
    page.AddWarnings(
        {"Nothing can be compared: one of the runs measured no "
         "process."});
    return page.Html();
  }
  const std::vector<PlaceChange> changes = ChangesByPlace(before, after);
  PageLimits limits;
  std::string html = PageWithin(before, after, changes, limits);
  while (html.size() > kMostPageBytes && limits.table_rows > 2) {
    limits.flame_graph_bytes /= 2;
    limits.table_rows /= 2;
    html = PageWithin(before, after, changes, limits);
  }
  return html;
}

}  // namespace footprint
