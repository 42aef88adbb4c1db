#include "footprint/gates/threshold_update.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "footprint/gates/evaluate.h"
#include "footprint/gates/gate.pb.h"
#include "footprint/gates/measurement_index.h"
#include "footprint/gates/selector.h"
#include "footprint/gates/threshold_edit.h"
#include "footprint/gates/threshold_file.h"
#include "footprint/profiling/memory_profile.pb.h"
#include "footprint/profiling/metric_kind.h"

namespace footprint {
namespace {

struct Numbers {
  absl::optional<int64_t> maximum;
  absl::optional<int64_t> exact;
  absl::optional<int64_t> minimum;
};

Numbers NumbersOf(const Threshold& threshold) {
  Numbers numbers;
  if (threshold.has_max_bytes()) numbers.maximum = threshold.max_bytes();
  if (threshold.has_max_count()) numbers.maximum = threshold.max_count();
  if (threshold.has_exact_bytes()) numbers.exact = threshold.exact_bytes();
  if (threshold.has_exact_count()) numbers.exact = threshold.exact_count();
  if (threshold.has_min_bytes()) numbers.minimum = threshold.min_bytes();
  if (threshold.has_min_count()) numbers.minimum = threshold.min_count();
  return numbers;
}

void SetLimit(int64_t value, Threshold* threshold) {
  switch (threshold->rule_case()) {
    case Threshold::kMaxBytes:
      return threshold->set_max_bytes(value);
    case Threshold::kExactBytes:
      return threshold->set_exact_bytes(value);
    case Threshold::kMaxCount:
      return threshold->set_max_count(value);
    case Threshold::kExactCount:
      return threshold->set_exact_count(value);
    default:
      return;
  }
}

// A band of the old width around [lowest, highest], or as wide as that.
std::pair<int64_t, int64_t> CentreBand(int64_t old_minimum, int64_t old_maximum,
                                       int64_t lowest, int64_t highest) {
  const int64_t slack =
      std::max<int64_t>(0, (old_maximum - old_minimum) - (highest - lowest));
  int64_t minimum = lowest - slack / 2;
  // No metric but net growth goes below zero.
  if (minimum < 0 && lowest >= 0) minimum = 0;
  const int64_t above = slack - slack / 2;
  const int64_t maximum = highest > std::numeric_limits<int64_t>::max() - above
                              ? highest
                              : highest + above;
  return {minimum, maximum};
}

// The smallest ratio of four figures that admits `value`.
double RatioFor(int64_t value, int64_t baseline) {
  const double wanted =
      static_cast<double>(value) / static_cast<double>(baseline);
  double unit = std::pow(10, std::floor(std::log10(wanted)) - 3);
  double ratio = std::ceil(wanted / unit) * unit;
  while (RatioLimit(ratio, baseline) < value) ratio += unit;
  return ratio;
}

bool IsSelected(const UpdateOptions& options, const MemoryProfile& profile,
                const BenchmarkMemory& benchmark) {
  return GlobMatches(options.label, profile.label()) &&
         GlobMatches(options.benchmark, benchmark.name());
}

// One call of PlanUpdate.
class Planner {
 public:
  Planner(absl::Span<const MemoryProfile> profiles,
          absl::Span<const ThresholdSource> sources,
          const UpdateOptions& options)
      : profiles_(profiles),
        sources_(sources),
        options_(options),
        index_(profiles) {
    plan_.changes.resize(sources.size());
  }

  UpdatePlan Run() {
    for (size_t source = 0; source < sources_.size(); ++source) {
      for (int i = 0; i < sources_[source].file.threshold_size(); ++i) {
        Plan(source, i);
      }
    }
    return std::move(plan_);
  }

 private:
  void Plan(size_t source, int number) {
    const Threshold& threshold = sources_[source].file.threshold(number);
    std::vector<Measurement> found;
    bool is_selected = false;
    for (const Measurement& measurement :
         index_.Find(threshold.selector(), threshold.metric())) {
      const MemoryProfile& profile =
          profiles_[static_cast<size_t>(measurement.profile)];
      if (measurement.metric == nullptr ||
          !IsForEnvironmentOf(profile, sources_[source])) {
        continue;
      }
      is_selected |= IsSelected(options_, profile,
                                profile.benchmarks(measurement.benchmark));
      found.push_back(measurement);
    }
    if (!is_selected) return;
    const auto by_value = [](const Measurement& a, const Measurement& b) {
      return a.metric->value() < b.metric->value();
    };
    const auto [low, high] =
        std::minmax_element(found.begin(), found.end(), by_value);
    PlanFor(source, number, *low, *high);
  }

  void PlanFor(size_t source, int number, const Measurement& low,
               const Measurement& high) {
    const Threshold& threshold = sources_[source].file.threshold(number);
    const Numbers old = NumbersOf(threshold);
    const int64_t lowest = low.metric->value();
    const int64_t highest = high.metric->value();
    ThresholdChange change;
    change.threshold = number;
    if (old.exact.has_value()) {
      if (lowest != highest) return RefuseDifferent(source, number, low, high);
      if (lowest != *old.exact) change.limit = lowest;
      return Commit(source, number, change, old.exact);
    }
    if (old.maximum.has_value() && old.minimum.has_value()) {
      if (lowest >= *old.minimum && highest <= *old.maximum) return;
      const auto [minimum, maximum] =
          CentreBand(*old.minimum, *old.maximum, lowest, highest);
      if (minimum != *old.minimum) change.minimum = minimum;
      if (maximum != *old.maximum) change.limit = maximum;
      return Commit(source, number, change, old.maximum);
    }
    if (old.maximum.has_value() && highest != *old.maximum) {
      change.limit = highest;
    }
    if (old.minimum.has_value() && lowest < *old.minimum) {
      change.minimum = lowest;
    }
    if (threshold.has_max_ratio()) {
      PlanRatio(threshold, highest, &change);
    }
    Commit(source, number, change, old.maximum);
  }

  // A bad baseline is left to Evaluate, which says what is wrong.
  void PlanRatio(const Threshold& threshold, int64_t highest,
                 ThresholdChange* change) {
    const std::vector<Measurement> baseline =
        index_.Find(threshold.max_ratio().baseline(), threshold.metric());
    if (baseline.size() != 1 || baseline[0].metric == nullptr ||
        baseline[0].metric->value() <= 0) {
      return;
    }
    const int64_t value = baseline[0].metric->value();
    if (highest > RatioLimit(threshold.max_ratio().ratio(), value)) {
      change->ratio = RatioFor(highest, value);
    }
  }

  void RefuseDifferent(size_t source, int number, const Measurement& low,
                       const Measurement& high) {
    plan_.refusals.push_back(absl::StrCat(
        sources_[source].LocationOf(number),
        ": names measurements of different values, so no exact value holds: ",
        Describe(low), " and ", Describe(high),
        "; give each a threshold of its own"));
  }

  std::string Describe(const Measurement& found) const {
    const MemoryProfile& profile =
        profiles_[static_cast<size_t>(found.profile)];
    const BenchmarkMemory& benchmark = profile.benchmarks(found.benchmark);
    return absl::StrCat(
        DescribeMeasurement(
            profile.label(), benchmark.name(),
            found.phase < 0 ? "" : benchmark.phases(found.phase).name()),
        " ", FormatMetricValue(found.metric->kind(), found.metric->value()));
  }

  void Commit(size_t source, int number, ThresholdChange change,
              const absl::optional<int64_t>& old_limit) {
    if (!change.limit.has_value() && !change.minimum.has_value() &&
        !change.ratio.has_value()) {
      return;
    }
    const bool is_increase =
        change.ratio.has_value() ||
        (change.limit.has_value() && *change.limit > *old_limit);
    const std::string description =
        DescribeChange(source, number, change, old_limit);
    if (is_increase && !options_.allow_increase) {
      plan_.refusals.push_back(
          absl::StrCat(description,
                       " is an increase; allow it with --allow_increase "
                       "--reason=\"...\""));
      return;
    }
    if (is_increase) {
      change.history.emplace();
      change.history->set_date(options_.date);
      change.history->set_reason(options_.reason);
      if (change.limit.has_value()) {
        change.history->set_old_value(*old_limit);
        change.history->set_new_value(*change.limit);
      }
      if (change.ratio.has_value()) {
        change.history->set_old_ratio(
            sources_[source].file.threshold(number).max_ratio().ratio());
        change.history->set_new_ratio(*change.ratio);
      }
    }
    plan_.changes[source].push_back(change);
    plan_.descriptions.push_back(description);
  }

  std::string DescribeChange(size_t source, int number,
                             const ThresholdChange& change,
                             const absl::optional<int64_t>& old_limit) const {
    const Threshold& threshold = sources_[source].file.threshold(number);
    const MetricKind metric = threshold.metric();
    std::string text =
        absl::StrCat(sources_[source].LocationOf(number), ": ",
                     DescribeSelector(threshold.selector()), " ",
                     absl::string_view(ShortNameOfMetric(metric)), ":");
    if (change.limit.has_value()) {
      absl::StrAppend(&text, " limit ", FormatMetricValue(metric, *old_limit),
                      " -> ", FormatMetricValue(metric, *change.limit));
    }
    if (change.minimum.has_value()) {
      absl::StrAppend(&text, " minimum ",
                      FormatMetricValue(metric, *NumbersOf(threshold).minimum),
                      " -> ", FormatMetricValue(metric, *change.minimum));
    }
    if (change.ratio.has_value()) {
      absl::StrAppend(&text, " ratio ", threshold.max_ratio().ratio(), " -> ",
                      *change.ratio);
    }
    return text;
  }

  const absl::Span<const MemoryProfile> profiles_;
  const absl::Span<const ThresholdSource> sources_;
  const UpdateOptions& options_;
  const MeasurementIndex index_;
  UpdatePlan plan_;
};

const Metric* FindMetric(const BenchmarkMemory& benchmark, MetricKind kind) {
  for (const Metric& metric : benchmark.metrics()) {
    if (metric.kind() == kind) return &metric;
  }
  return nullptr;
}

bool IsNamed(const MemoryProfile& profile, const BenchmarkMemory& benchmark,
             absl::Span<const ThresholdSource> sources) {
  for (const ThresholdSource& source : sources) {
    for (const Threshold& threshold : source.file.threshold()) {
      if (GlobMatches(threshold.selector().label(), profile.label()) &&
          SelectsBenchmark(threshold.selector(), benchmark)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

UpdatePlan PlanUpdate(absl::Span<const MemoryProfile> profiles,
                      absl::Span<const ThresholdSource> sources,
                      const UpdateOptions& options) {
  return Planner(profiles, sources, options).Run();
}

std::vector<Threshold> ThresholdsForNewBenchmarks(
    absl::Span<const MemoryProfile> profiles,
    absl::Span<const ThresholdSource> sources, const UpdateOptions& options,
    bool is_exact) {
  std::vector<Threshold> thresholds;
  for (const MemoryProfile& profile : profiles) {
    for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
      if (!IsSelected(options, profile, benchmark) ||
          IsNamed(profile, benchmark, sources)) {
        continue;
      }
      const Metric* metric = FindMetric(benchmark, PEAK_LIVE_USABLE_BYTES);
      if (metric == nullptr) {
        metric = FindMetric(benchmark, SUM_THREAD_PEAK_USABLE_BYTES);
      }
      if (metric == nullptr) continue;
      Threshold threshold;
      threshold.mutable_selector()->set_label(profile.label());
      threshold.mutable_selector()->set_benchmark(benchmark.name());
      threshold.set_metric(metric->kind());
      if (is_exact) {
        threshold.set_exact_bytes(metric->value());
      } else {
        threshold.set_max_bytes(metric->value());
      }
      threshold.set_reason(options.reason);
      thresholds.push_back(threshold);
    }
  }
  return thresholds;
}

std::vector<Threshold> ThresholdsForEnvironment(
    absl::Span<const MemoryProfile> profiles, const ThresholdSource& model,
    const UpdateOptions& options) {
  std::vector<Threshold> thresholds;
  const MeasurementIndex index(profiles);
  for (const Threshold& old : model.file.threshold()) {
    std::vector<Measurement> found;
    std::set<int64_t> values;
    for (const Measurement& measurement :
         index.Find(old.selector(), old.metric())) {
      const MemoryProfile& profile =
          profiles[static_cast<size_t>(measurement.profile)];
      if (measurement.metric == nullptr ||
          !IsSelected(options, profile,
                      profile.benchmarks(measurement.benchmark))) {
        continue;
      }
      found.push_back(measurement);
      values.insert(measurement.metric->value());
    }
    if (found.empty()) continue;
    Threshold threshold = old;
    threshold.clear_history();
    // A band would be guessed; the value says what holds here.
    threshold.clear_min_bytes();
    threshold.clear_min_count();
    const bool is_exact = old.has_exact_bytes() || old.has_exact_count();
    if (!is_exact || values.size() == 1) {
      SetLimit(*values.rbegin(), &threshold);
      thresholds.push_back(threshold);
      continue;
    }
    for (const Measurement& measurement : found) {
      const MemoryProfile& profile =
          profiles[static_cast<size_t>(measurement.profile)];
      const BenchmarkMemory& benchmark =
          profile.benchmarks(measurement.benchmark);
      Selector* selector = threshold.mutable_selector();
      selector->set_label(profile.label());
      selector->set_benchmark(benchmark.name());
      if (measurement.phase >= 0) {
        selector->set_phase(benchmark.phases(measurement.phase).name());
      }
      SetLimit(measurement.metric->value(), &threshold);
      thresholds.push_back(threshold);
    }
  }
  return thresholds;
}

}  // namespace footprint
