#include "footprint/gates/deployments/tabular/stage_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/profiling/page.h"

namespace footprint {
namespace tabular {
namespace {

constexpr size_t kStartup = 0;
constexpr size_t kFit = 2;

int64_t MetricOf(const google::protobuf::RepeatedPtrField<Metric>& metrics,
                 MetricKind kind) {
  for (const Metric& metric : metrics) {
    if (metric.kind() == kind) return metric.value();
  }
  return 0;
}

std::string ArgumentOf(const BenchmarkMemory& memory, const char* name) {
  for (const Argument& argument : memory.arguments()) {
    if (argument.name() == name) return argument.value();
  }
  return "";
}

absl::Status AddStages(const BenchmarkMemory& memory, StageRun* run) {
  for (size_t i = 0; i < kStages.size(); ++i) {
    const auto phase =
        std::find_if(memory.phases().begin(), memory.phases().end(),
                     [i](const Phase& p) { return p.name() == kStages[i]; });
    if (phase == memory.phases().end()) {
      return absl::InvalidArgumentError(
          absl::StrCat(memory.name(), " has no phase \"", kStages[i], "\""));
    }
    run->peak_bytes[i] = MetricOf(phase->metrics(), PEAK_LIVE_USABLE_BYTES) +
                         MetricOf(phase->metrics(), PEAK_MAPPED_BYTES);
    if (i == kStartup) {
      run->peak_bytes[i] += MetricOf(phase->metrics(), IMAGE_BYTES);
    }
    run->volume_bytes[i] = MetricOf(phase->metrics(), ALLOCATED_USABLE_BYTES);
  }
  return absl::OkStatus();
}

absl::StatusOr<StageRun> RunOf(const BenchmarkMemory& memory) {
  StageRun run;
  run.program = memory.name().substr(0, memory.name().find('/'));
  run.io = ArgumentOf(memory, "io");
  if (run.io.empty() ||
      !absl::SimpleAtoi(ArgumentOf(memory, "features"), &run.features) ||
      !absl::SimpleAtoi(ArgumentOf(memory, "rows"), &run.rows)) {
    return absl::InvalidArgumentError(
        absl::StrCat(memory.name(), " does not say its io, features and rows"));
  }
  run.process_peak_bytes = MetricOf(memory.metrics(), PEAK_LIVE_USABLE_BYTES);
  absl::Status status = AddStages(memory, &run);
  if (!status.ok()) return status;
  return run;
}

std::string WithCommas(int64_t number) {
  std::string digits = absl::StrCat(number);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<size_t>(at), ",");
  }
  return digits;
}

std::string SizeOf(const StageRun& run) {
  return absl::StrCat(run.features, " x ", WithCommas(run.rows));
}

int64_t Total(const StageBytes& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), int64_t{0});
}

std::vector<std::string> ProgramsOf(const std::vector<StageRun>& runs) {
  std::set<std::string> programs;
  for (const StageRun& run : runs) programs.insert(run.program);
  return {programs.begin(), programs.end()};
}

using StageView = StageBytes StageRun::*;

std::string ShareRow(const StageRun& run, StageView view) {
  const StageBytes& bytes = run.*view;
  const double total = std::max<double>(1, static_cast<double>(Total(bytes)));
  std::string row =
      absl::StrFormat("%-18s %-7s %14s", run.program, run.io, SizeOf(run));
  for (const int64_t stage : bytes) {
    absl::StrAppendFormat(&row, " %9.1f",
                          100 * static_cast<double>(stage) / total);
  }
  absl::StrAppendFormat(&row, " %10s\n", AbbreviateBytes(total));
  return row;
}

std::string ShareTable(const std::vector<StageRun>& runs, StageView view,
                       const char* caption) {
  std::string text = absl::StrFormat("%s\n%-18s %-7s %14s", caption, "program",
                                     "io", "features x rows");
  for (const char* stage : kStages) absl::StrAppendFormat(&text, " %9s", stage);
  absl::StrAppendFormat(&text, " %10s\n", "sum");
  for (const std::string& program : ProgramsOf(runs)) {
    for (const StageRun& run : runs) {
      if (run.program == program) text += ShareRow(run, view);
    }
  }
  return text;
}

std::vector<StageRun> WithoutStartup(std::vector<StageRun> runs) {
  for (StageRun& run : runs) run.peak_bytes[kStartup] = 0;
  return runs;
}

StackedBars BarsOf(const std::vector<StageRun>& runs,
                   const std::string& program, StageView view,
                   StackedBars::Scale scale) {
  StackedBars chart;
  chart.title = program;
  chart.series.assign(kStages.begin(), kStages.end());
  chart.scale = scale;
  for (const StageRun& run : runs) {
    if (run.program != program) continue;
    StackedBars::Bar bar;
    bar.label = absl::StrCat(SizeOf(run), "  ", run.io);
    bar.values.assign((run.*view).begin(), (run.*view).end());
    chart.bars.push_back(bar);
  }
  return chart;
}

PageTable NumbersOf(const std::vector<StageRun>& runs,
                    const std::string& program, StageView view) {
  PageTable table;
  table.caption = absl::StrCat(program, ", bytes");
  table.header = {"features x rows", "io"};
  table.text_columns = 2;
  table.header.insert(table.header.end(), kStages.begin(), kStages.end());
  table.header.push_back("sum");
  for (const StageRun& run : runs) {
    if (run.program != program) continue;
    std::vector<std::string> row = {SizeOf(run), run.io};
    for (const int64_t bytes : run.*view) row.push_back(WithCommas(bytes));
    row.push_back(WithCommas(Total(run.*view)));
    table.rows.push_back(row);
  }
  return table;
}

PageContent::View ViewOf(const std::vector<StageRun>& runs, StageView view,
                         StackedBars::Scale scale, const char* name,
                         const char* explanation) {
  PageContent::View result;
  result.name = name;
  result.content.AddParagraph(explanation);
  for (const std::string& program : ProgramsOf(runs)) {
    result.content.AddStackedBars(BarsOf(runs, program, view, scale));
    PageContent numbers;
    numbers.AddTable(NumbersOf(runs, program, view));
    result.content.AddFold(absl::StrCat("Numbers of ", program), numbers);
  }
  return result;
}

constexpr char kAboutPeak[] =
    "The peak of a stage: what it held at its worst beyond what was held "
    "before "
    "it began. Heap and mapped files; for startup also code and libraries as "
    "loaded. The table stays until the predictions are made, but counts once, "
    "for read.";
constexpr char kAboutPeakWithoutStartup[] =
    "The same without startup: what the program's own work needs, for a "
    "process "
    "that has many tables to do or shares its libraries with others.";
constexpr char kAboutVolume[] =
    "The volume of a stage: every byte it allocated, freed or not. It tells "
    "what "
    "the allocator has to do, not what the machine must have.";

// What fitting adds to the table: one line for each program and count of
// features that was measured with more than one count of rows.
LineChart FitChart(const std::vector<StageRun>& runs) {
  LineChart chart;
  chart.title = "Peak of fit against the count of rows";
  chart.description =
      "Text input. A level line: fitting needs memory for the features, not "
      "for the rows.";
  chart.x_label = "rows";
  chart.y_label = "peak of fit";
  chart.has_logarithmic_x = chart.has_logarithmic_y = true;
  chart.format_x = [](double rows) {
    return WithCommas(static_cast<int64_t>(std::lround(rows)));
  };
  chart.format_y = [](double bytes) {
    // Powers of ten are no round numbers of KiB.
    return bytes < 1e6 ? absl::StrFormat("%.4g kB", bytes / 1e3)
                       : absl::StrFormat("%.4g MB", bytes / 1e6);
  };
  std::map<std::pair<std::string, int64_t>, LineChart::Line> lines;
  for (const StageRun& run : runs) {
    if (run.io != "csv") continue;
    lines[{run.program, run.features}].points.emplace_back(
        run.rows, run.peak_bytes[kFit]);
  }
  for (auto& [key, line] : lines) {
    if (line.points.size() < 2) continue;
    line.name = absl::StrCat(key.first, ", ", key.second, " features");
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

PageTable BeyondTheTable(const std::vector<StageRun>& runs) {
  PageTable table;
  table.caption = "The process's heap at its worst, and the table in it";
  table.header = {"program", "features x rows", "io",
                  "table",   "heap's peak",     "beyond the table"};
  table.text_columns = 3;
  for (const StageRun& run : runs) {
    const int64_t held = run.io == "mapped" ? 0 : run.table_bytes();
    const int64_t beyond = run.process_peak_bytes - held;
    table.rows.push_back(
        {run.program, SizeOf(run), run.io,
         run.io == "mapped" ? "in the file"
                            : AbbreviateBytes(static_cast<double>(held)),
         AbbreviateBytes(static_cast<double>(run.process_peak_bytes)),
         AbbreviateBytes(static_cast<double>(beyond))});
  }
  return table;
}

}  // namespace

absl::StatusOr<std::vector<StageRun>> CollectRuns(
    const std::vector<MemoryProfile>& profiles) {
  std::vector<StageRun> runs;
  for (const MemoryProfile& profile : profiles) {
    if (profile.has_failure()) {
      return absl::FailedPreconditionError(
          absl::StrCat(std::string(profile.label()), " gave no measurement: ",
                       std::string(profile.failure().standard_error_tail())));
    }
    for (const BenchmarkMemory& memory : profile.benchmarks()) {
      absl::StatusOr<StageRun> run = RunOf(memory);
      if (!run.ok()) {
        return absl::InvalidArgumentError(
            absl::StrCat(std::string(profile.label()), ": ",
                         std::string(run.status().message()),
                         "; give profiles of the tabular experiment only"));
      }
      runs.push_back(*run);
    }
  }
  std::stable_sort(
      runs.begin(), runs.end(), [](const StageRun& a, const StageRun& b) {
        return std::make_tuple(a.table_bytes(), a.features, a.program, a.io) <
               std::make_tuple(b.table_bytes(), b.features, b.program, b.io);
      });
  return runs;
}

std::string StageText(const std::vector<StageRun>& runs) {
  return absl::StrCat(
      ShareTable(runs, &StageRun::peak_bytes,
                 "Share of the stages' peaks, in per cent (startup with code "
                 "and libraries)"),
      "\n",
      ShareTable(runs, &StageRun::volume_bytes,
                 "Share of the allocated bytes, in per cent"));
}

std::string StageHtml(const std::vector<StageRun>& runs) {
  Page page(
      "Memory of a tabular model, stage by stage",
      "Two programs of one shape: read a table, fit, save the model, load "
      "it, predict, write. What each stage needs, over features x rows.");
  page.AddViews(
      "Show",
      {ViewOf(runs, &StageRun::peak_bytes, StackedBars::Scale::kShare,
              "Share of the peak", kAboutPeak),
       ViewOf(WithoutStartup(runs), &StageRun::peak_bytes,
              StackedBars::Scale::kShare, "Share without startup",
              kAboutPeakWithoutStartup),
       ViewOf(runs, &StageRun::volume_bytes, StackedBars::Scale::kShare,
              "Share of the volume", kAboutVolume),
       ViewOf(runs, &StageRun::peak_bytes, StackedBars::Scale::kAbsolute,
              "Peak in bytes", kAboutPeak),
       ViewOf(runs, &StageRun::volume_bytes, StackedBars::Scale::kAbsolute,
              "Volume in bytes", kAboutVolume)});
  page.AddHeading("Fit");
  const LineChart fit = FitChart(runs);
  if (fit.lines.empty()) {
    page.AddParagraph(
        "No program was measured with text input of two sizes that differ in "
        "rows only: nothing shows how the peak of fit grows.");
  } else {
    page.AddLineChart(fit);
  }
  page.AddHeading("The whole process");
  page.AddTable(BeyondTheTable(runs));
  return page.Html();
}

}  // namespace tabular
}  // namespace footprint
