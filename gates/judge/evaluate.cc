#include "footprint/gates/judge/evaluate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/base/text/near_names.h"
#include "footprint/gates/judge/decision.h"
#include "footprint/gates/judge/environment_difference.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/limit_history.h"
#include "footprint/gates/judge/measurement_index.h"
#include "footprint/gates/judge/peak_limit.h"
#include "footprint/gates/judge/producer_failure.h"
#include "footprint/gates/judge/ruled_figure.h"
#include "footprint/gates/judge/sampled_rule.h"
#include "footprint/gates/judge/scaling_rule.h"
#include "footprint/gates/judge/selector.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/gates/judge/threshold_numbers.h"
#include "footprint/gates/judge/update_command.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/metric_kind.h"
#include "footprint/profiling/schema/profile_merge.h"
#include "footprint/profiling/schema/whole_process.h"

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
  int figure = -1;  // of a rule over samples or a law: in figures_
  int64_t limit = 0;
  bool holds = false;
  bool is_shared = false;  // the threshold names other benchmarks too
  int16_t part = 0;        // of one rule with several limits: which
  Determinism determinism = DETERMINISM_UNSPECIFIED;

  // Equal for two rules of one sort on one measurement.
  auto Key() const {
    return std::make_tuple(measurement.profile, measurement.benchmark,
                           measurement.phase, static_cast<int>(metric),
                           static_cast<int>(rule), part);
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
        states_(profiles.size()),
        foreign_sources_(profiles.size()),
        own_sources_(profiles.size()),
        foreign_(profiles.size()) {
    for (size_t i = 0; i < profiles.size(); ++i) {
      states_[i].resize(static_cast<size_t>(profiles[i].benchmarks_size()));
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
        bool names_profile = false;
        for (int i = 0; i < sources_[source].file.threshold_size(); ++i) {
          names_profile |= Judge(source, i);
        }
        for (int i = 0; i < sources_[source].file.exemption_size(); ++i) {
          names_profile |= Exempt(source, i);
        }
        if (!names_profile) CheckShared(source);
      }
      CheckForks();
      CheckMedians();
      CheckEnvironments();
      CheckEveryBenchmarkIsJudged();
      CheckProgramsTellEnough();
      CheckProcessesEnded();
      WriteJudgements();
    }
    verdict_.set_decision(DecisionOf(verdict_));
    return std::move(verdict_);
  }

 private:
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
      } else if (profile.process_count() < kMinimumProcessCount &&
                 !profile.has_imported()) {
        AddProblem(INCONCLUSIVE, profile.label(),
                   absl::StrCat(
                       "was measured in ", profile.process_count(),
                       " processes, so nothing shows that the figures of its ",
                       profile.benchmarks_size(),
                       " benchmarks repeat; measure it by a memory_profile "
                       "target, in at least ",
                       kMinimumProcessCount));
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
      const MemoryProfile& profile = index_.ProfileOf(duplicate.profile);
      AddProblem(BAD_CONFIGURATION, profile.label(),
                 absl::StrCat("benchmark \"",
                              profile.benchmarks(duplicate.benchmark).name(),
                              "\" is measured twice; name the profile once in "
                              "the gate, or the benchmark otherwise"));
    }
  }

  // Holds one rule against all that it names. False if no profile has its
  // label.
  bool Judge(size_t source, int number) {
    const Threshold& threshold = sources_[source].file.threshold(number);
    const std::vector<int> labelled =
        index_.ProfilesOf(threshold.selector().label());
    if (labelled.empty()) {
      CheckLabel(source, sources_[source].LocationOf(number),
                 threshold.selector().label());
      return false;
    }
    Reach reach;
    reach.first_ruling = rulings_.size();
    for (int profile : labelled) {
      const auto at = static_cast<size_t>(profile);
      // It may name a benchmark that failed.
      reach.is_excused |=
          profiles_[at].benchmarks_size() == 0 || profiles_[at].has_failure();
      const bool is_for_it = NoteEnvironment(source, at);
      reach.is_judging |= is_for_it;
      for (int benchmark : index_.BenchmarksOf(profile, threshold.selector())) {
        JudgeBenchmark(source, number, profile, benchmark, is_for_it, &reach);
      }
      if (threshold.has_scaling()) JudgeLaws(source, number);
    }
    const size_t last = rulings_.size();
    for (size_t i = reach.first_ruling; i < last; ++i) {
      rulings_[i].is_shared = reach.benchmark_count > 1;
    }
    if (reach.is_judging && !reach.is_excused && !reach.names_something) {
      ExplainUnmatched(source, number, labelled);
    } else if (!reach.lost.empty()) {
      ExplainLost(source, number, reach.lost);
    }
    if (reach.is_judging && !reach.is_excused) {
      CheckCount(source, number, reach.named_count);
    }
    return true;
  }

  // A benchmark that is gone is missed by no selector with a star.
  void CheckCount(size_t source, int number, int named) {
    const ThresholdFile& file = sources_[source].file;
    const Threshold& threshold = file.threshold(number);
    // Other gates measure the rest of the labels.
    const bool is_part = file.shared() && !options_.is_complete &&
                         !IsLiteral(threshold.selector().label());
    const int counted = threshold.benchmark_count();
    if (!threshold.has_benchmark_count() || is_part || counted == named) return;
    AddProblem(
        BAD_CONFIGURATION, sources_[source].LocationOf(number),
        absl::StrCat(DescribeSelector(threshold.selector()),
                     ": its benchmark_count was ", counted, ", and is ", named,
                     counted > named
                         ? " now: a benchmark, a size or a deployment "
                           "is gone; bring it back, or write "
                         : " now; write ",
                     "benchmark_count: ", named));
  }

  // Takes note of the benchmarks that need no limit. False if no profile has
  // the label.
  bool Exempt(size_t source, int number) {
    const Selector& selector =
        sources_[source].file.exemption(number).selector();
    const std::string location = sources_[source].LocationOfExemption(number);
    const std::vector<int> labelled = index_.ProfilesOf(selector.label());
    if (labelled.empty()) {
      CheckLabel(source, location, selector.label());
      return false;
    }
    bool names_something = false;
    for (int profile : labelled) {
      const auto at = static_cast<size_t>(profile);
      names_something |= profiles_[at].has_failure() ||
                         !IsForEnvironmentOf(profiles_[at], sources_[source]);
      if (!IsForEnvironmentOf(profiles_[at], sources_[source])) continue;
      for (int benchmark : index_.BenchmarksOf(profile, selector)) {
        names_something = true;
        StateOf(profile, benchmark).is_exempt = true;
      }
    }
    if (!names_something) {
      AddProblem(BAD_CONFIGURATION, location,
                 absl::StrCat("exempts nothing: ", DescribeSelector(selector),
                              ": no benchmark is named so; correct the "
                              "selector, or take the exemption away"));
    }
    return true;
  }

  // The reach of one rule over the profiles.
  struct Reach {
    bool is_judging = false;  // its file is for one of the profiles
    bool is_excused = false;  // it might be for one that was not measured
    bool names_something = false;
    int named_count = 0;            // benchmarks that it may judge
    int benchmark_count = 0;        // in which it judges
    std::vector<Measurement> lost;  // benchmarks in which it should, and cannot
    size_t first_ruling = 0;
  };

  // Whether the file of `source` may judge the profile.
  bool NoteEnvironment(size_t source, size_t profile) {
    const bool is_for_it =
        IsForEnvironmentOf(profiles_[profile], sources_[source]);
    if (!sources_[source].file.has_environment()) return is_for_it;
    std::vector<size_t>& noted =
        is_for_it ? own_sources_[profile] : foreign_sources_[profile];
    if (noted.empty() || noted.back() != source) noted.push_back(source);
    return is_for_it;
  }

  void JudgeBenchmark(size_t source, int number, int profile, int benchmark,
                      bool is_for_it, Reach* reach) {
    const Threshold& threshold = sources_[source].file.threshold(number);
    const bool has_environment = sources_[source].file.has_environment();
    found_.clear();
    const bool is_whole =
        IsSampled(threshold)
            ? AppendSampled(threshold.selector(), profile, benchmark)
            : index_.AppendMeasurements(profile, benchmark,
                                        threshold.selector(),
                                        threshold.metric(), &found_);
    reach->names_something |= !found_.empty();
    BenchmarkState& state = StateOf(profile, benchmark);
    if (!is_for_it) {
      state.is_foreign = true;
      for (const Measurement& found : found_) {
        foreign_[static_cast<size_t>(profile)].push_back(
            {found, threshold.metric(), source, number});
      }
      return;
    }
    state.is_named = true;
    state.is_limited |=
        !found_.empty() &&
        LimitsPeak(threshold, index_.ProfileOf(profile).benchmarks(benchmark));
    ++reach->named_count;
    reach->benchmark_count += found_.empty() ? 0 : 1;
    if (!is_whole) {
      Measurement lost;
      lost.profile = profile;
      lost.benchmark = benchmark;
      reach->lost.push_back(lost);
    }
    for (const Measurement& found : found_) {
      state.is_rest_judged |= index_.PhaseOf(found) == kUnaccountedPhase &&
                              ExplainsTheRest(threshold);
      if (has_environment) {
        kept_here_[KeyOf(found, threshold.metric())].push_back(&threshold);
      }
      NoteHighest(source, number, found);
      if (IsSampled(threshold)) {
        JudgeSampled(source, number, found);
      } else {
        JudgeMeasurement(source, number, found);
      }
    }
  }

  // A regression rule looks at the median, so it would accept that some runs
  // need any amount.
  void NoteHighest(size_t source, int number, const Measurement& found) {
    const Threshold& threshold = sources_[source].file.threshold(number);
    if (!IsBlocking(threshold)) return;
    if (LimitsAbove(threshold)) {
      limited_.insert(KeyOf(found, threshold.metric()));
    } else if (threshold.has_regression()) {
      medians_.push_back({found, threshold.metric(), source, number});
    }
  }

  void CheckMedians() {
    for (const RuledMeasurement& median : medians_) {
      if (limited_.count(KeyOf(median.measurement, median.metric)) > 0)
        continue;
      AddFigureProblem(
          median.source, median.number, median.measurement, BAD_CONFIGURATION,
          "has a regression rule, which looks at the median of the runs, and "
          "no "
          "limit of its highest: add max_bytes and budget { share: 0.95 "
          "confidence: 0.95 } beside it, or a maximum in a threshold of its "
          "own");
    }
  }

  // A limit that blocks, and a reason for what the program does not tell of.
  static bool ExplainsTheRest(const Threshold& threshold) {
    return threshold.metric() == RESIDENT_ANONYMOUS_BYTES &&
           IsBlocking(threshold) && LimitsAbove(threshold) &&
           IsReason(threshold.reason());
  }

  // The region or the phases that a selector names, whether or not a profile
  // has a value: that of a metric that varies is in the samples only.
  bool AppendSampled(const Selector& selector, int profile, int benchmark) {
    Measurement found;
    found.profile = profile;
    found.benchmark = benchmark;
    if (selector.phase().empty()) {
      found_.push_back(found);
      return true;
    }
    const BenchmarkMemory& memory = index_.BenchmarkOf(found);
    for (int i = 0; i < memory.phases_size(); ++i) {
      if (!GlobMatches(selector.phase(), memory.phases(i).name())) continue;
      found.phase = i;
      found_.push_back(found);
    }
    return !found_.empty();
  }

  void JudgeSampled(size_t source, int number, const Measurement& found) {
    const Threshold& threshold = sources_[source].file.threshold(number);
    NoteFork(found, IsBlocking(threshold));
    const MetricSamples samples = CollectSamples(
        options_.samples, index_.ProfileOf(found.profile).label(),
        index_.BenchmarkOf(found).name(), index_.PhaseOf(found),
        threshold.metric());
    if (samples.values.empty()) {
      AddFigureProblem(source, number, found, INCONCLUSIVE,
                       "has no samples here, so it is not judged; correct the "
                       "metric, or judge it by a memory_gate_test that says "
                       "sampled = True");
      return;
    }
    for (const RuledFigure& figure : JudgeSamples(threshold, samples)) {
      AddFigure(source, number, found, STATISTICAL, figure, 0);
    }
  }

  // The families of benchmarks in `law_members_`, a phase each.
  void JudgeLaws(size_t source, int number) {
    const Threshold& threshold = sources_[source].file.threshold(number);
    std::map<std::string, std::vector<Measurement>> families;
    for (const Measurement& member : law_members_) {
      families[index_.PhaseOf(member)].push_back(member);
    }
    law_members_.clear();
    for (const auto& [phase, family] : families) {
      std::vector<MeasuredSize> sizes;
      Determinism determinism = EXACT;
      for (const Measurement& member : family) {
        sizes.push_back(SizeOf(member));
        determinism = std::max(determinism, member.metric->determinism());
      }
      const auto largest =
          std::max_element(family.begin(), family.end(),
                           [](const Measurement& a, const Measurement& b) {
                             return a.metric->value() < b.metric->value();
                           });
      int16_t part = 0;
      for (const RuledFigure& figure :
           JudgeScaling(threshold.scaling(), sizes)) {
        AddFigure(source, number, *largest, determinism, figure, part++);
      }
    }
  }

  MeasuredSize SizeOf(const Measurement& member) const {
    MeasuredSize size;
    size.benchmark = index_.BenchmarkOf(member).name();
    for (const Argument& argument : index_.BenchmarkOf(member).arguments()) {
      size.arguments[argument.name()] = argument.value();
    }
    size.bytes = member.metric->value();
    return size;
  }

  // A judgement, or a problem where nothing could be decided.
  void AddFigure(size_t source, int number, const Measurement& found,
                 Determinism determinism, const RuledFigure& figure,
                 int16_t part) {
    if (figure.decision != ACCEPT && figure.decision != REJECT) {
      std::string message = figure.explanation;
      if (figure.rule == REGRESSION) {
        absl::StrAppend(&message, "; these runs as the baseline: ",
                        figure.change_to_accept);
      }
      AddFigureProblem(source, number, found, figure.decision,
                       absl::StrCat("is not decided: ", message));
      return;
    }
    Ruling ruling;
    ruling.measurement = found;
    ruling.source = source;
    ruling.threshold = number;
    ruling.metric = sources_[source].file.threshold(number).metric();
    ruling.determinism = determinism;
    ruling.rule = figure.rule;
    ruling.figure = static_cast<int>(figures_.size());
    ruling.limit = figure.limit;
    ruling.holds = figure.decision == ACCEPT;
    ruling.part = part;
    rulings_.push_back(ruling);
    figures_.push_back(figure);
  }

  void AddFigureProblem(size_t source, int number, const Measurement& found,
                        Decision decision, const std::string& message) {
    const Threshold& threshold = sources_[source].file.threshold(number);
    const bool is_mistake = decision == BAD_CONFIGURATION;
    AddProblem(is_mistake || IsBlocking(threshold) ? decision : ACCEPT,
               sources_[source].LocationOf(number),
               absl::StrCat(SchemaNameOfMetric(threshold.metric()), " of ",
                            index_.Describe(found), " ", message));
  }

  void JudgeMeasurement(size_t source, int number, const Measurement& found) {
    const Threshold& threshold = sources_[source].file.threshold(number);
    NoteFork(found, IsBlocking(threshold));
    if (found.metric == nullptr) {
      AddProblem(IsBlocking(threshold) ? INCONCLUSIVE : ACCEPT,
                 sources_[source].LocationOf(number),
                 absl::StrCat(SchemaNameOfMetric(threshold.metric()), " of ",
                              index_.Describe(found), " ",
                              index_.WhyNoValue(found, threshold.metric()),
                              ", so no rule can be held against it; make it "
                              "repeat, or "
                              "judge a metric that does (with threads: "
                              "SUM_THREAD_PEAK_USABLE_BYTES)"));
      return;
    }
    if (IsExact(threshold) && found.metric->determinism() != EXACT) {
      RefuseExact(source, number, found);
      return;
    }
    if (threshold.has_scaling()) law_members_.push_back(found);
    if (threshold.has_max_ratio()) AddRatio(source, number, found);
    for (const NumberField& field : kNumberFields) {
      if (!field.IsIn(threshold)) continue;
      AddRuling(source, number, found, field.kind, field.Get(threshold));
    }
  }

  // One value and no other: also a band without width.
  static bool IsExact(const Threshold& threshold) {
    const NumberField* const maximum = FindNumber(threshold, MAXIMUM);
    const NumberField* const minimum = FindNumber(threshold, MINIMUM);
    return FindNumber(threshold, EXACT_VALUE) != nullptr ||
           (maximum != nullptr && minimum != nullptr &&
            maximum->unit == minimum->unit &&
            maximum->Get(threshold) == minimum->Get(threshold));
  }

  void RefuseExact(size_t source, int number, const Measurement& found) {
    AddProblem(BAD_CONFIGURATION, sources_[source].LocationOf(number),
               absl::StrCat(
                   "does not judge ", SchemaNameOfMetric(found.metric->kind()),
                   " of ", index_.Describe(found), ": it is ",
                   std::string(Determinism_Name(found.metric->determinism())),
                   ", and only an EXACT metric can be held to one value; give "
                   "a maximum, or measure it by a memory_profile target"));
  }

  void AddRatio(size_t source, int number, const Measurement& found) {
    const Metric* const baseline = FindBaseline(source, number);
    if (baseline == nullptr) return;
    const Threshold& threshold = sources_[source].file.threshold(number);
    AddRuling(source, number, found, MAXIMUM_RATIO,
              RatioLimit(threshold.max_ratio().ratio(), baseline->value()));
    rulings_.back().determinism =
        std::max(rulings_.back().determinism, baseline->determinism());
  }

  void AddRuling(size_t source, int number, const Measurement& found,
                 RuleKind rule, int64_t limit) {
    Ruling ruling;
    ruling.measurement = found;
    ruling.source = source;
    ruling.threshold = number;
    ruling.metric = found.metric->kind();
    ruling.determinism = found.metric->determinism();
    ruling.rule = rule;
    ruling.limit = limit;
    const int64_t value = found.metric->value();
    ruling.holds = rule == EXACT_VALUE ? value == limit
                   : rule == MINIMUM   ? value >= limit
                                       : value <= limit;
    rulings_.push_back(ruling);
  }

  // Children are not in the figures.
  void NoteFork(const Measurement& found, bool is_blocking) {
    if (index_.BenchmarkOf(found).forked_process_count() == 0) return;
    BenchmarkState& state = StateOf(found.profile, found.benchmark);
    state.is_judged_forked = true;
    state.is_blocked_forked |= is_blocking;
  }

  // Once a benchmark.
  void CheckForks() {
    for (size_t i = 0; i < states_.size(); ++i) {
      for (size_t j = 0; j < states_[i].size(); ++j) {
        if (!states_[i][j].is_judged_forked) continue;
        const BenchmarkMemory& benchmark =
            profiles_[i].benchmarks(static_cast<int>(j));
        AddProblem(
            states_[i][j].is_blocked_forked ? INCONCLUSIVE : ACCEPT,
            profiles_[i].label(),
            absl::StrCat("benchmark \"", benchmark.name(), "\" started ",
                         benchmark.forked_process_count(),
                         " child processes, whose memory is not in its "
                         "figures; measure them as programs of their own"));
      }
    }
  }

  // Null, and a problem unless one already says why, if there is none.
  const Metric* FindBaseline(size_t source, int number) {
    const Threshold& threshold = sources_[source].file.threshold(number);
    const Selector& selector = threshold.max_ratio().baseline();
    const std::vector<Measurement> found =
        index_.Find(selector, threshold.metric());
    std::string wrong;
    Decision decision = BAD_CONFIGURATION;
    if (found.empty()) {
      for (int profile : index_.ProfilesOf(selector.label())) {
        if (index_.ProfileOf(profile).has_failure()) return nullptr;
      }
      wrong = "is not measured here";
    } else if (found.size() > 1) {
      wrong = absl::StrCat(
          "is ambiguous: it names ", found.size(), " measurements, among them ",
          index_.Describe(found[0]), " and ", index_.Describe(found[1]));
    } else if (found[0].metric == nullptr) {
      wrong = index_.WhyNoValue(found[0], threshold.metric());
      decision = IsBlocking(threshold) ? INCONCLUSIVE : ACCEPT;
    } else if (found[0].metric->value() <= 0) {
      wrong = absl::StrCat("is ", found[0].metric->value(),
                           ", and a ratio needs one above zero");
    } else {
      NoteFork(found[0], IsBlocking(threshold));
      return found[0].metric;
    }
    const std::string location = sources_[source].LocationOf(number);
    // A selector that names many measurements has one baseline all the same.
    if (location == last_bad_baseline_) return nullptr;
    last_bad_baseline_ = location;
    AddProblem(decision, location,
               absl::StrCat("the baseline ", DescribeSelector(selector), " ",
                            SchemaNameOfMetric(threshold.metric()), " ", wrong,
                            "; correct max_ratio.baseline"));
    return nullptr;
  }

  void CheckLabel(size_t source, const std::string& location,
                  const std::string& label) {
    const bool is_shared = sources_[source].file.shared();
    if (is_shared && !options_.is_complete) return;
    std::vector<std::string> labels;
    for (const MemoryProfile& profile : profiles_) {
      labels.push_back(profile.label());
    }
    AddProblem(
        BAD_CONFIGURATION, location,
        absl::StrCat("no profile of this gate has the label ", label,
                     Suggest(label, labels),
                     "; correct the label, add the profile to the gate, or ",
                     is_shared ? "take the threshold away"
                               : "say \"shared: true\" in the file if it is "
                                 "kept for other gates too"));
  }

  // A measurement, and the rule that names it.
  struct RuledMeasurement {
    Measurement measurement;
    MetricKind metric = METRIC_KIND_UNSPECIFIED;
    size_t source = 0;
    int number = 0;
  };

  // Whether a rule of the profile's own environment does what the other would.
  bool IsKeptHere(const MeasurementKey& key,
                  const RuledMeasurement& foreign) const {
    const auto kept = kept_here_.find(key);
    if (kept == kept_here_.end()) return false;
    const Threshold& other =
        sources_[foreign.source].file.threshold(foreign.number);
    return std::any_of(
        kept->second.begin(), kept->second.end(),
        [&other](const Threshold* own) { return StandsInFor(*own, other); });
  }

  // A file may be shared, but not without any use. Of a file that is not, each
  // label was named already.
  void CheckShared(size_t source) {
    if (!sources_[source].file.shared() || options_.is_complete) return;
    AddProblem(BAD_CONFIGURATION, sources_[source].path,
               "none of its labels is that of a profile of this gate, so it "
               "judges nothing here; correct them, or take the file out of "
               "the gate");
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
      for (const BenchmarkMemory& benchmark :
           index_.ProfileOf(profile).benchmarks()) {
        names.push_back(benchmark.name());
        names_benchmark |= selector.benchmark().empty() ||
                           GlobMatches(selector.benchmark(), benchmark.name());
      }
      for (int benchmark : index_.BenchmarksOf(profile, selector)) {
        CollectNames(index_.ProfileOf(profile).benchmarks(benchmark),
                     selector.phase(), &phases, &metrics);
      }
    }
    std::string why;
    if (!names_benchmark) {
      why = absl::StrCat("no benchmark is named \"", selector.benchmark(), "\"",
                         Suggest(selector.benchmark(), names));
    } else if (phases.empty() && metrics.empty()) {
      why = "no benchmark of that name has these arguments";
    } else {
      why = ExplainMissing(threshold, phases, metrics);
    }
    AddProblem(
        BAD_CONFIGURATION, sources_[source].LocationOf(number),
        absl::StrCat("matches nothing: ", DescribeSelector(selector), ": ", why,
                     "; correct the selector, or take the threshold "
                     "away"));
  }

  // Why there is no measurement, from what `CollectNames` found.
  std::string ExplainMissing(const Threshold& threshold,
                             const std::vector<std::string>& phases,
                             const std::vector<std::string>& metrics) {
    const std::string& phase = threshold.selector().phase();
    if (metrics.empty()) {
      return absl::StrCat("there is no phase \"", phase, "\"",
                          Suggest(phase, phases));
    }
    const std::string metric = SchemaNameOfMetric(threshold.metric());
    return absl::StrCat(
        metric, " is not in the profile",
        phase.empty() ? "" : absl::StrCat(" of every phase \"", phase, "\""),
        Suggest(metric, metrics));
  }

  // Benchmarks that a rule names without finding all that it is to judge. It
  // would seem to judge them, beside those where it does.
  void ExplainLost(size_t source, int number,
                   const std::vector<Measurement>& lost) {
    constexpr size_t kMostNames = 3;
    const Threshold& threshold = sources_[source].file.threshold(number);
    std::string names;
    for (size_t i = 0; i < lost.size() && i < kMostNames; ++i) {
      absl::StrAppend(&names, i == 0 ? "" : ", ",
                      index_.ProfileOf(lost[i].profile).label(), " ",
                      index_.BenchmarkOf(lost[i]).name());
    }
    if (lost.size() > kMostNames) {
      absl::StrAppend(&names, " and ", lost.size() - kMostNames, " more");
    }
    std::vector<std::string> phases, metrics;
    CollectNames(index_.BenchmarkOf(lost[0]), threshold.selector().phase(),
                 &phases, &metrics);
    AddProblem(
        BAD_CONFIGURATION, sources_[source].LocationOf(number),
        absl::StrCat("does not judge ", names, ", which it names: ",
                     ExplainMissing(threshold, phases, metrics),
                     "; give the benchmark back what it lost, or narrow the "
                     "selector"));
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
      if (foreign_sources_[i].empty() || profiles_[i].has_failure()) continue;
      if (own_sources_[i].empty()) {
        const ThresholdSource& nearest = NearestForeignSource(i);
        AddMismatch(i, "thresholds are kept for other environments only",
                    nearest,
                    PathForEnvironment(nearest.path, profiles_[i].environment(),
                                       nearest.file.environment()));
        for (BenchmarkState& state : states_[i]) {
          state.is_mismatched = state.is_foreign;
        }
      } else {
        CheckForeignMeasurements(i);
      }
    }
  }

  const ThresholdSource& NearestForeignSource(size_t profile) const {
    const auto distance = [&](size_t source) {
      return CountDifferences(profiles_[profile].environment(),
                              sources_[source].file.environment());
    };
    const std::vector<size_t>& foreign = foreign_sources_[profile];
    return sources_[*std::min_element(
        foreign.begin(), foreign.end(),
        [&](size_t a, size_t b) { return distance(a) < distance(b); })];
  }

  void AddMismatch(size_t profile, const std::string& what,
                   const ThresholdSource& elsewhere, const std::string& path) {
    AddProblem(
        ENVIRONMENT_MISMATCH, profiles_[profile].label(),
        absl::StrCat(what, "; here ",
                     DescribeDifference(profiles_[profile].environment(),
                                        elsewhere.file.environment()),
                     " in ", elsewhere.path,
                     "; measure there, or accept this environment with: ",
                     command_.ToBless(profiles_[profile].label(), path)));
  }

  // Adds a mismatch for measurements that files of other environments judge
  // there, and the profile's own file does not judge here.
  void CheckForeignMeasurements(size_t profile) {
    constexpr int kMostNames = 3;
    std::set<MeasurementKey> said;
    std::string names;
    const RuledMeasurement* first = nullptr;
    for (const RuledMeasurement& foreign : foreign_[profile]) {
      const MeasurementKey key = KeyOf(foreign.measurement, foreign.metric);
      if (IsKeptHere(key, foreign) || !said.insert(key).second) continue;
      if (first == nullptr) first = &foreign;
      StateOf(foreign.measurement.profile, foreign.measurement.benchmark)
          .is_mismatched = true;
      if (said.size() > kMostNames) continue;
      absl::StrAppend(&names, names.empty() ? "" : ", ",
                      SchemaNameOfMetric(foreign.metric), " of ",
                      index_.Describe(foreign.measurement));
    }
    if (first == nullptr) return;
    if (said.size() > kMostNames) {
      absl::StrAppend(&names, " and ", said.size() - kMostNames, " more");
    }
    AddMismatch(profile,
                absl::StrCat("is not judged here, since thresholds are kept "
                             "for other environments only (",
                             sources_[first->source].LocationOf(first->number),
                             "): ", names),
                sources_[first->source],
                sources_[own_sources_[profile].front()].path);
  }

  void CheckEveryBenchmarkIsJudged() {
    for (size_t i = 0; i < profiles_.size(); ++i) {
      for (size_t j = 0; j < states_[i].size(); ++j) {
        const BenchmarkState& state = states_[i][j];
        if (state.is_limited || state.is_exempt || state.is_mismatched) {
          continue;
        }
        const std::string& name =
            profiles_[i].benchmarks(static_cast<int>(j)).name();
        AddProblem(
            BAD_CONFIGURATION, profiles_[i].label(),
            absl::StrCat(
                state.is_named ? "no rule that blocks limits the peak of "
                                 "benchmark \""
                               : "no threshold judges benchmark \"",
                name,
                state.is_named ? "\", so any need would be accepted; exempt "
                                 "it with a reason, or limit it by "
                               : "\"; add ",
                "what it needs now with: ",
                command_.ToAdd(profiles_[i].label(), name)));
      }
    }
  }

  // Holds a program's own figures against those seen from outside.
  void CheckProgramsTellEnough() {
    for (size_t i = 0; i < profiles_.size(); ++i) {
      for (size_t j = 0; j < states_[i].size(); ++j) {
        const BenchmarkMemory& whole =
            profiles_[i].benchmarks(static_cast<int>(j));
        if (states_[i][j].is_rest_judged || !TellsTooLittle(whole)) continue;
        AddProblem(
            BAD_CONFIGURATION, profiles_[i].label(),
            absl::StrCat("its own figures tell of less than half of the ",
                         "anonymous memory that was seen from outside, and "
                         "leave out ",
                         UnaccountedBytes(whole), " bytes (\"", whole.name(),
                         "\"); find what holds them, or add a threshold with "
                         "a reason: RESIDENT_ANONYMOUS_BYTES of phase \"",
                         kUnaccountedPhase, "\""));
      }
    }
  }

  void CheckProcessesEnded() {
    for (const MemoryProfile& profile : profiles_) {
      for (const BenchmarkMemory& whole : profile.benchmarks()) {
        if (!IsOutlived(whole)) continue;
        AddProblem(
            INCONCLUSIVE, profile.label(),
            absl::StrCat("processes that it started still ran when it "
                         "had ended, and were killed, so its memory is "
                         "not known (\"",
                         whole.name(), "\"); make it wait for its children"));
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
    AddProblem(
        BAD_CONFIGURATION, sources_[second.source].LocationOf(second.threshold),
        absl::StrCat("is a second rule of the same sort for ",
                     SchemaNameOfMetric(second.metric), " of ",
                     index_.Describe(second.measurement), "; the other is at ",
                     sources_[first.source].LocationOf(first.threshold),
                     "; narrow one of the two selectors"));
  }

  void WriteJudgement(const Ruling& ruling) {
    const Measurement& found = ruling.measurement;
    const ThresholdSource& source = sources_[ruling.source];
    const Threshold& threshold = source.file.threshold(ruling.threshold);
    Judgement* judgement = verdict_.add_judgements();
    judgement->set_label(index_.ProfileOf(found.profile).label());
    judgement->set_benchmark(index_.BenchmarkOf(found).name());
    judgement->set_phase(index_.PhaseOf(found));
    judgement->set_metric(ruling.metric);
    const RuledFigure* const figure =
        ruling.figure < 0 ? nullptr
                          : &figures_[static_cast<size_t>(ruling.figure)];
    judgement->set_measured(figure == nullptr ? found.metric->value()
                                              : figure->measured);
    judgement->set_limit(ruling.limit);
    judgement->set_rule(ruling.rule);
    judgement->set_severity(IsBlocking(threshold) ? BLOCK
                                                  : threshold.severity());
    judgement->set_decision(ruling.holds ? ACCEPT : REJECT);
    judgement->set_threshold_location(source.LocationOf(ruling.threshold));
    judgement->set_determinism(ruling.determinism);
    if (figure != nullptr) judgement->set_explanation(figure->explanation);
    if (ruling.holds) return;
    if (figure != nullptr) {
      // No number that the update could move.
      judgement->set_command_to_accept(
          absl::StrCat("an edit of ", judgement->threshold_location(), ": ",
                       figure->change_to_accept));
      return;
    }
    // All that the threshold names moves with it.
    const Selector& selector = threshold.selector();
    judgement->set_command_to_accept(command_.ToAccept(
        ruling.is_shared ? selector.label() : EscapeGlob(judgement->label()),
        ruling.is_shared ? selector.benchmark()
                         : EscapeGlob(judgement->benchmark()),
        judgement->measured() > judgement->limit()));
  }

  const absl::Span<const MemoryProfile> profiles_;
  const absl::Span<const ThresholdSource> sources_;
  const EvaluationOptions& options_;
  const UpdateCommand command_;
  const MeasurementIndex index_;
  Verdict verdict_;
  std::vector<Ruling> rulings_;
  std::vector<RuledFigure> figures_;
  std::vector<Measurement> found_;        // kept for its memory
  std::vector<Measurement> law_members_;  // that one scaling rule names
  struct BenchmarkState {
    bool is_named = false;        // by a rule that is for its environment
    bool is_limited = false;      // by a rule that limits its whole peak
    bool is_exempt = false;       // from the need of such a rule
    bool is_foreign = false;      // named by a rule for another one
    bool is_mismatched = false;   // said: judged in other environments only
    bool is_rest_judged = false;  // by a rule for what it does not tell of
    bool is_judged_forked = false;
    bool is_blocked_forked = false;  // by a rule that blocks
  };
  BenchmarkState& StateOf(int profile, int benchmark) {
    return states_[static_cast<size_t>(profile)]
                  [static_cast<size_t>(benchmark)];
  }

  // By profile and benchmark.
  std::vector<std::vector<BenchmarkState>> states_;
  // By profile: files kept for another environment, and for its own.
  std::vector<std::vector<size_t>> foreign_sources_;
  std::vector<std::vector<size_t>> own_sources_;
  // By profile: what a file of another environment would judge there.
  std::vector<std::vector<RuledMeasurement>> foreign_;
  std::vector<RuledMeasurement> medians_;  // of regression rules
  std::set<MeasurementKey> limited_;       // by blocking rules, from above
  // Measurements that a file of the profile's own environment judges.
  std::map<MeasurementKey, std::vector<const Threshold*>> kept_here_;
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
