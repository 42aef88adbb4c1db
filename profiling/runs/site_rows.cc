#include "footprint/profiling/runs/site_rows.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "footprint/profiling/runs/amounts.h"

namespace footprint {
namespace {

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

std::vector<SiteRow> SiteRows(const CodePlaces& places,
                              const MeasuredImage& image) {
  absl::flat_hash_map<uint32_t, size_t> indices;  // of each place's row
  std::vector<GrowingRow> rows;
  for (const SiteAmounts& site : image.sites()) {
    const uint32_t place = places.OfCall(site.call());
    const auto [index, is_new] = indices.try_emplace(place, rows.size());
    if (is_new) {
      rows.emplace_back();
      rows.back().row.frame = places.FindShownFrame(place);
    }
    AddSite(site, &rows[index->second]);
  }
  std::vector<SiteRow> sorted;
  sorted.reserve(rows.size());
  for (GrowingRow& growing : rows) sorted.push_back(std::move(growing.row));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const SiteRow& a, const SiteRow& b) {
                     return a.at_peak.bytes() > b.at_peak.bytes();
                   });
  return sorted;
}

std::vector<SiteRow> SiteRows(const MeasuredRun& run,
                              const MeasuredImage& image) {
  return SiteRows(CodePlaces(run), image);
}

}  // namespace footprint
