#include "footprint/profiling/runs/site_rows.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "footprint/profiling/runs/amounts.h"

namespace footprint {
namespace {

const CodeFrame& FrameOf(const MeasuredRun& run, uint32_t call) {
  return run.frames(
      static_cast<int>(run.calls(static_cast<int>(call) - 1).frame()));
}

uint32_t ParentOf(const MeasuredRun& run, uint32_t call) {
  return run.calls(static_cast<int>(call) - 1).parent();
}

// Of two objects' inlined and other code of one line, a place is the same.
std::string Key(const CodeFrame& frame) {
  CodeFrame key = frame;
  key.clear_is_inlined();
  return key.SerializeAsString();
}

struct GrowingRow {
  SiteRow row;
  int64_t largest_bytes = -1;
};

void AddSite(const SiteAmounts& site, GrowingRow* growing) {
  SiteRow& row = growing->row;
  if (site.at_peak().bytes() > growing->largest_bytes) {
    growing->largest_bytes = site.at_peak().bytes();
    row.largest_call = site.call();
  }
  AddTo(site.at_peak(), &row.at_peak);
  AddTo(site.at_end(), &row.at_end);
  AddTo(site.allocated(), &row.allocated);
  row.temporary_count =
      SaturatedSum(row.temporary_count, site.temporary_count());
}

}  // namespace

bool ServesItsCaller(const CodeFrame& frame) {
  return frame.kind() == CodeFrame::ALLOCATOR ||
         frame.kind() == CodeFrame::INTERPRETER;
}

CodeFrame PlaceOf(const MeasuredRun& run, uint32_t call) {
  if (call == 0) {
    CodeFrame none;
    none.set_kind(CodeFrame::UNKNOWN);
    none.set_function("[before the agent began]");
    return none;
  }
  const CodeFrame* innermost = nullptr;
  const CodeFrame* with_line = nullptr;
  for (uint32_t each = call; each != 0; each = ParentOf(run, each)) {
    const CodeFrame& frame = FrameOf(run, each);
    if (ServesItsCaller(frame)) continue;
    if (innermost == nullptr) innermost = &frame;
    if (frame.kind() == CodeFrame::PYTHON) {
      return with_line != nullptr ? *with_line : frame;
    }
    if (with_line == nullptr && frame.line() > 0) with_line = &frame;
  }
  return innermost != nullptr ? *innermost : FrameOf(run, call);
}

std::vector<SiteRow> SiteRows(const MeasuredRun& run,
                              const MeasuredImage& image) {
  std::unordered_map<uint32_t, std::string> keys;  // by call
  std::map<std::string, GrowingRow> rows;
  for (const SiteAmounts& site : image.sites()) {
    auto key = keys.find(site.call());
    if (key == keys.end()) {
      const CodeFrame place = PlaceOf(run, site.call());
      key = keys.emplace(site.call(), Key(place)).first;
      rows[key->second].row.frame = place;
    }
    AddSite(site, &rows[key->second]);
  }
  std::vector<SiteRow> sorted;
  for (auto& [key, growing] : rows) sorted.push_back(std::move(growing.row));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const SiteRow& a, const SiteRow& b) {
                     return a.at_peak.bytes() > b.at_peak.bytes();
                   });
  return sorted;
}

}  // namespace footprint
