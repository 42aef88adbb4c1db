#include "footprint/gates/judge/evaluate.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "footprint/gates/judge/baseline_finder.h"
#include "footprint/gates/judge/coverage_check.h"
#include "footprint/gates/judge/decision.h"
#include "footprint/gates/judge/environment_check.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/judgement_list.h"
#include "footprint/gates/judge/measured_families.h"
#include "footprint/gates/judge/measurement_index.h"
#include "footprint/gates/judge/peak_limit.h"
#include "footprint/gates/judge/profile_check.h"
#include "footprint/gates/judge/rules.h"
#include "footprint/gates/judge/selector_problems.h"
#include "footprint/gates/judge/threshold_exceptions.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/gates/judge/update_command.h"
#include "footprint/gates/judge/verdict_problem.h"
#include "footprint/gates/judge/written_limit.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/metric_kind.h"

namespace footprint {
namespace {

// A threshold and its location.
struct PlacedThreshold {
  size_t source;  // index of the file
  int number;     // index in the file
  const Threshold& threshold;
  std::string location;
};

// Describes what one threshold found in the profiles of its label.
struct Findings {
  bool is_judging = false;  // its file may judge a profile
  bool is_excused = false;  // it may name a benchmark that failed
  bool names_something = false;
  int named_count = 0;               // benchmarks that it may judge
  int judged_count = 0;              // benchmarks in which it judges
  std::vector<Measurement> lost;     // benchmarks without what it judges
  std::vector<Measurement> members;  // members of the family that it names
};

void AddUndecided(const MeasurementIndex& index, const PlacedThreshold& placed,
                  const Measurement& found, Decision decision,
                  const std::string& message, Verdict* verdict) {
  const bool is_mistake = decision == BAD_CONFIGURATION;
  AddProblem(is_mistake || IsBlocking(placed.threshold) ? decision : ACCEPT,
             placed.location,
             absl::StrCat(SchemaNameOfMetric(placed.threshold.metric()), " of ",
                          index.Describe(found), " ", message),
             verdict);
}

// Returns whether rules can judge the measurement; adds a problem if not.
bool CanBeJudged(const MeasurementIndex& index, const PlacedThreshold& placed,
                 const Measurement& found, Verdict* verdict) {
  const Threshold& threshold = placed.threshold;
  if (found.metric == nullptr) {
    AddUndecided(index, placed, found, INCONCLUSIVE,
                 absl::StrCat(index.WhyNoValue(found, threshold.metric()),
                              ", so no rule can be held against it; make it "
                              "repeat, or judge a metric that does (with "
                              "threads: SUM_THREAD_PEAK_USABLE_BYTES)"),
                 verdict);
    return false;
  }
  if (found.metric->determinism() == EXACT || !AllowsOneValueOnly(threshold)) {
    return true;
  }
  AddProblem(
      BAD_CONFIGURATION, placed.location,
      absl::StrCat("does not judge ", SchemaNameOfMetric(threshold.metric()),
                   " of ", index.Describe(found), ": it is ",
                   std::string(Determinism_Name(found.metric->determinism())),
                   ", and only an EXACT metric can be held to one value; give "
                   "a maximum, or measure it by a memory_profile target"),
      verdict);
  return false;
}

void AddAwaited(const PlacedThreshold& placed, const UpdateCommand& command,
                Verdict* verdict) {
  const std::string& max = placed.threshold.max();
  AddProblem(
      BAD_CONFIGURATION, placed.location,
      absl::StrCat("max is \"", max,
                   "\" above a figure that is missing; write the figure, "
                   "as in \"24 MB ",
                   max, "\", or let this write the measured one: bazel run ",
                   command.target),
      verdict);
}

// Removes from `found` the measurements that more particular thresholds judge.
// Records these overrides in `verdict` unless it is null.
void LeaveOutExceptions(const ThresholdExceptions& exceptions,
                        const MeasurementIndex& index,
                        const PlacedThreshold& placed, Verdict* verdict,
                        std::vector<Measurement>* found) {
  if (!exceptions.HasExceptions(placed.source, placed.number)) return;
  const auto gives_way = [&](const Measurement& one) {
    const BenchmarkMemory& benchmark = index.BenchmarkAt(one);
    const MemoryProfile& profile = index.ProfileAt(one.profile);
    const std::string phase = index.PhaseAt(one);
    const auto judging = exceptions.Find(placed.source, placed.number, profile,
                                         benchmark, phase);
    if (!judging.has_value() || verdict == nullptr) return judging.has_value();
    Override* const entry = verdict->add_overrides();
    entry->set_label(profile.label());
    entry->set_benchmark(benchmark.name());
    entry->set_phase(phase);
    entry->set_metric(placed.threshold.metric());
    entry->set_judging_location(exceptions.DescribeLocation(*judging));
    entry->set_general_location(placed.location);
    return true;
  };
  found->erase(std::remove_if(found->begin(), found->end(), gives_way),
               found->end());
}

// One call of Evaluate: applies the rules (rules.h) of every threshold to the
// measurements that it names.
class Evaluation {
 public:
  Evaluation(absl::Span<const MemoryProfile> profiles,
             absl::Span<const ThresholdSource> sources,
             const EvaluationOptions& options)
      : profiles_(profiles),
        sources_(sources),
        samples_(options.samples),
        command_{options.update_target},
        index_(profiles),
        exceptions_(sources),
        selectors_(profiles, index_, options.is_complete, &verdict_),
        environments_(profiles, sources, index_, command_),
        coverage_(profiles, index_),
        baselines_(index_),
        judgements_(index_, sources, command_) {}

  Verdict Run() {
    for (const ThresholdSource& source : sources_) {
      for (const Problem& problem : source.problems) {
        *verdict_.add_problems() = problem;
      }
    }
    if (verdict_.problems_size() == 0) {
      CheckProfiles(profiles_, index_, &verdict_);
      for (size_t i = 0; i < sources_.size(); ++i) JudgeFile(i);
      coverage_.CheckForks(&verdict_);
      coverage_.CheckMedians(&verdict_);
      coverage_.CheckEveryBenchmarkIsJudged(
          command_, environments_.Run(&verdict_), &verdict_);
      coverage_.CheckProgramsTellEnough(&verdict_);
      CheckProcessesEnded(profiles_, &verdict_);
      judgements_.Write(&verdict_);
    }
    verdict_.set_decision(ComputeDecision(verdict_));
    return std::move(verdict_);
  }

 private:
  void JudgeFile(size_t source) {
    bool names_profile = false;
    for (int i = 0; i < sources_[source].file.threshold_size(); ++i) {
      names_profile |=
          JudgeThreshold({source, i, sources_[source].file.threshold(i),
                          sources_[source].DescribeLocation(i)});
    }
    for (int i = 0; i < sources_[source].file.exemption_size(); ++i) {
      names_profile |= Exempt(sources_[source], i);
    }
    if (!names_profile) selectors_.AddUnusedFile(sources_[source]);
  }

  // Judges all measurements that a threshold names. Returns whether a profile
  // has its label.
  bool JudgeThreshold(const PlacedThreshold& placed) {
    const ThresholdSource& source = sources_[placed.source];
    const Selector& selector = placed.threshold.selector();
    const std::vector<int> labelled = index_.FindProfiles(selector.label());
    if (labelled.empty()) {
      selectors_.AddUnknownLabel(source, placed.location, selector.label());
      return false;
    }
    if (AwaitsFigure(placed.threshold)) {
      AddAwaited(placed, command_, &verdict_);
      return true;
    }
    Findings findings;
    const size_t first = judgements_.size();
    for (int profile : labelled) JudgeProfile(placed, profile, &findings);
    if (findings.judged_count > 1) judgements_.MarkShared(first);
    const bool must_name = findings.is_judging && !findings.is_excused;
    if (must_name && !findings.names_something) {
      selectors_.AddUnmatched(source, placed.number, labelled);
    } else if (!findings.lost.empty()) {
      selectors_.AddLost(source, placed.number, findings.lost);
    }
    if (must_name) {
      selectors_.CheckCount(source, placed.number, findings.named_count);
    }
    return true;
  }

  void JudgeProfile(const PlacedThreshold& placed, int profile,
                    Findings* findings) {
    const MemoryProfile& measured = index_.ProfileAt(profile);
    findings->is_excused |=
        measured.benchmarks_size() == 0 || measured.has_failure();
    const bool is_for_it = environments_.NoteFile(placed.source, profile);
    findings->is_judging |= is_for_it;
    for (int benchmark :
         index_.FindBenchmarks(profile, placed.threshold.selector())) {
      JudgeBenchmark(placed, {profile, benchmark}, is_for_it, findings);
    }
    JudgeFamilies(placed, std::move(findings->members));
    findings->members.clear();
  }

  void JudgeBenchmark(const PlacedThreshold& placed, const BenchmarkKey& at,
                      bool is_for_it, Findings* findings) {
    const Threshold& threshold = placed.threshold;
    const RuleScope scope = ComputeScope(threshold);
    found_.clear();
    const bool is_whole =
        scope == RuleScope::kSamples
            ? index_.AppendRegions(at.first, at.second, threshold.selector(),
                                   &found_)
            : index_.AppendMeasurements(at.first, at.second,
                                        threshold.selector(),
                                        threshold.metric(), &found_);
    findings->names_something |= !found_.empty();
    LeaveOutExceptions(exceptions_, index_, placed,
                       is_for_it ? &verdict_ : nullptr, &found_);
    if (!is_for_it) {
      environments_.NoteForeign(at, found_, placed.source, placed.number);
      return;
    }
    coverage_.NoteRule(threshold, placed.location, at, found_);
    ++findings->named_count;
    findings->judged_count += found_.empty() ? 0 : 1;
    if (!is_whole) findings->lost.push_back({at.first, at.second});
    for (const Measurement& found : found_) {
      if (sources_[placed.source].file.has_environment()) {
        environments_.NoteKept(found, threshold);
      }
      coverage_.NoteJudged(found, IsBlocking(threshold));
      if (scope == RuleScope::kSamples) {
        JudgeSampled(placed, found);
      } else if (CanBeJudged(index_, placed, found, &verdict_)) {
        if (scope == RuleScope::kFamily) findings->members.push_back(found);
        JudgeMeasurement(placed, found);
      }
    }
  }

  void JudgeSampled(const PlacedThreshold& placed, const Measurement& found) {
    const MetricSamples samples =
        CollectSamples(samples_, index_.ProfileAt(found.profile).label(),
                       index_.BenchmarkAt(found).name(), index_.PhaseAt(found),
                       placed.threshold.metric());
    if (samples.values.empty()) {
      AddUndecided(index_, placed, found, INCONCLUSIVE,
                   "has no samples here, so it is not judged; correct the "
                   "metric, or judge it by a memory_gate_test that says "
                   "sampled = True",
                   &verdict_);
      return;
    }
    RuleInput input;
    input.samples = &samples;
    AddFigures(placed, found, RuleScope::kSamples, input);
  }

  void JudgeMeasurement(const PlacedThreshold& placed,
                        const Measurement& found) {
    RuleInput input;
    input.value = found.metric->value();
    input.determinism = found.metric->determinism();
    const Selector* const baseline = FindBaseline(placed.threshold);
    if (baseline != nullptr) {
      const Measurement compared = baselines_.Find(*baseline, placed.threshold,
                                                   placed.location, &verdict_);
      input.baseline = compared.metric;
      if (compared.metric != nullptr) {
        coverage_.NoteJudged(compared, IsBlocking(placed.threshold));
      }
    }
    AddFigures(placed, found, RuleScope::kMeasurement, input);
  }

  void JudgeFamilies(const PlacedThreshold& placed,
                     const std::vector<Measurement>& members) {
    for (const MeasuredFamily& family : CollectFamilies(index_, members)) {
      RuleInput input;
      input.determinism = family.determinism;
      input.sizes = family.sizes;
      AddFigures(placed, family.largest, RuleScope::kFamily, input);
    }
  }

  // Applies the rules of one scope. Adds their judgements, and problems where
  // nothing could be decided.
  void AddFigures(const PlacedThreshold& placed, const Measurement& found,
                  RuleScope scope, const RuleInput& input) {
    figures_.clear();
    JudgeByRules(placed.threshold, scope, input, &figures_);
    int part = 0;
    for (const RuledFigure& figure : figures_) {
      if (figure.decision == ACCEPT || figure.decision == REJECT) {
        judgements_.Add(found, placed.source, placed.number, figure, part);
      } else {
        AddUndecided(
            index_, placed, found, figure.decision,
            absl::StrCat("is not decided: ", figure.explanation, figure.advice),
            &verdict_);
      }
      if (scope == RuleScope::kFamily) ++part;
    }
  }

  // Notes the benchmarks that need no limit. Returns whether a profile has the
  // label of the exemption.
  bool Exempt(const ThresholdSource& source, int number) {
    const Selector& selector = source.file.exemption(number).selector();
    const std::vector<int> labelled = index_.FindProfiles(selector.label());
    if (labelled.empty()) {
      selectors_.AddUnknownLabel(source, source.LocationOfExemption(number),
                                 selector.label());
      return false;
    }
    bool names_something = false;
    for (int profile : labelled) {
      const MemoryProfile& measured = index_.ProfileAt(profile);
      const bool is_for_it = IsForEnvironment(measured, source);
      names_something |= measured.has_failure() || !is_for_it;
      if (!is_for_it) continue;
      for (int benchmark : index_.FindBenchmarks(profile, selector)) {
        names_something = true;
        coverage_.NoteExemption({profile, benchmark});
      }
    }
    if (!names_something) selectors_.AddIdleExemption(source, number);
    return true;
  }

  const absl::Span<const MemoryProfile> profiles_;
  const absl::Span<const ThresholdSource> sources_;
  const absl::Span<const MemorySamples> samples_;
  const UpdateCommand command_;
  const MeasurementIndex index_;
  const ThresholdExceptions exceptions_;
  Verdict verdict_;
  SelectorProblems selectors_;
  EnvironmentCheck environments_;
  CoverageCheck coverage_;
  BaselineFinder baselines_;
  JudgementList judgements_;
  std::vector<Measurement> found_;    // reused, to allocate less
  std::vector<RuledFigure> figures_;  // reused, to allocate less
};

}  // namespace

Verdict Evaluate(absl::Span<const MemoryProfile> profiles,
                 absl::Span<const ThresholdSource> thresholds,
                 const EvaluationOptions& options) {
  return Evaluation(profiles, thresholds, options).Run();
}

}  // namespace footprint
