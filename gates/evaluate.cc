#include "footprint/gates/evaluate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/gates/environment_difference.h"
#include "footprint/gates/gate.pb.h"
#include "footprint/gates/measurement_index.h"
#include "footprint/gates/nearest_name.h"
#include "footprint/gates/producer_failure.h"
#include "footprint/gates/selector.h"
#include "footprint/gates/threshold_file.h"
#include "footprint/gates/update_command.h"
#include "footprint/profiling/memory_profile.pb.h"
#include "footprint/profiling/metric_kind.h"
#include "footprint/profiling/metric_reading.h"

namespace footprint {
namespace {

// Suggestions compare every name with every other: dear in a great rename.
constexpr int kMaximumSuggestions = 20;

// One rule held against one measurement, before it is put in words.
struct Ruling {
  Measurement measurement;
  size_t source = 0;
  int threshold = 0;
  MetricKind metric = METRIC_KIND_UNSPECIFIED;
  RuleKind rule = RULE_KIND_UNSPECIFIED;
  int64_t limit = 0;
  bool holds = false;

  // Equal for two rules of one sort on one measurement.
  auto Key() const {
    return std::make_tuple(measurement.profile, measurement.benchmark,
                           measurement.phase, static_cast<int>(metric),
                           static_cast<int>(rule));
  }
};

// One call of Evaluate.
class Evaluation {
 public:
  Evaluation(absl::Span<const MemoryProfile> profiles,
             absl::Span<const ThresholdSource> sources,
             const EvaluationOptions& options)
      : profiles_(profiles),
        sources_(sources),
        options_(options),
        command_{options.update_target},
        index_(profiles),
        reached_(profiles.size()),
        foreign_sources_(profiles.size()),
        has_environment_(profiles.size()),
        has_forked_(profiles.size()) {
    for (size_t i = 0; i < profiles.size(); ++i) {
      const auto count = static_cast<size_t>(profiles[i].benchmarks_size());
      reached_[i].resize(count);
      has_forked_[i].resize(count);
    }
  }

  Verdict Run() {
    for (const ThresholdSource& source : sources_) {
      for (const Problem& problem : source.problems) {
        *verdict_.add_problems() = problem;
      }
    }
    if (verdict_.problems_size() == 0) {
      CheckProfiles();
      for (size_t source = 0; source < sources_.size(); ++source) {
        for (int i = 0; i < sources_[source].file.threshold_size(); ++i) {
          Judge(source, i);
        }
      }
      CheckEnvironments();
      CheckEveryBenchmarkIsJudged();
      WriteJudgements();
    }
    Decide();
    return std::move(verdict_);
  }

 private:
  const MemoryProfile& ProfileOf(int profile) const {
    return profiles_[static_cast<size_t>(profile)];
  }
  const BenchmarkMemory& BenchmarkOf(const Measurement& found) const {
    return ProfileOf(found.profile).benchmarks(found.benchmark);
  }
  std::string PhaseOf(const Measurement& found) const {
    return found.phase < 0
               ? ""
               : std::string(BenchmarkOf(found).phases(found.phase).name());
  }
  // Why `found` has no value, as the end of a sentence.
  const char* WhyNoValue(const Measurement& found, MetricKind kind) const {
    const BenchmarkMemory& benchmark = BenchmarkOf(found);
    return WhyUnknown((found.phase < 0
                           ? ReadMetric(benchmark, kind)
                           : ReadMetric(benchmark.phases(found.phase), kind))
                          .knowledge);
  }
  std::string Describe(const Measurement& found) const {
    return DescribeMeasurement(ProfileOf(found.profile).label(),
                               BenchmarkOf(found).name(), PhaseOf(found));
  }

  void AddProblem(Decision decision, const std::string& location,
                  const std::string& message) {
    Problem* problem = verdict_.add_problems();
    problem->set_decision(decision);
    problem->set_location(location);
    problem->set_message(message);
  }

  void CheckProfiles() {
    if (profiles_.empty()) {
      AddProblem(BAD_CONFIGURATION, "profiles",
                 "there is no profile to judge; name at least one "
                 "memory_profile target in the gate");
    }
    for (const MemoryProfile& profile : profiles_) {
      if (profile.has_failure()) {
        AddProblem(PRODUCER_FAILED, profile.label(),
                   DescribeFailure(profile.failure()));
      } else if (profile.benchmarks_size() == 0) {
        AddProblem(PRODUCER_FAILED, profile.label(),
                   "measured no benchmark; run the program and see why");
      }
    }
    for (const MemoryProfile& profile : profiles_) {
      for (const Remark& remark : profile.remarks()) {
        ProducerRemark* const passed_on = verdict_.add_remarks();
        passed_on->set_label(profile.label());
        *passed_on->mutable_remark() = remark;
      }
    }
    for (const auto& duplicate : index_.duplicates()) {
      const MemoryProfile& profile = ProfileOf(duplicate.profile);
      AddProblem(BAD_CONFIGURATION, profile.label(),
                 absl::StrCat("benchmark \"",
                              profile.benchmarks(duplicate.benchmark).name(),
                              "\" is measured twice; name the profile once in "
                              "the gate, or the benchmark otherwise"));
    }
  }

  void Judge(size_t source, int number) {
    const Threshold& threshold = sources_[source].file.threshold(number);
    const std::vector<int> labelled =
        index_.ProfilesOf(threshold.selector().label());
    bool is_judging = false;  // this file is for one of these profiles
    bool is_excused = false;  // it might be for one that was not measured
    bool names_something = false;
    for (int profile : labelled) {
      const auto at = static_cast<size_t>(profile);
      // It may name a benchmark that failed.
      is_excused |=
          profiles_[at].benchmarks_size() == 0 || profiles_[at].has_failure();
      const bool is_for_it =
          IsForEnvironmentOf(profiles_[at], sources_[source]);
      is_judging |= is_for_it;
      if (sources_[source].file.has_environment()) {
        if (is_for_it) has_environment_[at] = true;
        if (!is_for_it && (foreign_sources_[at].empty() ||
                           foreign_sources_[at].back() != source)) {
          foreign_sources_[at].push_back(source);
        }
      }
      for (int benchmark : index_.BenchmarksOf(profile, threshold.selector())) {
        reached_[at][static_cast<size_t>(benchmark)] = true;
        found_.clear();
        index_.AppendMeasurements(profile, benchmark, threshold.selector(),
                                  threshold.metric(), &found_);
        names_something |= !found_.empty();
        for (const Measurement& found : found_) {
          if (is_for_it) JudgeMeasurement(source, number, found);
        }
      }
    }
    if (labelled.empty()) {
      CheckLabel(source, number);
    } else if (is_judging && !is_excused && !names_something) {
      ExplainUnmatched(source, number, labelled);
    }
  }

  static bool IsBlocking(const Threshold& threshold) {
    return threshold.severity() == BLOCK ||
           threshold.severity() == SEVERITY_UNSPECIFIED;
  }

  void JudgeMeasurement(size_t source, int number, const Measurement& found) {
    const Threshold& threshold = sources_[source].file.threshold(number);
    CheckForked(found, IsBlocking(threshold));
    if (found.metric == nullptr) {
      AddProblem(IsBlocking(threshold) ? INCONCLUSIVE : ACCEPT,
                 sources_[source].LocationOf(number),
                 absl::StrCat(SchemaNameOfMetric(threshold.metric()), " of ",
                              Describe(found), " ",
                              WhyNoValue(found, threshold.metric()),
                              ", so no rule can be held against it; make it "
                              "repeat, or "
                              "judge a metric that does (with threads: "
                              "SUM_THREAD_PEAK_USABLE_BYTES)"));
      return;
    }
    AddRuleOf(source, number, found);
    if (threshold.has_min_bytes()) {
      AddRuling(source, number, found, MINIMUM, threshold.min_bytes());
    }
    if (threshold.has_min_count()) {
      AddRuling(source, number, found, MINIMUM, threshold.min_count());
    }
  }

  void AddRuleOf(size_t source, int number, const Measurement& found) {
    const Threshold& threshold = sources_[source].file.threshold(number);
    int64_t baseline = 0;
    switch (threshold.rule_case()) {
      case Threshold::kMaxBytes:
        return AddRuling(source, number, found, MAXIMUM, threshold.max_bytes());
      case Threshold::kMaxCount:
        return AddRuling(source, number, found, MAXIMUM, threshold.max_count());
      case Threshold::kExactBytes:
        return AddRuling(source, number, found, EXACT_VALUE,
                         threshold.exact_bytes());
      case Threshold::kExactCount:
        return AddRuling(source, number, found, EXACT_VALUE,
                         threshold.exact_count());
      case Threshold::kMaxRatio:
        if (FindBaseline(source, number, &baseline)) {
          AddRuling(source, number, found, MAXIMUM_RATIO,
                    RatioLimit(threshold.max_ratio().ratio(), baseline));
        }
        return;
      case Threshold::RULE_NOT_SET:
        return;
    }
  }

  void AddRuling(size_t source, int number, const Measurement& found,
                 RuleKind rule, int64_t limit) {
    Ruling ruling;
    ruling.measurement = found;
    ruling.source = source;
    ruling.threshold = number;
    ruling.metric = found.metric->kind();
    ruling.rule = rule;
    ruling.limit = limit;
    const int64_t value = found.metric->value();
    ruling.holds = rule == EXACT_VALUE ? value == limit
                   : rule == MINIMUM   ? value >= limit
                                       : value <= limit;
    rulings_.push_back(ruling);
  }

  // Children are not in the figures. Said once a benchmark.
  void CheckForked(const Measurement& found, bool is_blocking) {
    const BenchmarkMemory& benchmark = BenchmarkOf(found);
    if (benchmark.forked_process_count() == 0 || !is_blocking) return;
    auto said = has_forked_[static_cast<size_t>(found.profile)].begin() +
                found.benchmark;
    if (*said) return;
    *said = true;
    AddProblem(INCONCLUSIVE, ProfileOf(found.profile).label(),
               absl::StrCat("benchmark \"", benchmark.name(), "\" started ",
                            benchmark.forked_process_count(),
                            " child processes, whose memory is not in its "
                            "figures; measure them as programs of their own"));
  }

  // False, and a problem unless one already says why, if there is none.
  bool FindBaseline(size_t source, int number, int64_t* value) {
    const Threshold& threshold = sources_[source].file.threshold(number);
    const Selector& selector = threshold.max_ratio().baseline();
    const std::vector<Measurement> found =
        index_.Find(selector, threshold.metric());
    std::string wrong;
    Decision decision = BAD_CONFIGURATION;
    if (found.empty()) {
      for (int profile : index_.ProfilesOf(selector.label())) {
        if (ProfileOf(profile).has_failure()) return false;
      }
      wrong = "is not measured here";
    } else if (found.size() > 1) {
      wrong = absl::StrCat("is ambiguous: it names ", found.size(),
                           " measurements, among them ", Describe(found[0]),
                           " and ", Describe(found[1]));
    } else if (found[0].metric == nullptr) {
      wrong = WhyNoValue(found[0], threshold.metric());
      decision = IsBlocking(threshold) ? INCONCLUSIVE : ACCEPT;
    } else if (found[0].metric->value() <= 0) {
      wrong = absl::StrCat("is ", found[0].metric->value(),
                           ", and a ratio needs one above zero");
    } else {
      *value = found[0].metric->value();
      return true;
    }
    const std::string location = sources_[source].LocationOf(number);
    // A selector that names many measurements has one baseline all the same.
    if (location == last_bad_baseline_) return false;
    last_bad_baseline_ = location;
    AddProblem(decision, location,
               absl::StrCat("the baseline ", DescribeSelector(selector), " ",
                            SchemaNameOfMetric(threshold.metric()), " ", wrong,
                            "; correct max_ratio.baseline"));
    return false;
  }

  void CheckLabel(size_t source, int number) {
    if (!options_.is_complete) return;
    const std::string& label =
        sources_[source].file.threshold(number).selector().label();
    std::vector<std::string> labels;
    for (const MemoryProfile& profile : profiles_) {
      labels.push_back(profile.label());
    }
    AddProblem(BAD_CONFIGURATION, sources_[source].LocationOf(number),
               absl::StrCat("no profile of this gate has the label ", label,
                            Suggest(label, labels),
                            "; add the profile to the gate, or take the "
                            "threshold away"));
  }

  std::string Suggest(const std::string& name,
                      const std::vector<std::string>& known) {
    return ++suggestions_ > kMaximumSuggestions ? "" : DidYouMean(name, known);
  }

  void ExplainUnmatched(size_t source, int number,
                        const std::vector<int>& labelled) {
    const Threshold& threshold = sources_[source].file.threshold(number);
    const Selector& selector = threshold.selector();
    std::vector<std::string> names, phases, metrics;
    bool names_benchmark = false;
    for (int profile : labelled) {
      for (const BenchmarkMemory& benchmark : ProfileOf(profile).benchmarks()) {
        names.push_back(benchmark.name());
        names_benchmark |= selector.benchmark().empty() ||
                           GlobMatches(selector.benchmark(), benchmark.name());
      }
      for (int benchmark : index_.BenchmarksOf(profile, selector)) {
        CollectNames(ProfileOf(profile).benchmarks(benchmark), selector.phase(),
                     &phases, &metrics);
      }
    }
    std::string why;
    if (!names_benchmark) {
      why = absl::StrCat("no benchmark is named \"", selector.benchmark(), "\"",
                         Suggest(selector.benchmark(), names));
    } else if (phases.empty() && metrics.empty()) {
      why = "no benchmark of that name has these arguments";
    } else if (metrics.empty()) {
      why = absl::StrCat("there is no phase \"", selector.phase(), "\"",
                         Suggest(selector.phase(), phases));
    } else {
      const std::string metric = SchemaNameOfMetric(threshold.metric());
      why = absl::StrCat(metric, " is not in the profile",
                         Suggest(metric, metrics));
    }
    AddProblem(
        BAD_CONFIGURATION, sources_[source].LocationOf(number),
        absl::StrCat("matches nothing: ", DescribeSelector(selector), ": ", why,
                     "; correct the selector, or take the threshold "
                     "away"));
  }

  // Names of a benchmark's phases, and of the metrics where `phase` fits.
  static void CollectNames(const BenchmarkMemory& benchmark,
                           const std::string& phase,
                           std::vector<std::string>* phases,
                           std::vector<std::string>* metrics) {
    const auto collect = [metrics](const auto& measured) {
      for (const Metric& metric : measured.metrics()) {
        metrics->push_back(SchemaNameOfMetric(metric.kind()));
      }
    };
    if (phase.empty()) {
      metrics->push_back("");
      collect(benchmark);
      return;
    }
    phases->push_back("");
    for (const Phase& measured : benchmark.phases()) {
      phases->push_back(measured.name());
      if (!GlobMatches(phase, measured.name())) continue;
      metrics->push_back("");
      collect(measured);
    }
  }

  void CheckEnvironments() {
    for (size_t i = 0; i < profiles_.size(); ++i) {
      if (has_environment_[i] || foreign_sources_[i].empty() ||
          profiles_[i].has_failure()) {
        continue;
      }
      const ThresholdSource* nearest = nullptr;
      for (size_t source : foreign_sources_[i]) {
        const ThresholdSource& candidate = sources_[source];
        if (nearest == nullptr ||
            CountDifferences(profiles_[i].environment(),
                             candidate.file.environment()) <
                CountDifferences(profiles_[i].environment(),
                                 nearest->file.environment())) {
          nearest = &candidate;
        }
      }
      const std::string path =
          PathForEnvironment(nearest->path, profiles_[i].environment(),
                             nearest->file.environment());
      AddProblem(
          ENVIRONMENT_MISMATCH, profiles_[i].label(),
          absl::StrCat("thresholds are kept for other environments only; here ",
                       DescribeDifference(profiles_[i].environment(),
                                          nearest->file.environment()),
                       " in ", nearest->path,
                       "; measure there, or accept this environment with: ",
                       command_.ToBless(profiles_[i].label(), path)));
    }
  }

  void CheckEveryBenchmarkIsJudged() {
    for (size_t i = 0; i < profiles_.size(); ++i) {
      for (size_t j = 0; j < reached_[i].size(); ++j) {
        if (reached_[i][j]) continue;
        const std::string& name =
            profiles_[i].benchmarks(static_cast<int>(j)).name();
        AddProblem(BAD_CONFIGURATION, profiles_[i].label(),
                   absl::StrCat("no threshold judges benchmark \"", name,
                                "\"; add what it needs now with: ",
                                command_.ToAdd(profiles_[i].label(), name)));
      }
    }
  }

  void WriteJudgements() {
    std::stable_sort(
        rulings_.begin(), rulings_.end(),
        [](const Ruling& a, const Ruling& b) { return a.Key() < b.Key(); });
    verdict_.mutable_judgements()->Reserve(static_cast<int>(rulings_.size()));
    for (size_t i = 0; i < rulings_.size(); ++i) {
      if (i > 0 && rulings_[i - 1].Key() == rulings_[i].Key()) {
        ReportConflict(rulings_[i - 1], rulings_[i]);
      }
      WriteJudgement(rulings_[i]);
    }
  }

  void ReportConflict(const Ruling& first, const Ruling& second) {
    AddProblem(BAD_CONFIGURATION,
               sources_[second.source].LocationOf(second.threshold),
               absl::StrCat("is a second rule of the same sort for ",
                            SchemaNameOfMetric(second.metric), " of ",
                            Describe(second.measurement), "; the other is at ",
                            sources_[first.source].LocationOf(first.threshold),
                            "; narrow one of the two selectors"));
  }

  void WriteJudgement(const Ruling& ruling) {
    const Measurement& found = ruling.measurement;
    const ThresholdSource& source = sources_[ruling.source];
    const Threshold& threshold = source.file.threshold(ruling.threshold);
    Judgement* judgement = verdict_.add_judgements();
    judgement->set_label(ProfileOf(found.profile).label());
    judgement->set_benchmark(BenchmarkOf(found).name());
    judgement->set_phase(PhaseOf(found));
    judgement->set_metric(ruling.metric);
    judgement->set_measured(found.metric->value());
    judgement->set_limit(ruling.limit);
    judgement->set_rule(ruling.rule);
    judgement->set_severity(IsBlocking(threshold) ? BLOCK
                                                  : threshold.severity());
    judgement->set_decision(ruling.holds ? ACCEPT : REJECT);
    judgement->set_threshold_location(source.LocationOf(ruling.threshold));
    if (ruling.holds) return;
    judgement->set_command_to_accept(
        command_.ToAccept(judgement->label(), judgement->benchmark(),
                          judgement->measured() > judgement->limit()));
  }

  // The first of the order in gate.proto that applies.
  void Decide() {
    constexpr Decision kOrder[] = {BAD_CONFIGURATION, REJECT, PRODUCER_FAILED,
                                   ENVIRONMENT_MISMATCH, INCONCLUSIVE};
    bool applies[Decision_ARRAYSIZE] = {};
    for (const Problem& problem : verdict_.problems()) {
      applies[problem.decision()] = true;
    }
    for (const Judgement& judgement : verdict_.judgements()) {
      if (judgement.severity() == BLOCK) applies[judgement.decision()] = true;
    }
    for (Decision decision : kOrder) {
      if (!applies[decision]) continue;
      verdict_.set_decision(decision);
      return;
    }
    verdict_.set_decision(ACCEPT);
  }

  const absl::Span<const MemoryProfile> profiles_;
  const absl::Span<const ThresholdSource> sources_;
  const EvaluationOptions& options_;
  const UpdateCommand command_;
  const MeasurementIndex index_;
  Verdict verdict_;
  std::vector<Ruling> rulings_;
  std::vector<Measurement> found_;  // kept for its memory
  // By profile and benchmark: some threshold names it.
  std::vector<std::vector<bool>> reached_;
  // By profile: files that are kept for another environment.
  std::vector<std::vector<size_t>> foreign_sources_;
  // By profile: a file is kept for its own environment.
  std::vector<bool> has_environment_;
  // By profile and benchmark: it was said that it forked.
  std::vector<std::vector<bool>> has_forked_;
  std::string last_bad_baseline_;
  int suggestions_ = 0;
};

}  // namespace

bool IsForEnvironmentOf(const MemoryProfile& profile,
                        const ThresholdSource& thresholds) {
  return !thresholds.file.has_environment() ||
         CountDifferences(profile.environment(),
                          thresholds.file.environment()) == 0;
}

int64_t RatioLimit(double ratio, int64_t baseline) {
  // Of the ratio, read from decimal digits.
  constexpr long double kBinaryRounding = 4e-16L;
  const long double product =
      static_cast<long double>(ratio) * static_cast<long double>(baseline);
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  if (product >= static_cast<long double>(kLargest)) return kLargest;
  const long double nearest = std::round(product);
  const bool is_whole =
      std::fabs(product - nearest) <= std::fabs(product) * kBinaryRounding;
  return static_cast<int64_t>(is_whole ? nearest : std::floor(product));
}

Verdict Evaluate(absl::Span<const MemoryProfile> profiles,
                 absl::Span<const ThresholdSource> thresholds,
                 const EvaluationOptions& options) {
  return Evaluation(profiles, thresholds, options).Run();
}

}  // namespace footprint
