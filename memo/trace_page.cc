#include "footprint/memo/trace_page.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/profiling/page.h"

namespace footprint {
namespace {

// Where values that are alive together are drawn, none over another. It is a
// picture only: a memo does not place its value.
class Placement {
 public:
  // The lowest gap that is large enough.
  int64_t Add(const std::string& name, int64_t bytes) {
    int64_t offset_bytes = 0;
    for (const auto& [taken_offset, taken] : taken_) {
      if (taken_offset - offset_bytes >= bytes) break;
      offset_bytes = taken_offset + taken.second;
    }
    taken_[offset_bytes] = {name, bytes};
    return offset_bytes;
  }
  void Remove(const std::string& name) {
    for (auto it = taken_.begin(); it != taken_.end(); ++it) {
      if (it->second.first != name) continue;
      taken_.erase(it);
      return;
    }
  }

 private:
  // By offset: name and bytes.
  std::map<int64_t, std::pair<std::string, int64_t>> taken_;
};

LayoutChart LiveValues(const MemoTrace& trace) {
  LayoutChart chart;
  chart.title = "Values alive";
  chart.description =
      "A box is a value from its load to its eviction; a step is a cell of the "
      "product, in the order in which they ran.";
  chart.series = {"value"};
  chart.marked_bytes = trace.plan().peak_bytes();
  chart.marked_label = "planned peak";
  Placement placement;
  std::map<std::string, LayoutChart::Box> alive;
  int64_t step = 0;
  const auto end_box = [&](LayoutChart::Box box) {
    box.end_step = std::max(step, box.begin_step + 1);
    chart.boxes.push_back(std::move(box));
  };
  for (const MemoEvent& event : trace.events()) {
    if (event.kind() == MemoEvent::CELL_RAN) ++step;
    if ((event.kind() == MemoEvent::LOADED ||
         event.kind() == MemoEvent::FOUND_LOADED) &&
        event.bytes() > 0) {
      if (event.live_bytes() == trace.peak_bytes()) chart.marked_step = step;
      LayoutChart::Box& box = alive[event.name()];
      box.label = event.name();
      box.begin_step = step;
      box.offset_bytes = placement.Add(event.name(), event.bytes());
      box.size_bytes = event.bytes();
    }
    const auto ended = alive.find(event.name());
    if (event.kind() == MemoEvent::EVICTED && ended != alive.end()) {
      placement.Remove(event.name());
      end_box(std::move(ended->second));
      alive.erase(ended);
    }
  }
  for (auto& [name, box] : alive) end_box(std::move(box));
  return chart;
}

std::string LeadOf(const MemoTrace& trace) {
  const MemoPlan& plan = trace.plan();
  return absl::StrCat(
      trace.load_count(), " loads, ", plan.load_count(), " of them planned (",
      plan.method(), plan.is_optimal() ? ", optimal" : ", not proved optimal",
      plan.is_reordered() ? ", cells reordered" : "", "). Peak of ",
      AbbreviateBytes(static_cast<double>(plan.peak_bytes())), " planned, ",
      AbbreviateBytes(static_cast<double>(trace.peak_bytes())), " measured",
      plan.has_budget_bytes()
          ? absl::StrCat(
                ", within a budget of ",
                AbbreviateBytes(static_cast<double>(plan.budget_bytes())))
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
  table.caption = "What happened";
  table.header = {"event", "of", "what went wrong", "bytes", "bytes alive"};
  table.text_columns = 3;
  for (const MemoEvent& event : trace.events()) {
    table.rows.push_back({MemoEvent::Kind_Name(event.kind()), event.name(),
                          event.detail(), absl::StrCat(event.bytes()),
                          absl::StrCat(event.live_bytes())});
  }
  return table;
}

}  // namespace

std::string TracePage(const MemoTrace& trace) {
  Page page("Memos: the plan and what happened", LeadOf(trace));
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
