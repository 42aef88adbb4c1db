#include "footprint/gates/judge/measurement_index.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/selector.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/metric_reading.h"

namespace footprint {
namespace {

// Appends the metric of `kind` of a region or a phase. Returns false if it has
// none.
template <typename Measured>
bool AppendMetric(const Measured& measured, MetricKind kind, Measurement found,
                  std::vector<Measurement>* measurements) {
  for (const Metric& metric : measured.metrics()) {
    if (metric.kind() != kind) continue;
    found.metric = &metric;
    measurements->push_back(found);
    return true;
  }
  if (std::find(measured.unrepeated().begin(), measured.unrepeated().end(),
                kind) != measured.unrepeated().end()) {
    measurements->push_back(found);
    return true;
  }
  return false;
}

}  // namespace

MeasurementIndex::MeasurementIndex(absl::Span<const MemoryProfile> profiles)
    : profiles_(profiles), benchmark_by_name_(profiles.size()) {
  absl::flat_hash_set<std::pair<absl::string_view, absl::string_view>> seen;
  for (size_t i = 0; i < profiles.size(); ++i) {
    const int profile = static_cast<int>(i);
    const absl::string_view label = profiles[i].label();
    profiles_by_label_[label].push_back(profile);
    for (int j = 0; j < profiles[i].benchmarks_size(); ++j) {
      const absl::string_view name = profiles[i].benchmarks(j).name();
      benchmark_by_name_[i].emplace(name, j);
      if (!seen.emplace(label, name).second)
        duplicates_.push_back({profile, j});
    }
  }
}

std::string MeasurementIndex::PhaseAt(const Measurement& found) const {
  if (found.phase < 0) return "";
  return BenchmarkAt(found).phases(found.phase).name();
}

std::string MeasurementIndex::Describe(const Measurement& found) const {
  return DescribeMeasurement(ProfileAt(found.profile).label(),
                             BenchmarkAt(found).name(), PhaseAt(found));
}

std::vector<int> MeasurementIndex::FindProfiles(
    absl::string_view label_glob) const {
  if (IsLiteral(label_glob)) {
    const auto found = profiles_by_label_.find(NameOfLiteral(label_glob));
    return found == profiles_by_label_.end() ? std::vector<int>()
                                             : found->second;
  }
  std::vector<int> profiles;
  for (size_t i = 0; i < profiles_.size(); ++i) {
    if (GlobMatches(label_glob, profiles_[i].label())) {
      profiles.push_back(static_cast<int>(i));
    }
  }
  return profiles;
}

std::vector<int> MeasurementIndex::FindBenchmarks(
    int profile, const Selector& selector) const {
  const MemoryProfile& measured = profiles_[static_cast<size_t>(profile)];
  const auto& by_name = benchmark_by_name_[static_cast<size_t>(profile)];
  if (!selector.benchmark().empty() && IsLiteral(selector.benchmark())) {
    const auto found = by_name.find(NameOfLiteral(selector.benchmark()));
    if (found == by_name.end() ||
        !SelectsArguments(selector, measured.benchmarks(found->second))) {
      return {};
    }
    return {found->second};
  }
  std::vector<int> benchmarks;
  for (int i = 0; i < measured.benchmarks_size(); ++i) {
    if (SelectsBenchmark(selector, measured.benchmarks(i))) {
      benchmarks.push_back(i);
    }
  }
  return benchmarks;
}

bool MeasurementIndex::AppendMeasurements(
    int profile, int benchmark, const Selector& selector, MetricKind kind,
    std::vector<Measurement>* measurements) const {
  const BenchmarkMemory& measured =
      profiles_[static_cast<size_t>(profile)].benchmarks(benchmark);
  Measurement found;
  found.profile = profile;
  found.benchmark = benchmark;
  if (selector.phase().empty()) {
    return AppendMetric(measured, kind, found, measurements);
  }
  bool is_named = false;
  bool is_lost = false;
  for (int i = 0; i < measured.phases_size(); ++i) {
    if (!GlobMatches(selector.phase(), measured.phases(i).name())) continue;
    is_named = true;
    found.phase = i;
    is_lost |= !AppendMetric(measured.phases(i), kind, found, measurements);
  }
  return is_named && !is_lost;
}

bool MeasurementIndex::AppendRegions(int profile, int benchmark,
                                     const Selector& selector,
                                     std::vector<Measurement>* regions) const {
  Measurement region;
  region.profile = profile;
  region.benchmark = benchmark;
  if (selector.phase().empty()) {
    regions->push_back(region);
    return true;
  }
  const size_t first = regions->size();
  const BenchmarkMemory& memory = BenchmarkAt(region);
  for (int i = 0; i < memory.phases_size(); ++i) {
    if (!GlobMatches(selector.phase(), memory.phases(i).name())) continue;
    region.phase = i;
    regions->push_back(region);
  }
  return regions->size() > first;
}

std::vector<Measurement> MeasurementIndex::Find(const Selector& selector,
                                                MetricKind kind) const {
  std::vector<Measurement> measurements;
  for (int profile : FindProfiles(selector.label())) {
    for (int benchmark : FindBenchmarks(profile, selector)) {
      AppendMeasurements(profile, benchmark, selector, kind, &measurements);
    }
  }
  return measurements;
}

const char* MeasurementIndex::WhyNoValue(const Measurement& found,
                                         MetricKind kind) const {
  const BenchmarkMemory& benchmark =
      profiles_[static_cast<size_t>(found.profile)].benchmarks(found.benchmark);
  return WhyUnknown((found.phase < 0
                         ? ReadMetric(benchmark, kind)
                         : ReadMetric(benchmark.phases(found.phase), kind))
                        .knowledge);
}

}  // namespace footprint
