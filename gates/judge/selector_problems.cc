#include "footprint/gates/judge/selector_problems.h"

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/near_names.h"
#include "footprint/gates/judge/selector.h"
#include "footprint/gates/judge/verdict_problem.h"
#include "footprint/profiling/schema/metric_kind.h"

namespace footprint {
namespace {

constexpr int kMaximumSuggestions = 20;

// Collects the names of a benchmark's phases, and of the metrics in the phases
// that match `phase`.
void CollectNames(const BenchmarkMemory& benchmark, const std::string& phase,
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

}  // namespace

void SelectorProblems::AddUnknownLabel(const ThresholdSource& source,
                                       const std::string& location,
                                       const std::string& label) {
  const bool is_shared = source.file.shared();
  if (is_shared && !is_complete_) return;
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
                               "kept for other gates too"),
      verdict_);
}

void SelectorProblems::AddUnusedFile(const ThresholdSource& source) {
  if (!source.file.shared() || is_complete_) return;
  AddProblem(BAD_CONFIGURATION, source.path,
             "none of its labels is that of a profile of this gate, so it "
             "judges nothing here; correct them, or take the file out of "
             "the gate",
             verdict_);
}

void SelectorProblems::CheckCount(const ThresholdSource& source, int number,
                                  int named_count) {
  const ThresholdFile& file = source.file;
  const Threshold& threshold = file.threshold(number);
  // In a shared file, other gates measure the rest of the labels.
  const bool is_part = file.shared() && !is_complete_ &&
                       !IsLiteral(threshold.selector().label());
  const int counted = threshold.benchmark_count();
  if (!threshold.has_benchmark_count() || is_part || counted == named_count)
    return;
  AddProblem(BAD_CONFIGURATION, source.DescribeLocation(number),
             absl::StrCat(DescribeSelector(threshold.selector()),
                          ": its benchmark_count was ", counted, ", and is ",
                          named_count,
                          counted > named_count
                              ? " now: a benchmark, a size or a deployment "
                                "is gone; bring it back, or write "
                              : " now; write ",
                          "benchmark_count: ", named_count),
             verdict_);
}

std::string SelectorProblems::Suggest(const std::string& name,
                                      const std::vector<std::string>& known) {
  return ++suggestion_count_ > kMaximumSuggestions ? ""
                                                   : DidYouMean(name, known);
}

// Returns why there is no measurement. `phases` and `metrics` are from
// CollectNames.
std::string SelectorProblems::ExplainMissing(
    const Threshold& threshold, const std::vector<std::string>& phases,
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

std::string SelectorProblems::ExplainUnmatched(
    const Threshold& threshold, const std::vector<int>& labelled) {
  const Selector& selector = threshold.selector();
  std::vector<std::string> names, phases, metrics;
  bool names_benchmark = false;
  for (int profile : labelled) {
    for (const BenchmarkMemory& benchmark :
         index_.ProfileAt(profile).benchmarks()) {
      names.push_back(benchmark.name());
      names_benchmark |= selector.benchmark().empty() ||
                         GlobMatches(selector.benchmark(), benchmark.name());
    }
    for (int benchmark : index_.FindBenchmarks(profile, selector)) {
      CollectNames(index_.ProfileAt(profile).benchmarks(benchmark),
                   selector.phase(), &phases, &metrics);
    }
  }
  if (!names_benchmark) {
    return absl::StrCat("no benchmark is named \"", selector.benchmark(), "\"",
                        Suggest(selector.benchmark(), names));
  }
  if (phases.empty() && metrics.empty()) {
    return "no benchmark of that name has these arguments";
  }
  return ExplainMissing(threshold, phases, metrics);
}

void SelectorProblems::AddUnmatched(const ThresholdSource& source, int number,
                                    const std::vector<int>& labelled) {
  const Threshold& threshold = source.file.threshold(number);
  AddProblem(
      BAD_CONFIGURATION, source.DescribeLocation(number),
      absl::StrCat("matches nothing: ", DescribeSelector(threshold.selector()),
                   ": ", ExplainUnmatched(threshold, labelled),
                   "; correct the selector, or take the threshold "
                   "away"),
      verdict_);
}

void SelectorProblems::AddLost(const ThresholdSource& source, int number,
                               const std::vector<Measurement>& lost) {
  constexpr size_t kMostNames = 3;
  const Threshold& threshold = source.file.threshold(number);
  std::string names;
  for (size_t i = 0; i < lost.size() && i < kMostNames; ++i) {
    absl::StrAppend(&names, i == 0 ? "" : ", ",
                    index_.ProfileAt(lost[i].profile).label(), " ",
                    index_.BenchmarkAt(lost[i]).name());
  }
  if (lost.size() > kMostNames) {
    absl::StrAppend(&names, " and ", lost.size() - kMostNames, " more");
  }
  std::vector<std::string> phases, metrics;
  CollectNames(index_.BenchmarkAt(lost[0]), threshold.selector().phase(),
               &phases, &metrics);
  AddProblem(
      BAD_CONFIGURATION, source.DescribeLocation(number),
      absl::StrCat("does not judge ", names, ", which it names: ",
                   ExplainMissing(threshold, phases, metrics),
                   "; give the benchmark back what it lost, or narrow the "
                   "selector"),
      verdict_);
}

void SelectorProblems::AddIdleExemption(const ThresholdSource& source,
                                        int number) {
  AddProblem(
      BAD_CONFIGURATION, source.LocationOfExemption(number),
      absl::StrCat("exempts nothing: ",
                   DescribeSelector(source.file.exemption(number).selector()),
                   ": no benchmark is named so; correct the selector, or take "
                   "the exemption away"),
      verdict_);
}

}  // namespace footprint
