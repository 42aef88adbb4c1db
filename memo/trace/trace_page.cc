#include "footprint/memo/trace/trace_page.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/base/page/page.h"
#include "footprint/memo/trace/plan_in_words.h"

namespace footprint {
namespace {

LayoutChart LiveValues(const MemoTrace& trace) {
  LayoutChart chart;
  chart.title = "Values alive";
  chart.description =
      "A box is a value from its load to its eviction; a step is a cell of the "
      "product, in the order in which they ran. The level red line is the "
      "planned peak, which also holds what loads need on their way; the "
      "upright "
      "one is the step at which most was alive.";
  chart.series = {"value"};
  chart.marked_bytes = trace.plan().peak_bytes();
  chart.marked_label = absl::StrCat(
      "planned peak ",
      AbbreviateBytes(static_cast<double>(trace.plan().peak_bytes())));
  std::map<std::string, LayoutChart::Box> alive;
  // A box begins at a load and ends at the eviction.
  int64_t step = 0;
  int64_t most_live_bytes = 0;
  const auto end_box = [&](LayoutChart::Box box) {
    box.end_step = std::max(step, box.begin_step + 1);
    chart.boxes.push_back(std::move(box));
  };
  for (const MemoEvent& event : trace.events()) {
    if (event.kind() == MemoEvent::CELL_RAN) ++step;
    if ((event.kind() == MemoEvent::LOADED ||
         event.kind() == MemoEvent::FOUND_LOADED ||
         event.kind() == MemoEvent::LOADED_BY_FACTORY) &&
        event.bytes() > 0) {
      if (event.live_bytes() > most_live_bytes) chart.marked_step = step;
      most_live_bytes = std::max(most_live_bytes, event.live_bytes());
      LayoutChart::Box& box = alive[event.name()];
      box.label = event.name();
      box.begin_step = step;
      box.size_bytes = event.bytes();
    }
    const auto ended = alive.find(event.name());
    if (event.kind() == MemoEvent::EVICTED && ended != alive.end()) {
      end_box(std::move(ended->second));
      alive.erase(ended);
    }
  }
  // Ends the boxes of values that were never evicted.
  for (auto& [name, box] : alive) end_box(std::move(box));
  // The picture is only an illustration: a memo does not choose its value's
  // address.
  if (!StackBoxes(&chart.boxes)) chart.boxes.clear();
  return chart;
}

std::string WriteLead(const MemoTrace& trace) {
  const MemoPlan& plan = trace.plan();
  return absl::StrCat(
      trace.load_count(), " loads, ", plan.load_count(), " of them planned (",
      plan.method(), ", ", ProofInWords(plan),
      plan.is_reordered() ? ", cells reordered" : "", "). Peak",
      plan.counts_resident_bytes() ? ", in resident bytes," : "", " of ",
      AbbreviateBytes(static_cast<double>(plan.peak_bytes())), " planned, ",
      AbbreviateBytes(static_cast<double>(trace.peak_bytes())), " measured",
      plan.has_budget_bytes()
          ? absl::StrCat(
                ", within a budget of ",
                AbbreviateBytes(static_cast<double>(plan.budget_bytes())))
          : "",
      plan.other_order_peak_bytes() > 0
          ? absl::StrCat("; in another order (--memo_order=reorder) ",
                         AbbreviateBytes(static_cast<double>(
                             plan.other_order_peak_bytes())))
          : "",
      ".");
}

PageTable PlannedSteps(const MemoPlan& plan) {
  PageTable table;
  table.caption = "The plan";
  table.header = {"cell", "loaded before", "evicted after"};
  table.text_columns = 3;
  for (const MemoPlanStep& step : plan.steps()) {
    table.rows.push_back({step.cell(), absl::StrJoin(step.loads(), ", "),
                          absl::StrJoin(step.evictions(), ", ")});
  }
  return table;
}

PageTable Events(const MemoTrace& trace) {
  PageTable table;
  table.caption = "Events";
  table.header = {"event", "of",          "remark",
                  "bytes", "bytes alive", "bytes needed to load"};
  table.text_columns = 3;
  for (const MemoEvent& event : trace.events()) {
    table.rows.push_back(
        {MemoEvent::Kind_Name(event.kind()), event.name(), event.detail(),
         FormatCount(event.bytes()), FormatCount(event.live_bytes()),
         event.load_peak_bytes() > 0 ? FormatCount(event.load_peak_bytes())
                                     : ""});
  }
  return table;
}

}  // namespace

std::string TracePage(const MemoTrace& trace) {
  Page page("Memos: the plan and what happened", WriteLead(trace));
  const LayoutChart chart = LiveValues(trace);
  if (chart.boxes.empty()) {
    page.AddParagraph("No value of known size was loaded.");
  } else {
    page.AddLayoutChart(chart);
  }
  page.AddTable(PlannedSteps(trace.plan()));
  page.AddTable(Events(trace));
  return page.Html();
}

}  // namespace footprint
