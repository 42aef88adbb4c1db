#include "footprint/gates/judge/environment_check.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/gates/judge/environment_difference.h"
#include "footprint/gates/judge/peak_limit.h"
#include "footprint/gates/judge/verdict_problem.h"
#include "footprint/profiling/schema/metric_kind.h"

namespace footprint {

bool IsForEnvironment(const MemoryProfile& profile,
                      const ThresholdSource& thresholds) {
  return !thresholds.file.has_environment() ||
         CountDifferences(profile.environment(),
                          thresholds.file.environment()) == 0;
}

bool EnvironmentCheck::NoteFile(size_t source, int profile) {
  const auto at = static_cast<size_t>(profile);
  const bool is_for_it = IsForEnvironment(profiles_[at], sources_[source]);
  if (!sources_[source].file.has_environment()) return is_for_it;
  std::vector<size_t>& noted =
      is_for_it ? own_sources_[at] : foreign_sources_[at];
  if (noted.empty() || noted.back() != source) noted.push_back(source);
  return is_for_it;
}

void EnvironmentCheck::NoteForeign(const BenchmarkKey& benchmark,
                                   const std::vector<Measurement>& found,
                                   size_t source, int number) {
  foreign_benchmarks_.insert(benchmark);
  const MetricKind metric = sources_[source].file.threshold(number).metric();
  for (const Measurement& measurement : found) {
    foreign_[static_cast<size_t>(benchmark.first)].push_back(
        {measurement, metric, source, number});
  }
}

void EnvironmentCheck::NoteKept(const Measurement& found,
                                const Threshold& threshold) {
  kept_here_[MakeKey(found, threshold.metric())].push_back(&threshold);
}

std::set<BenchmarkKey> EnvironmentCheck::Run(Verdict* verdict) {
  for (size_t i = 0; i < profiles_.size(); ++i) {
    if (foreign_sources_[i].empty() || profiles_[i].has_failure()) continue;
    if (!own_sources_[i].empty()) {
      CheckForeignMeasurements(i, verdict);
      continue;
    }
    const ThresholdSource& nearest = FindNearestForeignSource(i);
    AddMismatch(i, "thresholds are kept for other environments only", nearest,
                PathForEnvironment(nearest.path, profiles_[i].environment(),
                                   nearest.file.environment()),
                verdict);
    const int profile = static_cast<int>(i);
    mismatched_.insert(foreign_benchmarks_.lower_bound({profile, 0}),
                       foreign_benchmarks_.lower_bound({profile + 1, 0}));
  }
  return std::move(mismatched_);
}

// Returns whether a rule for the profile's own environment can stand in for the
// foreign one.
bool EnvironmentCheck::IsKeptHere(const MeasurementKey& key,
                                  const RuledMeasurement& foreign) const {
  const auto kept = kept_here_.find(key);
  if (kept == kept_here_.end()) return false;
  const Threshold& other =
      sources_[foreign.source].file.threshold(foreign.number);
  return std::any_of(
      kept->second.begin(), kept->second.end(),
      [&other](const Threshold* own) { return StandsInFor(*own, other); });
}

const ThresholdSource& EnvironmentCheck::FindNearestForeignSource(
    size_t profile) const {
  const auto distance = [&](size_t source) {
    return CountDifferences(profiles_[profile].environment(),
                            sources_[source].file.environment());
  };
  const std::vector<size_t>& foreign = foreign_sources_[profile];
  return sources_[*std::min_element(
      foreign.begin(), foreign.end(),
      [&](size_t a, size_t b) { return distance(a) < distance(b); })];
}

void EnvironmentCheck::AddMismatch(size_t profile, const std::string& what,
                                   const ThresholdSource& elsewhere,
                                   const std::string& path,
                                   Verdict* verdict) const {
  AddProblem(ENVIRONMENT_MISMATCH, profiles_[profile].label(),
             absl::StrCat(what, "; here ",
                          DescribeDifference(profiles_[profile].environment(),
                                             elsewhere.file.environment()),
                          " in ", elsewhere.path,
                          "; measure there, or accept this environment with: ",
                          command_.ToBless(profiles_[profile].label(), path)),
             verdict);
}

// Adds a mismatch for measurements that files of other environments judge
// there, and the profile's own file does not judge here.
void EnvironmentCheck::CheckForeignMeasurements(size_t profile,
                                                Verdict* verdict) {
  constexpr int kMostNames = 3;
  std::set<MeasurementKey> said;
  std::string names;
  const RuledMeasurement* first = nullptr;
  for (const RuledMeasurement& foreign : foreign_[profile]) {
    const MeasurementKey key = MakeKey(foreign.measurement, foreign.metric);
    if (IsKeptHere(key, foreign) || !said.insert(key).second) continue;
    if (first == nullptr) first = &foreign;
    mismatched_.emplace(foreign.measurement.profile,
                        foreign.measurement.benchmark);
    if (said.size() > kMostNames) continue;
    absl::StrAppend(&names, names.empty() ? "" : ", ",
                    SchemaNameOfMetric(foreign.metric), " of ",
                    index_.Describe(foreign.measurement));
  }
  if (first == nullptr) return;
  if (said.size() > kMostNames) {
    absl::StrAppend(&names, " and ", said.size() - kMostNames, " more");
  }
  AddMismatch(
      profile,
      absl::StrCat("is not judged here, since thresholds are kept "
                   "for other environments only (",
                   sources_[first->source].DescribeLocation(first->number),
                   "): ", names),
      sources_[first->source], sources_[own_sources_[profile].front()].path,
      verdict);
}

}  // namespace footprint
