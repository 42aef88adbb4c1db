#include "footprint/gates/importing/foreign_figures.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

constexpr size_t kMostSites = 50;

void AddSites(const std::vector<ForeignSite>& sites, BenchmarkMemory* out) {
  std::map<std::string, int64_t> bytes_of;
  for (const ForeignSite& site : sites) {
    int64_t& bytes = bytes_of[site.name];
    if (__builtin_add_overflow(bytes, site.live_bytes, &bytes)) return;
  }
  std::vector<std::pair<int64_t, std::string>> sorted;
  for (const auto& [name, bytes] : bytes_of) {
    if (bytes > 0) sorted.emplace_back(-bytes, name);
  }
  std::sort(sorted.begin(), sorted.end());
  if (sorted.size() > kMostSites) sorted.resize(kMostSites);
  for (const auto& [negative_bytes, name] : sorted) {
    Attribution* const attribution = out->add_peak_attribution();
    attribution->set_site(name);
    attribution->set_live_bytes(-negative_bytes);
  }
}

}  // namespace

absl::Status AddFigures(const ForeignFigures& more, ForeignFigures* all) {
  if (all->tool.empty()) {
    all->tool = more.tool;
    all->counts = more.counts;
    all->file_count = 0;
  }
  if (all->tool != more.tool) {
    return absl::InvalidArgumentError(
        absl::StrCat("is of ", more.tool, ", and the files before it are of ",
                     all->tool, "; import each tool's files by themselves"));
  }
  all->file_count += more.file_count;
  std::unordered_map<std::string, size_t> places;
  for (size_t i = 0; i < all->peaks.size(); ++i) {
    places.emplace(all->peaks[i].benchmark, i);
  }
  for (const ForeignPeak& peak : more.peaks) {
    const auto [place, is_new] =
        places.emplace(peak.benchmark, all->peaks.size());
    if (is_new) {
      all->peaks.push_back(peak);
      continue;
    }
    ForeignPeak& same = all->peaks[place->second];
    if (same.metric != peak.metric) {
      return absl::InvalidArgumentError(
          "counts other bytes than the files before it; import them by "
          "themselves");
    }
    if (same.bytes >= peak.bytes) continue;
    same = peak;
    // The files of one tool may count differently, such as sampled or not.
    all->counts = more.counts;
  }
  return absl::OkStatus();
}

MemoryProfile ProfileOfFigures(const ForeignFigures& figures,
                               const std::string& label,
                               const std::string& benchmark) {
  MemoryProfile profile;
  profile.set_label(label);
  profile.mutable_imported()->set_tool(figures.tool);
  profile.mutable_imported()->set_counts(figures.counts);
  profile.mutable_imported()->set_file_count(figures.file_count);
  Remark* const remark = profile.add_remarks();
  remark->set_about(absl::StrCat("imported from ", figures.tool));
  remark->set_text(absl::StrCat(
      figures.counts,
      figures.file_count == 1
          ? ""
          : absl::StrCat(", the highest of ", figures.file_count, " files")));
  for (const ForeignPeak& peak : figures.peaks) {
    BenchmarkMemory* const measured = profile.add_benchmarks();
    measured->set_name(peak.benchmark.empty() ? benchmark : peak.benchmark);
    Metric* const metric = measured->add_metrics();
    metric->set_kind(peak.metric);
    metric->set_determinism(STATISTICAL);
    metric->set_value(peak.bytes);
    AddSites(peak.sites, measured);
  }
  return profile;
}

}  // namespace footprint
