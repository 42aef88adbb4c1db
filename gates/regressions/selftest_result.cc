#include "footprint/gates/regressions/selftest_result.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/text_table.h"
#include "footprint/gates/commands/gate_targets.h"
#include "footprint/gates/reports/verdict_words.h"
#include "footprint/profiling/schema/metric_kind.h"
#include "footprint/profiling/schema/metric_reading.h"

namespace footprint {
namespace {

constexpr double kCaughtShare = 0.99;

const BenchmarkMemory* FindBenchmark(const MemoryProfile& profile,
                                     const std::string& name) {
  for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
    if (benchmark.name() == name) return &benchmark;
  }
  return nullptr;
}

// Returns the path, "loop/load", of the phase `index`.
std::string MakePhasePath(const BenchmarkMemory& benchmark, int index) {
  const Phase& phase = benchmark.phases(index);
  if (phase.parent() < 0) return phase.name();
  return absl::StrCat(MakePhasePath(benchmark, phase.parent()), "/",
                      phase.name());
}

int64_t FigureIn(const BenchmarkMemory& benchmark, const JudgedFigure& figure) {
  MetricReading reading;
  if (figure.phase.empty()) reading = ReadMetric(benchmark, figure.metric);
  for (int i = 0; i < benchmark.phases_size(); ++i) {
    if (!figure.phase.empty() && MakePhasePath(benchmark, i) == figure.phase) {
      reading = ReadMetric(benchmark.phases(i), figure.metric);
    }
  }
  return reading.bytes_or_count.value_or(figure.measured);
}

// Returns the suite's profiles with the run's benchmarks in place of their own.
std::vector<MemoryProfile> WithRun(const std::vector<MemoryProfile>& base,
                                   const std::string& label,
                                   const MemoryProfile& measured) {
  std::vector<MemoryProfile> profiles = base;
  for (MemoryProfile& profile : profiles) {
    if (profile.label() != label) continue;
    for (BenchmarkMemory& benchmark : *profile.mutable_benchmarks()) {
      const BenchmarkMemory* const now =
          FindBenchmark(measured, benchmark.name());
      if (now == nullptr) continue;
      BenchmarkMemory replaced = *now;
      TakeImage(benchmark, &replaced);
      benchmark = std::move(replaced);
    }
  }
  return profiles;
}

using Metrics = google::protobuf::RepeatedPtrField<Metric>;

void TakeImage(const Metrics& base, Metrics* measured) {
  const Metric* const image = FindMetric(base, IMAGE_BYTES);
  for (Metric& metric : *measured) {
    if (metric.kind() == IMAGE_BYTES && image != nullptr) metric = *image;
  }
}

void AddRules(const Verdict& verdict, RegressionTrial* trial) {
  for (const Judgement& judgement : verdict.judgements()) {
    if (FindOutcome(judgement) != Outcome::kRejects) continue;
    if (std::find(trial->rules.begin(), trial->rules.end(), judgement.rule()) ==
        trial->rules.end()) {
      trial->rules.push_back(judgement.rule());
    }
  }
}

struct Tally {
  size_t planted = 0;
  size_t caught = 0;
  size_t not_planted = 0;
  std::map<RuleKind, size_t> by_rule;
  size_t otherwise = 0;  // neither accepted nor rejected by a rule
};

void Add(const RegressionTrial& trial, Tally* tally) {
  if (trial.end == TrialEnd::kNotPlanted) {
    ++tally->not_planted;
    return;
  }
  ++tally->planted;
  if (trial.end != TrialEnd::kCaught) return;
  ++tally->caught;
  for (const RuleKind rule : trial.rules) ++tally->by_rule[rule];
  if (trial.rules.empty()) ++tally->otherwise;
}

std::string ShareText(const Tally& tally) {
  if (tally.planted == 0) return "-";
  return absl::StrFormat("%.1f %%", 100.0 * static_cast<double>(tally.caught) /
                                        static_cast<double>(tally.planted));
}

std::string CountText(size_t count) {
  return count == 0 ? "-" : FormatCount(static_cast<int64_t>(count));
}

std::vector<std::string> MakeRow(const std::string& name, const Tally& tally) {
  const auto of_rule = [&tally](RuleKind rule) {
    const auto found = tally.by_rule.find(rule);
    return CountText(found == tally.by_rule.end() ? 0 : found->second);
  };
  return {name,
          CountText(tally.planted),
          CountText(tally.caught),
          ShareText(tally),
          of_rule(EXACT_VALUE),
          of_rule(MAXIMUM),
          of_rule(MAXIMUM_RATIO),
          CountText(tally.otherwise)};
}

std::string Table(const std::string& heading,
                  const std::vector<std::pair<std::string, Tally>>& tallies) {
  constexpr size_t kFigureWidth = 5;
  TextTable table({{heading, TextTable::kWords, 24},
                   {"planted", TextTable::kFigures},
                   {"caught", TextTable::kFigures},
                   {"share", TextTable::kFigures, 7},
                   {"exact", TextTable::kFigures, kFigureWidth},
                   {"max", TextTable::kFigures, kFigureWidth},
                   {"ratio", TextTable::kFigures, kFigureWidth},
                   {"other", TextTable::kFigures, kFigureWidth}},
                  1);
  std::string text = table.Headings();
  for (const auto& [name, tally] : tallies) {
    absl::StrAppend(&text, table.Row(MakeRow(name, tally)));
  }
  return text;
}

std::string TableBySort(const SelftestResult& result) {
  std::vector<std::pair<std::string, Tally>> tallies;
  Tally all;
  for (const RegressionSortName& sort : kRegressionSorts) {
    Tally tally;
    for (const RegressionTrial& trial : result.trials) {
      if (trial.planned.sort == sort.sort) Add(trial, &tally);
    }
    tallies.emplace_back(sort.name, tally);
  }
  for (const RegressionTrial& trial : result.trials) Add(trial, &all);
  tallies.emplace_back("all", all);
  return Table("regression", tallies);
}

std::string TableByDeployment(const SelftestResult& result) {
  std::map<std::string, Tally> by_label;
  for (const RegressionTrial& trial : result.trials) {
    Add(trial, &by_label[trial.planned.figure.label]);
  }
  std::vector<std::pair<std::string, Tally>> tallies;
  for (const auto& [label, tally] : by_label) {
    tallies.emplace_back(label.substr(label.rfind(':') + 1), tally);
  }
  return Table("deployment", tallies);
}

std::string NameOfSort(RegressionSort sort) {
  for (const RegressionSortName& named : kRegressionSorts) {
    if (named.sort == sort) return named.name;
  }
  return "";
}

std::string Describe(const RegressionTrial& trial) {
  const JudgedFigure& figure = trial.planned.figure;
  const PlantedRegression& planted = trial.planned.planted;
  std::string text = absl::StrCat(
      NameOfSort(trial.planned.sort), ": ", figure.label, " ", figure.benchmark,
      figure.phase.empty() ? "" : ", phase ", figure.phase, "\n    ",
      ShortNameOfMetric(figure.metric), " ",
      FormatMetricValue(figure.metric, figure.measured), ", at least ",
      FormatMetricValue(figure.metric, trial.planned.expected_growth),
      " more expected, ",
      FormatMetricValue(figure.metric, trial.measured_growth),
      " measured\n    planted in ", planted.phase, ", call ", planted.call,
      ", ", planted.count, " x ", FormatBytes(planted.bytes), "\n");
  if (!trial.why.empty()) absl::StrAppend(&text, "    ", trial.why, "\n");
  return text;
}

std::string Listed(const SelftestResult& result, TrialEnd end,
                   absl::string_view heading) {
  std::string text;
  for (const RegressionTrial& trial : result.trials) {
    if (trial.end != end) continue;
    absl::StrAppend(&text, text.empty() ? heading : "", "  ", Describe(trial));
  }
  return text;
}

std::string LeftOut(const SelftestResult& result) {
  std::string text;
  if (!result.uncovered.empty()) {
    absl::StrAppend(
        &text,
        "\nJudged, but nothing can be planted there (measured as they are, or "
        "not\nnamed in ",
        GateTarget("selftest"), "):\n");
    for (const std::string& label : result.uncovered) {
      absl::StrAppend(&text, "  ", label, "\n");
    }
  }
  if (!result.untried.empty()) absl::StrAppend(&text, "\nCannot be tried:\n");
  for (const UntriedBenchmark& untried : result.untried) {
    absl::StrAppend(&text, "  ", untried.label, " ", untried.benchmark,
                    "\n    ", untried.why, "\n");
  }
  return text;
}

}  // namespace

const BenchmarkMemory* FindBenchmark(const std::vector<MemoryProfile>& profiles,
                                     const std::string& label,
                                     const std::string& name) {
  for (const MemoryProfile& profile : profiles) {
    if (profile.label() != label) continue;
    const BenchmarkMemory* const found = FindBenchmark(profile, name);
    if (found != nullptr) return found;
  }
  return nullptr;
}

size_t SelftestResult::Count(TrialEnd end) const {
  return static_cast<size_t>(std::count_if(
      trials.begin(), trials.end(),
      [end](const RegressionTrial& trial) { return trial.end == end; }));
}

bool SelftestResult::IsPassed() const {
  const size_t caught = Count(TrialEnd::kCaught);
  return trials.size() >= asked_count && Count(TrialEnd::kNotPlanted) == 0 &&
         static_cast<double>(caught) >=
             kCaughtShare * static_cast<double>(trials.size());
}

void TakeImage(const BenchmarkMemory& base, BenchmarkMemory* measured) {
  TakeImage(base.metrics(), measured->mutable_metrics());
  const int phases = std::min(base.phases_size(), measured->phases_size());
  for (int i = 0; i < phases; ++i) {
    TakeImage(base.phases(i).metrics(),
              measured->mutable_phases(i)->mutable_metrics());
  }
}

RegressionTrial JudgeTrial(const PlannedRegression& planned,
                           const PlantedRun& run, const GateInput& base,
                           const EvaluationOptions& options) {
  RegressionTrial trial;
  trial.planned = planned;
  const BenchmarkMemory* const measured =
      FindBenchmark(run.profile, planned.figure.benchmark);
  if (measured == nullptr) {
    trial.why = "the benchmark was not measured";
    return trial;
  }
  if (run.process_count != run.profile.process_count()) {
    trial.why = absl::StrCat("took effect in ", run.process_count, " of ",
                             run.profile.process_count(), " processes");
    return trial;
  }
  trial.measured_growth =
      FigureIn(*measured, planned.figure) - planned.figure.measured;
  const std::vector<MemoryProfile> profiles =
      WithRun(base.profiles, planned.figure.label, run.profile);
  const Verdict verdict = Evaluate(profiles, base.thresholds, options);
  trial.decision = verdict.decision();
  trial.end = trial.decision == ACCEPT ? TrialEnd::kMissed : TrialEnd::kCaught;
  AddRules(verdict, &trial);
  return trial;
}

std::string WriteSelftestText(const SelftestResult& result) {
  const size_t planted =
      result.Count(TrialEnd::kCaught) + result.Count(TrialEnd::kMissed);
  std::string text = absl::StrCat(TableBySort(result), "\n",
                                  TableByDeployment(result), LeftOut(result));
  absl::StrAppend(&text, Listed(result, TrialEnd::kMissed, "\nMISSED:\n"),
                  Listed(result, TrialEnd::kNotPlanted, "\nNOT PLANTED:\n"));
  if (result.trials.size() < result.asked_count) {
    absl::StrAppend(&text, "\nOnly ", result.trials.size(), " of ",
                    result.asked_count,
                    " regressions have a place; ask for fewer, or for more "
                    "benchmarks\n");
  }
  absl::StrAppend(&text, "\n", result.IsPassed() ? "PASSED" : "FAILED", " ",
                  planted, " regressions planted, ",
                  result.Count(TrialEnd::kCaught), " caught, ",
                  result.Count(TrialEnd::kMissed), " missed, ",
                  result.Count(TrialEnd::kNotPlanted), " not planted\n");
  return text;
}

}  // namespace footprint
