#include "footprint/gates/judge/sampled_rule.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/gates/judge/environment_difference.h"
#include "footprint/gates/judge/threshold_numbers.h"
#include "footprint/gates/statistics/budget_bound.h"
#include "footprint/gates/statistics/distributions.h"
#include "footprint/gates/statistics/regression_decision.h"

namespace footprint {
namespace {

// Of a baseline that can reject.
constexpr size_t kLeastSittings = 3;

std::vector<double> Doubles(absl::Span<const int64_t> values) {
  return std::vector<double>(values.begin(), values.end());
}

Decision DecisionOf(SampleDecision::Kind kind) {
  return kind == SampleDecision::kAccept   ? ACCEPT
         : kind == SampleDecision::kReject ? REJECT
                                           : INCONCLUSIVE;
}

std::string DifferenceOf(const MemorySamples& a, const MemorySamples& b) {
  if (a.kernel() != b.kernel()) return "kernel";
  if (a.cpu_model() != b.cpu_model()) return "processor";
  return CountDifferences(a.environment(), b.environment()) > 0 ? "environment"
                                                                : "";
}

bool IsOfOthers(const MemorySamples& file, absl::string_view benchmark) {
  return file.benchmarks_size() > 0 &&
         std::none_of(file.benchmarks().begin(), file.benchmarks().end(),
                      [benchmark](const SampledBenchmark& sampled) {
                        return sampled.name() == benchmark;
                      });
}

void AppendValues(const MemorySamples& file, absl::string_view benchmark,
                  absl::string_view phase, MetricKind metric,
                  std::vector<int64_t>* values) {
  for (const SampledBenchmark& sampled : file.benchmarks()) {
    if (sampled.name() != benchmark) continue;
    for (const SampledMetric& of_metric : sampled.metrics()) {
      if (of_metric.kind() != metric || of_metric.phase() != phase) continue;
      values->insert(values->end(), of_metric.values().begin(),
                     of_metric.values().end());
    }
  }
}

// Numbers of values of each sitting; one that holds all where none is stated.
std::vector<int> SittingsOf(const SampleBaseline& baseline) {
  if (baseline.sittings_size() == 0) return {baseline.values_size()};
  return {baseline.sittings().begin(), baseline.sittings().end()};
}

// The block of text format, to be put into `regression`: the runs of `before`,
// if it is of the same machine, and these.
std::string BaselineText(const SampleBaseline& before,
                         const MetricSamples& samples) {
  std::vector<int64_t> values(before.values().begin(), before.values().end());
  values.insert(values.end(), samples.values.begin(), samples.values.end());
  std::vector<int> sittings;
  if (before.values_size() > 0) sittings = SittingsOf(before);
  sittings.push_back(static_cast<int>(samples.values.size()));
  return absl::StrCat("baseline { kernel: \"", absl::CEscape(samples.kernel),
                      "\" cpu_model: \"", absl::CEscape(samples.cpu_model),
                      "\" values: [", absl::StrJoin(values, ", "),
                      "] sittings: [", absl::StrJoin(sittings, ", "), "] }");
}

// By how much of the baseline's median another sitting may lie above it with a
// probability of 0.001: the bound of a prediction of one more value of a normal
// distribution. Zero of fewer than kLeastSittings.
double SpreadOfSittings(const SampleBaseline& baseline) {
  const std::vector<int> sittings = SittingsOf(baseline);
  if (sittings.size() < kLeastSittings) return 0;
  constexpr double kFalseAlarmShare = 0.001;
  std::vector<double> medians;
  auto begin = baseline.values().begin();
  for (const int count : sittings) {
    medians.push_back(MedianOf(std::vector<double>(begin, begin + count)));
    begin += count;
  }
  const auto count = static_cast<double>(medians.size());
  const double mean =
      std::accumulate(medians.begin(), medians.end(), 0.0) / count;
  double squares = 0;
  for (const double median : medians)
    squares += (median - mean) * (median - mean);
  return StudentUpperQuantile(static_cast<int>(medians.size()) - 1,
                              kFalseAlarmShare) *
         std::sqrt(squares / (count - 1) * (1 + 1 / count)) / mean;
}

RuledFigure JudgeShare(const Threshold& threshold,
                       const MetricSamples& samples) {
  RuledFigure figure;
  figure.rule = BUDGET;
  const NumberField* const maximum = FindNumber(threshold, MAXIMUM);
  if (maximum == nullptr) {
    figure.decision = BAD_CONFIGURATION;
    figure.explanation = "a budget stands beside no maximum";
    return figure;
  }
  figure.limit = maximum->Get(threshold);
  FittingRuns runs;
  for (int64_t value : samples.values) {
    ++runs.run_count;
    runs.exceeding += value > figure.limit ? 1 : 0;
    figure.measured =
        runs.run_count == 1 ? value : std::max(figure.measured, value);
  }
  const SampleDecision decision = JudgeBudget(
      runs, {threshold.budget().share(), threshold.budget().confidence()});
  figure.decision = DecisionOf(decision.kind);
  figure.explanation = decision.reason;
  figure.change_to_accept =
      absl::StrCat(maximum->name, ": ", figure.measured, ", or more");
  return figure;
}

// Why the baseline cannot be compared with; empty: it can.
std::string WhyForeign(const SampleBaseline& baseline,
                       const MetricSamples& samples) {
  if (baseline.kernel() != samples.kernel) {
    return absl::StrCat("the baseline is of kernel \"", baseline.kernel(),
                        "\", and this is \"", samples.kernel, "\"");
  }
  if (baseline.cpu_model() != samples.cpu_model) {
    return absl::StrCat("the baseline is of a processor \"",
                        baseline.cpu_model(), "\", and this is \"",
                        samples.cpu_model, "\"");
  }
  return "";
}

RuledFigure JudgeGrowth(const Regression& rule, const MetricSamples& samples) {
  RuledFigure figure;
  figure.rule = REGRESSION;
  figure.change_to_accept = BaselineText(SampleBaseline(), samples);
  const std::vector<double> current = Doubles(samples.values);
  const std::vector<double> baseline(rule.baseline().values().begin(),
                                     rule.baseline().values().end());
  if (!current.empty()) figure.measured = std::llround(MedianOf(current));
  const double spread = SpreadOfSittings(rule.baseline());
  if (!baseline.empty()) {
    figure.limit =
        std::llround(MedianOf(baseline) * (1 + rule.tolerance() + spread));
  }
  if (rule.has_baseline() && !WhyForeign(rule.baseline(), samples).empty()) {
    figure.decision = ENVIRONMENT_MISMATCH;
    figure.explanation = WhyForeign(rule.baseline(), samples);
    return figure;
  }
  const SampleDecision decision =
      JudgeRegression(baseline, current,
                      {rule.tolerance() + spread, rule.detectable() + spread});
  figure.decision = DecisionOf(decision.kind);
  figure.explanation = decision.reason;
  const size_t sitting_count = SittingsOf(rule.baseline()).size();
  if (figure.decision == REJECT && sitting_count < kLeastSittings) {
    figure.decision = INCONCLUSIVE;
    figure.change_to_accept = BaselineText(rule.baseline(), samples);
    absl::StrAppend(&figure.explanation,
                    "; but runs of one sitting lie above those of "
                    "another although nothing changed, and the baseline has ",
                    sitting_count,
                    sitting_count == 1 ? " sitting" : " sittings", " of ",
                    kLeastSittings,
                    " that tell by how much: measure the old program again, "
                    "another day, and put its runs into the baseline, too");
  }
  return figure;
}

}  // namespace

MetricSamples CollectSamples(absl::Span<const MemorySamples> files,
                             absl::string_view label,
                             absl::string_view benchmark,
                             absl::string_view phase, MetricKind metric) {
  MetricSamples samples;
  const MemorySamples* first = nullptr;
  for (const MemorySamples& file : files) {
    if (file.label() != label) continue;
    // Whole processes have files of their own.
    if (IsOfOthers(file, benchmark)) continue;
    if (first == nullptr) first = &file;
    if (samples.difference.empty()) {
      samples.difference = DifferenceOf(*first, file);
    }
    AppendValues(file, benchmark, phase, metric, &samples.values);
  }
  if (first != nullptr) {
    samples.kernel = first->kernel();
    samples.cpu_model = first->cpu_model();
  }
  return samples;
}

bool IsSampled(const Threshold& threshold) {
  return threshold.has_budget() || threshold.has_regression();
}

std::vector<RuledFigure> JudgeSamples(const Threshold& threshold,
                                      const MetricSamples& samples) {
  std::vector<RuledFigure> figures;
  if (threshold.has_budget()) {
    figures.push_back(JudgeShare(threshold, samples));
  }
  if (threshold.has_regression()) {
    figures.push_back(JudgeGrowth(threshold.regression(), samples));
  }
  if (samples.difference.empty()) return figures;
  for (RuledFigure& figure : figures) {
    figure.decision = ENVIRONMENT_MISMATCH;
    figure.explanation = absl::StrCat(
        "its samples were taken under more than one ", samples.difference);
  }
  return figures;
}

}  // namespace footprint
