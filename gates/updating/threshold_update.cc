#include "footprint/gates/updating/threshold_update.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "footprint/gates/judge/environment_check.h"
#include "footprint/gates/judge/environment_difference.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/headroom.h"
#include "footprint/gates/judge/limit_history.h"
#include "footprint/gates/judge/measurement_index.h"
#include "footprint/gates/judge/peak_limit.h"
#include "footprint/gates/judge/rules.h"
#include "footprint/gates/judge/selector.h"
#include "footprint/gates/judge/threshold_exceptions.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/gates/judge/threshold_numbers.h"
#include "footprint/gates/judge/update_command.h"
#include "footprint/gates/judge/written_limit.h"
#include "footprint/gates/updating/threshold_edit.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/metric_kind.h"
#include "footprint/profiling/schema/metric_reading.h"
#include "footprint/profiling/schema/profile_merge.h"
#include "footprint/profiling/schema/whole_process_name.h"

namespace footprint {
namespace {

bool IsSelected(const UpdateOptions& options, const MemoryProfile& profile,
                const BenchmarkMemory& benchmark) {
  return GlobMatches(options.label, profile.label()) &&
         GlobMatches(options.benchmark, benchmark.name());
}

// Returns why figures of a profile do not count, or "".
std::string FindDoubt(const MemoryProfile& profile) {
  if (profile.benchmarks_size() == 0) {
    return absl::StrCat(profile.label(), " gave no measurement");
  }
  if (profile.process_count() >= kMinimumProcessCount ||
      profile.has_imported()) {
    return "";
  }
  return absl::StrCat(profile.label(), " was measured in ",
                      profile.process_count(), " processes, and ",
                      kMinimumProcessCount, " show that a figure repeats");
}

std::string FindDoubt(const MemoryProfile& profile,
                      const BenchmarkMemory& benchmark) {
  const std::string doubt = FindDoubt(profile);
  if (!doubt.empty() || benchmark.forked_process_count() == 0) return doubt;
  return absl::StrCat(
      DescribeMeasurement(profile.label(), benchmark.name(), ""),
      " started child processes, whose memory is not in its figures");
}

// Returns whether `selector`, which finds `found` in the profile, may also name
// a benchmark that failed, whose name the profile does not have.
bool MayNameFailed(const MemoryProfile& profile, const Selector& selector,
                   const std::vector<int>& found) {
  const bool is_one = !selector.benchmark().empty() &&
                      IsLiteral(selector.benchmark()) && !found.empty();
  return profile.has_failure() && !is_one;
}

// Returns the advice for a threshold that also names benchmarks that the
// options leave out.
std::string DescribeWholeSelection(const Selector& selector) {
  return absl::StrCat(
      " too, which --only and --benchmark leave out; name all that it "
      "names: --only=",
      ShellQuote(selector.label()),
      selector.benchmark().empty() ? "" : " --benchmark=",
      selector.benchmark().empty() ? "" : ShellQuote(selector.benchmark()));
}

// Returns the first maximum if no headroom is stated. A resident set varies
// from run to run, so its maximum is higher by a fifth of the program's own
// memory, or by at least 512 KiB. The pages of libraries vary by less than that
// (base_comparison.cc), so they need no headroom of their own.
int64_t FirstMaximum(const BenchmarkMemory& benchmark, const Metric& metric) {
  constexpr int64_t kLeastSpareBytes = 512 << 10;
  if (metric.kind() != PEAK_RESIDENT_BYTES) return metric.value();
  const Metric* const own =
      FindMetric(benchmark.metrics(), RESIDENT_ANONYMOUS_BYTES);
  const int64_t own_bytes = own == nullptr ? metric.value() : own->value();
  return AddUpToLargest(metric.value(),
                        std::max(own_bytes / 5, kLeastSpareBytes));
}

// All measurements of one threshold in profiles that its file may judge.
struct Named {
  std::vector<Measurement> found;  // with a value
  bool is_selected = false;
  std::string left_out;  // a benchmark that the options leave out
  std::string doubt;     // why some of it does not count
  bool is_unrepeated = false;
  bool has_weaker = false;  // a measurement that is not EXACT
};

// Sets the history entry of a change.
void WriteHistory(const UpdateOptions& options, const Threshold& threshold,
                  bool is_increase, const absl::optional<int64_t>& old_limit,
                  ThresholdChange* change) {
  HistoryEntry entry;
  entry.set_date(DateOfNextEntry(threshold, options.date));
  entry.set_reason(!options.reason.empty() ? options.reason
                   : is_increase           ? "measured more"
                   : change->limit.has_value() && !old_limit.has_value()
                       ? "first measured"
                       : "measured less");
  if (is_increase) entry.set_expires(options.expires);
  if (change->limit.has_value()) {
    if (old_limit.has_value()) entry.set_old_value(*old_limit);
    entry.set_new_value(*change->limit);
  }
  if (change->minimum.has_value()) {
    entry.set_old_minimum(*ReadNumbers(threshold).minimum);
    entry.set_new_minimum(*change->minimum);
  }
  if (change->ratio.has_value()) {
    entry.set_old_ratio(threshold.max_ratio().ratio());
    entry.set_new_ratio(*change->ratio);
  }
  change->history = entry;
}

std::string DescribeChange(const ThresholdSource& source, int number,
                           const ThresholdChange& change,
                           const absl::optional<int64_t>& old_limit) {
  const Threshold& threshold = source.file.threshold(number);
  const MetricKind metric = threshold.metric();
  std::string text =
      absl::StrCat(source.DescribeLocation(number), ": ",
                   DescribeSelector(threshold.selector()), " ",
                   absl::string_view(ShortNameOfMetric(metric)), ":");
  if (change.limit.has_value()) {
    absl::StrAppend(
        &text, " limit ",
        old_limit.has_value()
            ? absl::StrCat(FormatMetricValue(metric, *old_limit), " -> ")
            : "",
        FormatMetricValue(metric, *change.limit));
  }
  if (change.minimum.has_value()) {
    absl::StrAppend(&text, " minimum ",
                    FormatMetricValue(metric, *ReadNumbers(threshold).minimum),
                    " -> ", FormatMetricValue(metric, *change.minimum));
  }
  if (change.ratio.has_value()) {
    absl::StrAppend(&text, " ratio ", threshold.max_ratio().ratio(), " -> ",
                    *change.ratio);
  }
  return text;
}

// Returns the threshold's limit. If it awaits its figure, this is the last
// limit of its history, if there is one.
absl::optional<int64_t> FindOldLimit(const Threshold& threshold) {
  if (!AwaitsFigure(threshold)) return ReadNumbers(threshold).limit();
  absl::optional<int64_t> last;
  for (const HistoryEntry& entry : threshold.history()) {
    if (entry.has_new_value()) last = entry.new_value();
  }
  return last;
}

// Converts the new numbers to the form of the threshold's written limits,
// rounded so that they hold. Removes a number that does not change.
void WriteAsBefore(const Threshold& threshold, int64_t measured,
                   ThresholdChange* change) {
  const MetricKind metric = threshold.metric();
  const ThresholdNumbers old = ReadNumbers(threshold);
  Threshold written = threshold;
  written.clear_rule();
  written.clear_min_bytes();
  written.clear_min_count();
  if (change->limit.has_value() && !threshold.max().empty()) {
    change->written_limit =
        RewriteMaximum(threshold.max(), metric, measured, *change->limit);
    written.set_max(change->written_limit);
  }
  if (change->minimum.has_value() && !threshold.min().empty()) {
    change->written_minimum =
        RewriteMinimum(threshold.min(), metric, *change->minimum);
    written.set_min(change->written_minimum);
  }
  ResolveWrittenLimits(&written);
  const ThresholdNumbers now = ReadNumbers(written);
  if (!change->written_limit.empty()) {
    change->limit = now.maximum;
    if (change->limit == old.maximum && !AwaitsFigure(threshold)) {
      change->limit = absl::nullopt;
    }
  }
  if (!change->written_minimum.empty()) {
    change->minimum = now.minimum;
    if (change->minimum == old.minimum) change->minimum = absl::nullopt;
  }
}

class Planner {
 public:
  Planner(absl::Span<const MemoryProfile> profiles,
          absl::Span<const ThresholdSource> sources,
          const UpdateOptions& options)
      : profiles_(profiles),
        sources_(sources),
        options_(options),
        index_(profiles),
        exceptions_(sources) {
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
  // Plans the change of one threshold. Rules over samples are not updated.
  void Plan(size_t source, int number) {
    const Threshold& threshold = sources_[source].file.threshold(number);
    if (ComputeScope(threshold) == RuleScope::kSamples) return;
    named_ = Named();
    for (int profile : index_.FindProfiles(threshold.selector().label())) {
      const MemoryProfile& measured = index_.ProfileAt(profile);
      if (!IsForEnvironment(measured, sources_[source])) continue;
      Doubt(FindDoubt(measured));
      const std::vector<int> benchmarks =
          index_.FindBenchmarks(profile, threshold.selector());
      DoubtFailed(measured, threshold.selector(), benchmarks);
      for (int benchmark : benchmarks) Find(source, number, profile, benchmark);
    }
    if (!named_.is_selected) return;
    if (named_.found.empty()) {
      if (named_.is_unrepeated && threshold.severity() <= BLOCK) {
        plan_.refusals.push_back(absl::StrCat(
            sources_[source].DescribeLocation(number), ": ", named_.doubt));
      }
      return;
    }
    const auto by_value = [](const Measurement& a, const Measurement& b) {
      return a.metric->value() < b.metric->value();
    };
    const auto [low, high] =
        std::minmax_element(named_.found.begin(), named_.found.end(), by_value);
    PlanFor(source, number, *low, *high);
  }

  // Keeps the first reason why a measurement does not count.
  void Doubt(const std::string& doubt) {
    if (named_.doubt.empty()) named_.doubt = doubt;
  }

  void DoubtFailed(const MemoryProfile& profile, const Selector& selector,
                   const std::vector<int>& found) {
    if (!MayNameFailed(profile, selector, found)) return;
    Doubt(profile.label() +
          " has benchmarks that failed, which the threshold may name");
  }

  // Adds to `named_` what the threshold judges in one benchmark.
  void Find(size_t source, int number, int profile, int benchmark) {
    const Threshold& threshold = sources_[source].file.threshold(number);
    const MemoryProfile& measured = index_.ProfileAt(profile);
    const BenchmarkMemory& memory = measured.benchmarks(benchmark);
    const std::string name =
        DescribeMeasurement(measured.label(), memory.name(), "");
    std::vector<Measurement> found;
    const bool is_whole = index_.AppendMeasurements(
        profile, benchmark, threshold.selector(), threshold.metric(), &found);
    const size_t named_count = found.size();
    const auto gives_way = [&](const Measurement& one) {
      return exceptions_
          .Find(source, number, measured, memory, index_.PhaseAt(one))
          .has_value();
    };
    found.erase(std::remove_if(found.begin(), found.end(), gives_way),
                found.end());
    if (found.empty() && named_count > 0) return;
    if (IsSelected(options_, measured, memory)) {
      named_.is_selected = true;
    } else {
      named_.left_out = name;
    }
    Doubt(FindDoubt(measured, memory));
    if (!is_whole) Doubt(name + " lacks what the threshold judges");
    for (const Measurement& measurement : found) {
      if (measurement.metric == nullptr) {
        named_.is_unrepeated = true;
        Doubt(absl::StrCat(name, " ",
                           index_.WhyNoValue(measurement, threshold.metric())));
        continue;
      }
      named_.has_weaker |= measurement.metric->determinism() != EXACT;
      named_.found.push_back(measurement);
    }
  }

  // Returns the headroom of the limit itself ("21.8 MB + 10 %"), else that of
  // the options, else that of the file.
  Headroom FindHeadroom(size_t source, const Threshold& threshold) const {
    if (!threshold.max().empty()) {
      const absl::StatusOr<WrittenLimit> written =
          ParseWrittenLimit(threshold.max(), threshold.metric());
      if (written.ok() &&
          written->above.above_case() != Headroom::ABOVE_NOT_SET) {
        return written->above;
      }
    }
    return options_.headroom.has_value() ? *options_.headroom
                                         : sources_[source].file.headroom();
  }

  void PlanFor(size_t source, int number, const Measurement& low,
               const Measurement& high) {
    const Threshold& threshold = sources_[source].file.threshold(number);
    MeasuredRange range;
    range.lowest = low.metric->value();
    range.highest = high.metric->value();
    range.headroom = FindHeadroom(source, threshold);
    const Measurement* const baseline = FindMeasuredBaseline(threshold);
    if (baseline != nullptr) range.baseline = baseline->metric->value();
    const NumberChange wanted = ComputeUpdate(threshold, range);
    if (wanted.is_ambiguous) return RefuseDifferent(source, number, low, high);
    if (!wanted.refusal.empty()) {
      plan_.refusals.push_back(absl::StrCat(
          sources_[source].DescribeLocation(number), ": ", wanted.refusal));
      return;
    }
    if (ReadNumbers(threshold).exact.has_value() && named_.has_weaker) {
      Doubt(Describe(low) + " is not EXACT");
    }
    if (wanted.ratio.has_value()) DoubtBaseline(threshold, *baseline);
    ThresholdChange change;
    change.threshold = number;
    change.limit = wanted.limit;
    change.minimum = wanted.minimum;
    change.ratio = wanted.ratio;
    // A figure of zero must be written too.
    if (AwaitsFigure(threshold)) change.limit = wanted.limit.value_or(0);
    WriteAsBefore(threshold, range.highest, &change);
    Commit(source, number, change, FindOldLimit(threshold));
  }

  // Returns the baseline of the threshold's ratio, or null. Evaluate reports a
  // bad baseline.
  const Measurement* FindMeasuredBaseline(const Threshold& threshold) {
    const Selector* const selector = FindBaseline(threshold);
    if (selector == nullptr) return nullptr;
    baseline_ = index_.Find(*selector, threshold.metric());
    const bool is_good = baseline_.size() == 1 &&
                         baseline_[0].metric != nullptr &&
                         baseline_[0].metric->value() > 0;
    return is_good ? &baseline_[0] : nullptr;
  }

  void DoubtBaseline(const Threshold& threshold, const Measurement& baseline) {
    Doubt(FindDoubt(index_.ProfileAt(baseline.profile),
                    index_.BenchmarkAt(baseline)));
    const Selector& selector = *FindBaseline(threshold);
    for (int profile : index_.FindProfiles(selector.label())) {
      DoubtFailed(index_.ProfileAt(profile), selector,
                  index_.FindBenchmarks(profile, selector));
    }
  }

  void RefuseDifferent(size_t source, int number, const Measurement& low,
                       const Measurement& high) {
    plan_.refusals.push_back(absl::StrCat(
        sources_[source].DescribeLocation(number),
        ": names measurements of different values, so no exact value holds: ",
        Describe(low), " and ", Describe(high),
        "; give each a threshold of its own"));
  }

  std::string Describe(const Measurement& found) const {
    return absl::StrCat(
        index_.Describe(found), " ",
        FormatMetricValue(found.metric->kind(), found.metric->value()));
  }

  // Adds a change to the plan, or its refusal.
  void Commit(size_t source, int number, ThresholdChange change,
              const absl::optional<int64_t>& old_limit) {
    if (!change.limit.has_value() && !change.minimum.has_value() &&
        !change.ratio.has_value()) {
      return;
    }
    const bool is_increase =
        change.ratio.has_value() ||
        (change.limit.has_value() && old_limit.has_value() &&
         *change.limit > *old_limit);
    const std::string description =
        DescribeChange(sources_[source], number, change, old_limit);
    const std::string refusal =
        WhyNot(sources_[source].file.threshold(number), change, is_increase);
    if (!refusal.empty()) {
      plan_.refusals.push_back(description + refusal);
      return;
    }
    WriteHistory(options_, sources_[source].file.threshold(number), is_increase,
                 old_limit, &change);
    plan_.changes[source].push_back(change);
    plan_.descriptions.push_back(
        description + DescribeOtherDate(*change.history, options_.date));
  }

  // Returns why a change is not made, or "".
  std::string WhyNot(const Threshold& threshold, const ThresholdChange& change,
                     bool is_increase) const {
    if (!named_.doubt.empty()) {
      return absl::StrCat(" does not count, since ", named_.doubt);
    }
    if (!is_increase && change.limit.has_value() && named_.has_weaker &&
        !AwaitsFigure(threshold)) {
      return " does not count, since a limit comes down only for EXACT figures";
    }
    const ThresholdNumbers old = ReadNumbers(threshold);
    const bool is_loosened =
        is_increase || (change.minimum.has_value() &&
                        *change.minimum < old.minimum.value_or(0));
    if (is_loosened && !named_.left_out.empty()) {
      return absl::StrCat(" would loosen it for ", named_.left_out,
                          DescribeWholeSelection(threshold.selector()));
    }
    if (is_increase && !options_.allow_increase) {
      return " is an increase; allow it with --allow_increase --reason=\"...\"";
    }
    return "";
  }

  const absl::Span<const MemoryProfile> profiles_;
  const absl::Span<const ThresholdSource> sources_;
  const UpdateOptions& options_;
  const MeasurementIndex index_;
  const ThresholdExceptions exceptions_;
  Named named_;                        // of the threshold that is planned
  std::vector<Measurement> baseline_;  // of its ratio
  UpdatePlan plan_;
};

// One call of ThresholdsForEnvironment.
class EnvironmentPlanner {
 public:
  EnvironmentPlanner(absl::Span<const MemoryProfile> profiles,
                     absl::Span<const ThresholdSource> sources,
                     const UpdateOptions& options)
      : profiles_(profiles),
        sources_(sources),
        options_(options),
        index_(profiles) {}

  NewThresholds Run() {
    for (size_t i = 0; i < profiles_.size(); ++i) {
      if (!GlobMatches(options_.label, profiles_[i].label())) continue;
      std::vector<const ThresholdSource*> foreign;
      for (const ThresholdSource& source : sources_) {
        if (!source.file.has_environment()) continue;
        if (IsForEnvironment(profiles_[i], source)) {
          NoteKept(static_cast<int>(i), source);
        } else {
          foreign.push_back(&source);
        }
      }
      const auto distance = [&](const ThresholdSource* source) {
        return CountDifferences(profiles_[i].environment(),
                                source->file.environment());
      };
      std::stable_sort(foreign.begin(), foreign.end(),
                       [&](const auto* a, const auto* b) {
                         return distance(a) < distance(b);
                       });
      for (const ThresholdSource* source : foreign) {
        for (const Threshold& threshold : source->file.threshold()) {
          Translate(threshold, static_cast<int>(i));
        }
      }
    }
    return std::move(added_);
  }

 private:
  std::vector<Measurement> Find(const Threshold& threshold, int profile) const {
    std::vector<Measurement> found;
    const MemoryProfile& measured = index_.ProfileAt(profile);
    if (!GlobMatches(threshold.selector().label(), measured.label())) {
      return found;
    }
    for (int benchmark : index_.FindBenchmarks(profile, threshold.selector())) {
      index_.AppendMeasurements(profile, benchmark, threshold.selector(),
                                threshold.metric(), &found);
    }
    return found;
  }

  void NoteKept(int profile, const ThresholdSource& source) {
    for (const Threshold& threshold : source.file.threshold()) {
      for (const Measurement& found : Find(threshold, profile)) {
        kept_.insert(MakeKey(found, threshold.metric()));
      }
    }
  }

  // Adds the threshold of another environment with the values of `profile`.
  void Translate(const Threshold& old, int profile) {
    const MemoryProfile& measured = index_.ProfileAt(profile);
    std::vector<Measurement> found;
    std::set<int64_t> values;
    // True if all that `old` selects was measured and lacks a threshold here.
    bool is_whole =
        !MayNameFailed(measured, old.selector(),
                       index_.FindBenchmarks(profile, old.selector()));
    // Collects the measurements that need a threshold here.
    for (const Measurement& one : Find(old, profile)) {
      const BenchmarkMemory& benchmark = measured.benchmarks(one.benchmark);
      if (!IsSelected(options_, measured, benchmark) ||
          kept_.count(MakeKey(one, old.metric())) > 0) {
        is_whole = false;
        continue;
      }
      kept_.insert(MakeKey(one, old.metric()));
      const std::string doubt =
          one.metric == nullptr
              ? absl::StrCat("it ", index_.WhyNoValue(one, old.metric()))
              : FindDoubt(measured, benchmark);
      if (!doubt.empty()) {
        added_.refusals.push_back(absl::StrCat("no threshold was added for ",
                                               index_.Describe(one), ", since ",
                                               doubt));
        is_whole = false;
        continue;
      }
      found.push_back(one);
      values.insert(one.metric->value());
    }
    if (found.empty()) return;
    const bool is_exact = old.has_exact_bytes() || old.has_exact_count();
    // One threshold with the old selector is enough if one number fits all
    // measurements.
    if (is_whole && (!is_exact || values.size() == 1)) {
      const bool is_minimum = old.rule_case() == Threshold::RULE_NOT_SET;
      Selector selector = old.selector();
      // Other profiles that the label names get their own thresholds.
      selector.set_label(EscapeGlob(measured.label()));
      return Add(old, selector,
                 is_minimum ? *values.begin() : *values.rbegin());
    }
    // Otherwise each measurement gets its own threshold.
    for (const Measurement& one : found) {
      Selector selector = old.selector();
      selector.set_label(EscapeGlob(measured.label()));
      selector.set_benchmark(
          EscapeGlob(measured.benchmarks(one.benchmark).name()));
      if (one.phase >= 0) selector.set_phase(EscapeGlob(index_.PhaseAt(one)));
      Add(old, selector, one.metric->value());
    }
  }

  void Add(const Threshold& old, const Selector& selector, int64_t value) {
    Threshold threshold = old;
    *threshold.mutable_selector() = selector;
    threshold.clear_history();
    // The number fields hold what the written limits mean.
    threshold.clear_max();
    threshold.clear_min();
    if (threshold.rule_case() == Threshold::RULE_NOT_SET) {
      FindNumber(threshold, MINIMUM)->Set(value, &threshold);
    } else {
      // The width of a band here would be a guess, so the limit is one value.
      threshold.clear_min_bytes();
      threshold.clear_min_count();
      // A maximum that holds here too keeps its headroom.
      const NumberField* const limit = FindLimit(threshold);
      if (limit != nullptr) {
        limit->Set(std::max(value, ReadNumbers(old).maximum.value_or(value)),
                   &threshold);
      }
    }
    *threshold.add_history() = FirstEntry(
        threshold, options_.date,
        options_.reason.empty() ? "first measured in this environment"
                                : options_.reason);
    added_.thresholds.push_back(threshold);
  }

  const absl::Span<const MemoryProfile> profiles_;
  const absl::Span<const ThresholdSource> sources_;
  const UpdateOptions& options_;
  const MeasurementIndex index_;
  std::set<MeasurementKey> kept_;  // judged by the profile's own environment
  NewThresholds added_;
};

// Returns whether a threshold that judges the whole region of the benchmark
// where it was measured satisfies `is_wanted`.
template <typename IsWanted>
bool HasThreshold(const MemoryProfile& profile,
                  const BenchmarkMemory& benchmark,
                  absl::Span<const ThresholdSource> sources,
                  const ThresholdExceptions& exceptions, IsWanted is_wanted) {
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!IsForEnvironment(profile, sources[i])) continue;
    for (int j = 0; j < sources[i].file.threshold_size(); ++j) {
      const Threshold& threshold = sources[i].file.threshold(j);
      if (GlobMatches(threshold.selector().label(), profile.label()) &&
          SelectsBenchmark(threshold.selector(), benchmark) &&
          is_wanted(threshold) &&
          !exceptions.Find(i, j, profile, benchmark, /*phase=*/"")
               .has_value()) {
        return true;
      }
    }
  }
  return false;
}

bool IsExempt(const MemoryProfile& profile, const BenchmarkMemory& benchmark,
              absl::Span<const ThresholdSource> sources) {
  for (const ThresholdSource& source : sources) {
    if (!IsForEnvironment(profile, source)) continue;
    for (const Exemption& exemption : source.file.exemption()) {
      if (GlobMatches(exemption.selector().label(), profile.label()) &&
          SelectsBenchmark(exemption.selector(), benchmark)) {
        return true;
      }
    }
  }
  return false;
}

// Returns whether the benchmark's peak has a limit or needs none
// (peak_limit.h).
bool IsLimited(const MemoryProfile& profile, const BenchmarkMemory& benchmark,
               absl::Span<const ThresholdSource> sources,
               const ThresholdExceptions& exceptions) {
  return IsExempt(profile, benchmark, sources) ||
         HasThreshold(profile, benchmark, sources, exceptions,
                      [&benchmark](const Threshold& threshold) {
                        return LimitsPeak(threshold, benchmark);
                      });
}

// Returns whether a rule limits the metric over the whole measured region.
bool IsLimited(const MemoryProfile& profile, const BenchmarkMemory& benchmark,
               MetricKind metric, absl::Span<const ThresholdSource> sources,
               const ThresholdExceptions& exceptions) {
  return HasThreshold(profile, benchmark, sources, exceptions,
                      [metric](const Threshold& threshold) {
                        return threshold.metric() == metric &&
                               IsBlocking(threshold) &&
                               LimitsAbove(threshold) &&
                               threshold.selector().phase().empty();
                      });
}

// Returns the metrics that limit a new benchmark: its peak, and the bytes that
// it maps besides its heap. Returns none if no peak of it repeated.
std::vector<const Metric*> MetricsToLimit(const BenchmarkMemory& benchmark) {
  const auto find = [&benchmark](MetricKind kind) {
    return FindMetric(benchmark.metrics(), kind);
  };
  if (IsWholeProcessName(benchmark.name())) {
    const Metric* const resident = find(PEAK_RESIDENT_BYTES);
    if (resident == nullptr) return {};
    return {resident};
  }
  const Metric* const mapped = find(PEAK_MAPPED_BYTES);
  for (const MetricKind kind :
       {PEAK_LIVE_USABLE_BYTES, SUM_THREAD_PEAK_USABLE_BYTES}) {
    const Metric* const heap = find(kind);
    if (heap == nullptr) continue;
    if (mapped == nullptr) return {heap};
    return {heap, mapped};
  }
  return {};
}

Threshold FirstThreshold(const MemoryProfile& profile,
                         const BenchmarkMemory& benchmark, const Metric& metric,
                         const UpdateOptions& options,
                         const ThresholdFile& file) {
  Threshold threshold;
  threshold.mutable_selector()->set_label(EscapeGlob(profile.label()));
  threshold.mutable_selector()->set_benchmark(EscapeGlob(benchmark.name()));
  threshold.set_metric(metric.kind());
  if (file.has_environment() && metric.determinism() == EXACT) {
    threshold.set_exact_bytes(metric.value());
  } else {
    threshold.set_max_bytes(
        ComputeMaximum(options.headroom.value_or(file.headroom()),
                       metric.kind(), metric.value())
            .value_or(FirstMaximum(benchmark, metric)));
  }
  threshold.set_reason(options.reason);
  *threshold.add_history() =
      FirstEntry(threshold, options.date,
                 options.reason.empty() ? "first measured" : options.reason);
  return threshold;
}

}  // namespace

UpdatePlan PlanUpdate(absl::Span<const MemoryProfile> profiles,
                      absl::Span<const ThresholdSource> sources,
                      const UpdateOptions& options) {
  return Planner(profiles, sources, options).Run();
}

std::string WhyLeftOut(const Threshold& threshold,
                       absl::Span<const MemoryProfile> profiles,
                       const UpdateOptions& options) {
  if (options.label == "*" && options.benchmark == "*") return "";
  const Selector& selector = threshold.selector();
  bool is_named = false;
  std::string left_out;
  for (const MemoryProfile& profile : profiles) {
    if (!GlobMatches(selector.label(), profile.label())) continue;
    if (!GlobMatches(options.label, profile.label())) {
      left_out = profile.label();
    } else if (options.benchmark == "*") {
      is_named = true;  // also a benchmark that is no longer measured
    }
    for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
      if (!SelectsBenchmark(selector, benchmark)) continue;
      if (IsSelected(options, profile, benchmark)) {
        is_named = true;
      } else {
        left_out = DescribeMeasurement(profile.label(), benchmark.name(), "");
      }
    }
  }
  if (!is_named) return "--only and --benchmark leave it out";
  if (left_out.empty()) return "";
  return absl::StrCat("it names ", left_out, DescribeWholeSelection(selector));
}

NewThresholds ThresholdsForNewBenchmarks(
    absl::Span<const MemoryProfile> profiles,
    absl::Span<const ThresholdSource> sources, const UpdateOptions& options,
    const ThresholdFile& file) {
  NewThresholds added;
  const ThresholdExceptions exceptions(sources);
  for (const MemoryProfile& profile : profiles) {
    for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
      if (!IsSelected(options, profile, benchmark) ||
          IsLimited(profile, benchmark, sources, exceptions)) {
        continue;
      }
      const std::vector<const Metric*> metrics = MetricsToLimit(benchmark);
      std::string doubt = FindDoubt(profile, benchmark);
      if (metrics.empty()) doubt = "it has no peak that repeats";
      if (!doubt.empty()) {
        added.refusals.push_back(absl::StrCat(
            "no threshold was added for ",
            DescribeMeasurement(profile.label(), benchmark.name(), ""),
            ", since ", doubt));
        continue;
      }
      for (const Metric* metric : metrics) {
        if (IsLimited(profile, benchmark, metric->kind(), sources,
                      exceptions)) {
          continue;
        }
        added.thresholds.push_back(
            FirstThreshold(profile, benchmark, *metric, options, file));
      }
    }
  }
  return added;
}

NewThresholds ThresholdsForEnvironment(
    absl::Span<const MemoryProfile> profiles,
    absl::Span<const ThresholdSource> sources, const UpdateOptions& options) {
  return EnvironmentPlanner(profiles, sources, options).Run();
}

absl::StatusOr<Headroom> ParseHeadroom(absl::string_view text) {
  Headroom headroom;
  absl::string_view number = text;
  double percent = 0;
  int64_t bytes = 0;
  if (text == "exact") {
    headroom.set_exact(true);
  } else if (absl::ConsumeSuffix(&number, "%") &&
             absl::SimpleAtod(number, &percent) && percent >= 0 &&
             std::isfinite(percent)) {
    headroom.set_percent(percent);
  } else if (absl::SimpleAtoi(text, &bytes) && bytes >= 0) {
    headroom.set_bytes(bytes);
  } else {
    return absl::InvalidArgumentError(absl::StrCat(
        "there is no headroom \"", text,
        "\"; give exact, a percentage like 10% or bytes like 4096"));
  }
  return headroom;
}

}  // namespace footprint
