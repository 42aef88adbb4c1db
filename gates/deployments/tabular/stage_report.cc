#include "footprint/gates/deployments/tabular/stage_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/base/page/page.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/profiling/scaling/stage_shares.h"
#include "footprint/profiling/schema/metric_reading.h"

namespace footprint {
namespace tabular {
namespace {

constexpr size_t kStartup = 0;
constexpr size_t kFit = 2;

StageBytes Sum(const StageBytes& a, const StageBytes& b) {
  if (!a.has_value() || !b.has_value()) return absl::nullopt;
  return *a + *b;
}

std::string FindArgument(const BenchmarkMemory& memory, const char* name) {
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
    run->peak_bytes[i] =
        Sum(ReadMetric(*phase, PEAK_LIVE_USABLE_BYTES).bytes_or_count,
            ReadMetric(*phase, PEAK_MAPPED_BYTES).bytes_or_count);
    if (i == kStartup) {
      run->peak_bytes[i] = Sum(run->peak_bytes[i],
                               ReadMetric(*phase, IMAGE_BYTES).bytes_or_count);
    }
    run->volume_bytes[i] =
        ReadMetric(*phase, ALLOCATED_USABLE_BYTES).bytes_or_count;
  }
  return absl::OkStatus();
}

absl::StatusOr<StageRun> MakeStageRun(const BenchmarkMemory& memory) {
  StageRun run;
  run.program = memory.name().substr(0, memory.name().find('/'));
  run.io = FindArgument(memory, "io");
  if (run.io.empty() ||
      !absl::SimpleAtoi(FindArgument(memory, "features"), &run.features) ||
      !absl::SimpleAtoi(FindArgument(memory, "rows"), &run.rows)) {
    return absl::InvalidArgumentError(
        absl::StrCat(memory.name(), " does not say its io, features and rows"));
  }
  run.process_peak_bytes =
      ReadMetric(memory, PEAK_LIVE_USABLE_BYTES).bytes_or_count;
  absl::Status status = AddStages(memory, &run);
  if (!status.ok()) return status;
  return run;
}

std::string FormatRunSize(const StageRun& run) {
  return absl::StrCat(run.features, " x ", FormatCount(run.rows));
}

// The bytes to show, and the first stage to show.
struct StageChoice {
  RunBytes StageRun::*bytes;
  size_t first_stage = kStartup;
};

StagedRuns Choose(const std::vector<StageRun>& runs, StageChoice choice) {
  StagedRuns chosen;
  chosen.label_names = {"features x rows", "io"};
  chosen.stages.assign(kStages.begin() + choice.first_stage, kStages.end());
  chosen.first_colour = choice.first_stage;
  for (const StageRun& run : runs) {
    const RunBytes& bytes = run.*choice.bytes;
    chosen.runs.push_back({run.program,
                           {FormatRunSize(run), run.io},
                           {bytes.begin() + choice.first_stage, bytes.end()}});
  }
  return chosen;
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

// Chart of the bytes that fitting adds to the table: one line for each program
// and count of features that was measured with more than one count of rows.
LineChart FitChart(const std::vector<StageRun>& runs) {
  LineChart chart;
  chart.title = "Peak of fit against the count of rows";
  chart.description =
      "Memory that fitting needs beyond the table, for text input, by the "
      "count of rows. A level line: it needs memory for the features, not for "
      "the rows.";
  chart.x_label = "rows";
  chart.y_label = "peak of fit";
  chart.has_logarithmic_x = chart.has_logarithmic_y = true;
  chart.format_x = [](double rows) {
    return FormatCount(static_cast<int64_t>(std::lround(rows)));
  };
  chart.format_y = [](double bytes) {
    // The axis has powers of ten, which are not round numbers of KiB.
    return bytes < 1e6 ? absl::StrFormat("%.4g kB", bytes / 1e3)
                       : absl::StrFormat("%.4g MB", bytes / 1e6);
  };
  std::map<std::pair<std::string, int64_t>, LineChart::Line> lines;
  for (const StageRun& run : runs) {
    if (run.io != "csv") continue;
    if (!run.peak_bytes[kFit].has_value()) continue;
    lines[{run.program, run.features}].points.emplace_back(
        run.rows, *run.peak_bytes[kFit]);
  }
  for (auto& [key, line] : lines) {
    if (line.points.size() < 2) continue;
    line.name = absl::StrCat(key.first, ", ", key.second, " features");
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

std::string BytesText(const StageBytes& bytes) {
  return bytes.has_value() ? AbbreviateBytes(static_cast<double>(*bytes))
                           : "unknown";
}

PageTable BeyondTheTable(const std::vector<StageRun>& runs) {
  PageTable table;
  table.caption = "The process's heap at its worst, and the table in it";
  table.header = {"program", "features x rows", "io",
                  "table",   "heap's peak",     "beyond the table"};
  table.text_columns = 3;
  for (const StageRun& run : runs) {
    const int64_t held = run.io == "mapped" ? 0 : run.table_bytes();
    const StageBytes peak = run.process_peak_bytes;
    const StageBytes beyond = Sum(peak, -held);
    table.rows.push_back({run.program, FormatRunSize(run), run.io,
                          run.io == "mapped"
                              ? "in the file"
                              : AbbreviateBytes(static_cast<double>(held)),
                          BytesText(peak), BytesText(beyond)});
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
      absl::StatusOr<StageRun> run = MakeStageRun(memory);
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
      StageShareText(Choose(runs, {&StageRun::peak_bytes}),
                     "Share of the stages' peaks, in per cent (startup with "
                     "code and libraries)"),
      "\n",
      StageShareText(Choose(runs, {&StageRun::volume_bytes}),
                     "Share of the allocated bytes, in per cent"));
}

std::string StageHtml(const std::vector<StageRun>& runs) {
  Page page(
      "Memory of a tabular model, stage by stage",
      "Two programs of one shape: read a table, fit, save the model, load "
      "it, predict, write. The need of each stage, over features x rows.");
  const StagedRuns peaks = Choose(runs, {&StageRun::peak_bytes});
  const StagedRuns volumes = Choose(runs, {&StageRun::volume_bytes});
  const auto share = StackedBars::Scale::kShare;
  const auto absolute = StackedBars::Scale::kAbsolute;
  page.AddViews(
      "Show",
      {StageShareView(peaks, share, "Share of the peak", kAboutPeak),
       StageShareView(Choose(runs, {&StageRun::peak_bytes, kStartup + 1}),
                      share, "Share without startup", kAboutPeakWithoutStartup),
       StageShareView(volumes, share, "Share of the volume", kAboutVolume),
       StageShareView(peaks, absolute, "Peak in bytes", kAboutPeak),
       StageShareView(volumes, absolute, "Volume in bytes", kAboutVolume)});
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
  page.AddParagraph(
      "The most that the heap held at any one moment, and how much of it was "
      "the table: what remains is what the program itself needs.");
  page.AddTable(BeyondTheTable(runs));
  return page.Html();
}

}  // namespace tabular
}  // namespace footprint
