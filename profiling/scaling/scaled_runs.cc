#include "footprint/profiling/scaling/scaled_runs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/profiling/schema/metric_reading.h"
#include "footprint/profiling/schema/whole_process.h"

namespace footprint {
namespace {

// The most stages in a chart: charts distinguish 8 colours, and kOutside has
// one.
constexpr size_t kMaxStages = 7;
constexpr char kOtherStages[] = "other stages";

StageBytes Difference(const StageBytes& a, const StageBytes& b) {
  if (!a.has_value() || !b.has_value()) return absl::nullopt;
  return std::max<int64_t>(0, *a - *b);
}

StageBytes Sum(const StageBytes& a, const StageBytes& b) {
  if (!a.has_value() || !b.has_value()) return absl::nullopt;
  return *a + *b;
}

const StageBytes& FindFigure(const ScaledStage& stage, ScaledFigure figure) {
  return figure == ScaledFigure::kPeak ? stage.peak_bytes : stage.volume_bytes;
}

const StageBytes& FindFigure(const ScaledRun& run, ScaledFigure figure) {
  return figure == ScaledFigure::kPeak ? run.peak_bytes : run.volume_bytes;
}

// Returns zero if the run has no such stage.
StageBytes FigureOfStage(const ScaledRun& run, const std::string& stage,
                         ScaledFigure figure) {
  for (const ScaledStage& each : run.stages) {
    if (each.name == stage) return FindFigure(each, figure);
  }
  return 0;
}

// Returns the peak outside all stages. `before` was live when the first stage
// began; `highest` is the highest peak in any stage, and `left` is what all of
// them left; if that is negative, they freed what others had allocated, and
// nothing of theirs is live.
StageBytes PeakOutside(const StageBytes& whole, const StageBytes& before,
                       const StageBytes& highest, const StageBytes& left) {
  if (!whole.has_value() || !highest.has_value() || *whole <= *highest) {
    return before;
  }
  const StageBytes outside = Difference(
      whole, left.has_value() ? StageBytes(std::max<int64_t>(0, *left)) : left);
  return outside.has_value() && before.has_value() ? std::max(outside, before)
                                                   : outside;
}

void AddStages(const BenchmarkMemory& memory, ScaledRun* run) {
  StageBytes before;
  StageBytes highest = 0;
  StageBytes left = 0;
  StageBytes inside = 0;
  for (const Phase& phase : memory.phases()) {
    // Memory outside the heap is not a stage of the program.
    if (phase.parent() >= 0 || phase.name() == kUnaccountedPhase) continue;
    ScaledStage stage;
    stage.name = phase.name();
    stage.peak_bytes = ReadMetric(phase, PEAK_LIVE_USABLE_BYTES).bytes_or_count;
    stage.volume_bytes =
        ReadMetric(phase, ALLOCATED_USABLE_BYTES).bytes_or_count;
    const StageBytes mark =
        ReadMetric(phase, PEAK_LIVE_ABSOLUTE_USABLE_BYTES).bytes_or_count;
    if (run->stages.empty()) before = Difference(mark, stage.peak_bytes);
    // Unknown once, it stays unknown.
    highest = !highest.has_value() || !mark.has_value()
                  ? StageBytes()
                  : std::max(highest, mark);
    left = Sum(left, ReadMetric(phase, NET_GROWTH_USABLE_BYTES).bytes_or_count);
    inside = Sum(inside, stage.volume_bytes);
    run->stages.push_back(stage);
  }
  if (run->stages.empty()) {
    run->stages.push_back({kWholeRun, run->peak_bytes, run->volume_bytes});
    return;
  }
  run->stages.push_back(
      {kOutside,
       PeakOutside(
           ReadMetric(memory, PEAK_LIVE_ABSOLUTE_USABLE_BYTES).bytes_or_count,
           before, highest, left),
       Difference(run->volume_bytes, inside)});
}

// Returns the names in the order of the runs, with kOutside last.
std::vector<std::string> StageNames(const std::vector<ScaledRun>& runs) {
  std::vector<std::string> names;
  bool has_outside = false;
  for (const ScaledRun& run : runs) {
    for (const ScaledStage& stage : run.stages) {
      if (stage.name == kOutside) {
        has_outside = true;
      } else if (std::count(names.begin(), names.end(), stage.name) == 0) {
        names.push_back(stage.name);
      }
    }
  }
  if (has_outside) names.push_back(kOutside);
  return names;
}

// Returns the stages that keep their own name: those with the highest figure.
std::vector<std::string> LargestStages(const std::vector<ScaledRun>& runs,
                                       const std::vector<std::string>& names) {
  if (names.size() <= kMaxStages + 1) return names;
  std::vector<std::pair<int64_t, std::string>> sorted;
  for (const std::string& name : names) {
    int64_t highest = 0;
    for (const ScaledRun& run : runs) {
      for (ScaledFigure figure : {ScaledFigure::kPeak, ScaledFigure::kVolume}) {
        highest =
            std::max(highest, FigureOfStage(run, name, figure).value_or(0));
      }
    }
    sorted.emplace_back(name == kOutside ? INT64_MIN : -highest, name);
  }
  std::sort(sorted.begin(), sorted.end());
  sorted.resize(kMaxStages);
  std::vector<std::string> largest;
  for (const std::string& name : names) {
    const bool is_in =
        std::any_of(sorted.begin(), sorted.end(),
                    [&name](const auto& each) { return each.second == name; });
    if (is_in) largest.push_back(name);
  }
  return largest;
}

std::string FindProgram(const BenchmarkMemory& memory) {
  return memory.name().substr(0, memory.name().find('/'));
}

StageLaw FitLaw(const std::vector<const ScaledRun*>& runs,
                const std::vector<size_t>& numeric, const std::string& stage,
                ScaledFigure figure) {
  StageLaw law;
  law.stage = stage;
  law.figure = figure;
  std::vector<ScalingPoint> points;
  for (const ScaledRun* run : runs) {
    const StageBytes bytes = stage == kWholeRun
                                 ? FindFigure(*run, figure)
                                 : FigureOfStage(*run, stage, figure);
    if (!bytes.has_value()) continue;
    points.push_back({FindNumbers(*run, numeric), static_cast<double>(*bytes)});
  }
  law.law = FitScalingLaw(points);
  return law;
}

}  // namespace

ScaledRun MakeScaledRun(const BenchmarkMemory& memory) {
  ScaledRun run;
  run.program = FindProgram(memory);
  run.peak_bytes = ReadMetric(memory, PEAK_LIVE_USABLE_BYTES).bytes_or_count;
  run.volume_bytes = ReadMetric(memory, ALLOCATED_USABLE_BYTES).bytes_or_count;
  run.resident_bytes = ReadMetric(memory, PEAK_RESIDENT_BYTES).bytes_or_count;
  AddStages(memory, &run);
  return run;
}

absl::Status AddProfile(const MemoryProfile& profile,
                        const std::string& renamed_program, ScaledRuns* runs) {
  if (profile.benchmarks().empty()) {
    std::string said = profile.failure().standard_error_tail();
    if (!said.empty()) absl::StrAppend(&said, "; ");
    absl::StrAppend(&said, profile.failure().detail());
    return absl::FailedPreconditionError(absl::StrCat(
        EscapeForTerminal(profile.label()), " gave no measurement: ",
        EscapeForTerminal(said), "; run the program by itself to see why"));
  }
  for (const BenchmarkMemory& memory : profile.benchmarks()) {
    ScaledRun run = MakeScaledRun(memory);
    if (!renamed_program.empty()) run.program = renamed_program;
    for (const std::string& variable : runs->variables) {
      const auto argument =
          std::find_if(memory.arguments().begin(), memory.arguments().end(),
                       [&variable](const Argument& each) {
                         return each.name() == variable;
                       });
      if (argument == memory.arguments().end()) {
        return absl::InvalidArgumentError(absl::StrCat(
            profile.label(), ": ", memory.name(), " has no argument \"",
            variable, "\"; take variables that all programs have"));
      }
      run.values.push_back(argument->value());
    }
    runs->runs.push_back(std::move(run));
  }
  return absl::OkStatus();
}

std::vector<size_t> NumericVariables(const ScaledRuns& runs) {
  std::vector<size_t> numeric;
  for (size_t i = 0; i < runs.variables.size(); ++i) {
    const bool is_number = std::all_of(
        runs.runs.begin(), runs.runs.end(), [i](const ScaledRun& run) {
          double value = 0;
          return absl::SimpleAtod(run.values[i], &value) &&
                 std::isfinite(value) && value >= 0;
        });
    if (is_number) numeric.push_back(i);
  }
  return numeric;
}

std::vector<double> FindNumbers(const ScaledRun& run,
                                const std::vector<size_t>& variables) {
  std::vector<double> numbers;
  for (size_t variable : variables) {
    double value = 0;
    (void)absl::SimpleAtod(run.values[variable], &value);
    numbers.push_back(value);
  }
  return numbers;
}

std::string SeriesName(const ScaledRuns& runs, const ScaledRun& run,
                       const std::vector<size_t>& numeric) {
  std::string name = run.program;
  for (size_t i = 0; i < runs.variables.size(); ++i) {
    if (std::count(numeric.begin(), numeric.end(), i) == 0) {
      absl::StrAppend(&name, " ", runs.variables[i], "=", run.values[i]);
    }
  }
  return name;
}

StagedRuns CollectStages(const ScaledRuns& runs, ScaledFigure figure) {
  std::vector<ScaledRun> measured;
  for (const ScaledRun& run : runs.runs) {
    if (run.failure.empty()) measured.push_back(run);
  }
  const std::vector<std::string> names = StageNames(measured);
  const std::vector<size_t> numeric = NumericVariables(runs);
  StagedRuns staged;
  for (size_t i : numeric) staged.label_names.push_back(runs.variables[i]);
  staged.stages = LargestStages(measured, names);
  const bool has_others = staged.stages.size() < names.size();
  for (const ScaledRun& run : measured) {
    StagedRun shown = {SeriesName(runs, run, numeric), {}, {}};
    for (size_t i : numeric) shown.labels.push_back(run.values[i]);
    for (const std::string& stage : staged.stages) {
      shown.bytes.push_back(FigureOfStage(run, stage, figure));
    }
    StageBytes others = 0;
    for (const ScaledStage& stage : run.stages) {
      if (std::count(staged.stages.begin(), staged.stages.end(), stage.name) ==
          0) {
        others = Sum(others, FindFigure(stage, figure));
      }
    }
    if (has_others) shown.bytes.push_back(others);
    staged.runs.push_back(std::move(shown));
  }
  if (has_others) staged.stages.push_back(kOtherStages);
  return staged;
}

std::vector<StageLaw> StageLaws(const ScaledRuns& runs) {
  const std::vector<size_t> numeric = NumericVariables(runs);
  std::vector<std::string> series;
  std::map<std::string, std::vector<const ScaledRun*>> runs_of;
  for (const ScaledRun& run : runs.runs) {
    if (!run.failure.empty()) continue;
    const std::string name = SeriesName(runs, run, numeric);
    if (runs_of.count(name) == 0) series.push_back(name);
    runs_of[name].push_back(&run);
  }
  std::vector<StageLaw> laws;
  for (const std::string& name : series) {
    std::vector<ScaledRun> own;
    for (const ScaledRun* run : runs_of[name]) own.push_back(*run);
    std::vector<std::string> stages = {kWholeRun};
    for (const std::string& stage : StageNames(own)) {
      if (stage != kWholeRun) stages.push_back(stage);
    }
    for (const std::string& stage : stages) {
      for (ScaledFigure figure : {ScaledFigure::kPeak, ScaledFigure::kVolume}) {
        laws.push_back(FitLaw(runs_of[name], numeric, stage, figure));
        laws.back().program = name;
      }
    }
  }
  return laws;
}

}  // namespace footprint
