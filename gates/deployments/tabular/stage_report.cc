#include "footprint/gates/deployments/tabular/stage_report.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "footprint/base/page/page.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/text_table.h"
#include "footprint/profiling/schema/metric_reading.h"

namespace footprint {
namespace tabular {
namespace {

constexpr size_t kStartup = 0;
constexpr size_t kFit = 2;

Bytes Sum(const Bytes& a, const Bytes& b) {
  if (!a.has_value() || !b.has_value()) return absl::nullopt;
  return *a + *b;
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
  run.process_peak_bytes =
      ReadMetric(memory, PEAK_LIVE_USABLE_BYTES).bytes_or_count;
  absl::Status status = AddStages(memory, &run);
  if (!status.ok()) return status;
  return run;
}

std::string SizeOf(const StageRun& run) {
  return absl::StrCat(run.features, " x ", FormatCount(run.rows));
}

std::vector<std::string> ProgramsOf(const std::vector<StageRun>& runs) {
  std::set<std::string> programs;
  for (const StageRun& run : runs) programs.insert(run.program);
  return {programs.begin(), programs.end()};
}

constexpr char kAboutUnknown[] =
    "?: unknown, since a stage of the run is not in the profile, which holds "
    "what was the same in every process. >=: the sum of what is known.";
constexpr char kAboutUnknownOnPage[] =
    "Unknown: not in the profile, which holds what was the same in every "
    "process. Such a run has no shares, and its sum is that of what is known.";

// Which bytes of the stages, and from which stage on.
struct StageView {
  StageBytes StageRun::*bytes;
  size_t first_stage = kStartup;
};

// Of the stages in the view: what is known, and whether all is.
struct StageTotal {
  int64_t known_bytes = 0;
  bool is_whole = true;
};

StageTotal TotalOf(const StageRun& run, StageView view) {
  StageTotal total;
  for (size_t i = view.first_stage; i < kStages.size(); ++i) {
    const Bytes& bytes = (run.*view.bytes)[i];
    total.known_bytes += bytes.value_or(0);
    total.is_whole = total.is_whole && bytes.has_value();
  }
  return total;
}

// "0.0" is nothing, and "100.0" all.
std::string ShareText(int64_t part, int64_t total) {
  if (part <= 0) return "0.0";
  const double percent =
      100 * static_cast<double>(part) / static_cast<double>(total);
  if (percent < 0.05) return "<0.1";
  if (part < total && percent >= 99.95) return ">99.9";
  return absl::StrFormat("%.1f", percent);
}

std::vector<std::string> ShareRow(const StageRun& run, StageView view) {
  const StageTotal total = TotalOf(run, view);
  std::vector<std::string> row = {run.program, run.io, SizeOf(run)};
  for (size_t i = view.first_stage; i < kStages.size(); ++i) {
    row.push_back(total.is_whole
                      ? ShareText(*(run.*view.bytes)[i], total.known_bytes)
                      : "?");
  }
  row.push_back(
      absl::StrCat(total.is_whole ? "" : ">=",
                   AbbreviateBytes(static_cast<double>(total.known_bytes))));
  return row;
}

std::string ShareTable(const std::vector<StageRun>& runs, StageView view,
                       const char* caption) {
  std::vector<TextTable::Column> columns = {
      {"program", TextTable::kWords, 18},
      {"io", TextTable::kWords, 7},
      {"features x rows", TextTable::kFigures}};
  for (size_t i = view.first_stage; i < kStages.size(); ++i) {
    columns.push_back({kStages[i], TextTable::kFigures, 9});
  }
  columns.push_back({"sum", TextTable::kFigures, 10});
  const TextTable table(columns, 1);
  std::string text = absl::StrCat(caption, "\n", table.Headings());
  bool is_whole = true;
  for (const std::string& program : ProgramsOf(runs)) {
    for (const StageRun& run : runs) {
      if (run.program != program) continue;
      text += table.Row(ShareRow(run, view));
      is_whole = is_whole && TotalOf(run, view).is_whole;
    }
  }
  if (!is_whole) absl::StrAppend(&text, kAboutUnknown, "\n");
  return text;
}

// What the bars of a program say, in a sentence.
std::string SentenceOf(const std::vector<StageRun>& runs,
                       const std::string& program, StageView view) {
  std::map<size_t, int> count_of_largest;
  int run_count = 0;
  int unknown_count = 0;
  for (const StageRun& run : runs) {
    if (run.program != program) continue;
    ++run_count;
    if (!TotalOf(run, view).is_whole) {
      ++unknown_count;
      continue;
    }
    const StageBytes& bytes = run.*view.bytes;
    const auto largest =
        std::max_element(bytes.begin() + view.first_stage, bytes.end());
    ++count_of_largest[static_cast<size_t>(largest - bytes.begin())];
  }
  std::vector<std::string> parts;
  for (const auto& [stage, count] : count_of_largest) {
    parts.push_back(absl::StrCat(kStages[stage], " in ", count));
  }
  if (unknown_count > 0) {
    parts.push_back(absl::StrCat("not known in ", unknown_count));
  }
  return absl::StrCat(
      "The largest part of ", run_count,
      run_count == 1 ? " run: " : " runs: ", absl::StrJoin(parts, ", "), ".");
}

StackedBars BarsOf(const std::vector<StageRun>& runs,
                   const std::string& program, StageView view,
                   StackedBars::Scale scale) {
  StackedBars chart;
  chart.title = program;
  chart.description = absl::StrCat(
      "A bar is a run: features x rows, and how the table is read. Its parts, "
      "to "
      "scale, are the stages' ",
      scale == StackedBars::Scale::kShare ? "shares of their sum" : "bytes",
      "; the sum is at its end. ", SentenceOf(runs, program, view));
  chart.series.assign(kStages.begin() + view.first_stage, kStages.end());
  chart.first_colour = view.first_stage;
  chart.scale = scale;
  for (const StageRun& run : runs) {
    if (run.program != program) continue;
    StackedBars::Bar bar;
    bar.label = absl::StrCat(SizeOf(run), "  ", run.io);
    for (size_t i = view.first_stage; i < kStages.size(); ++i) {
      const Bytes& bytes = (run.*view.bytes)[i];
      bar.values.push_back(bytes.has_value()
                               ? static_cast<double>(*bytes)
                               : std::numeric_limits<double>::quiet_NaN());
    }
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
  table.header.insert(table.header.end(), kStages.begin() + view.first_stage,
                      kStages.end());
  table.header.push_back("sum");
  for (const StageRun& run : runs) {
    if (run.program != program) continue;
    std::vector<std::string> row = {SizeOf(run), run.io};
    for (size_t i = view.first_stage; i < kStages.size(); ++i) {
      const Bytes& bytes = (run.*view.bytes)[i];
      row.push_back(bytes.has_value() ? FormatCount(*bytes) : "unknown");
    }
    const StageTotal total = TotalOf(run, view);
    row.push_back(absl::StrCat(total.is_whole ? "" : "at least ",
                               FormatCount(total.known_bytes)));
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
  const bool is_whole = std::all_of(
      runs.begin(), runs.end(),
      [view](const StageRun& run) { return TotalOf(run, view).is_whole; });
  if (!is_whole) result.content.AddParagraph(kAboutUnknownOnPage);
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
      "What fitting needs beyond the table, for text input, by the count of "
      "rows. A level line: it needs memory for the features, not for the rows.";
  chart.x_label = "rows";
  chart.y_label = "peak of fit";
  chart.has_logarithmic_x = chart.has_logarithmic_y = true;
  chart.format_x = [](double rows) {
    return FormatCount(static_cast<int64_t>(std::lround(rows)));
  };
  chart.format_y = [](double bytes) {
    // Powers of ten are no round numbers of KiB.
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

std::string BytesText(const Bytes& bytes) {
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
    const Bytes peak = run.process_peak_bytes;
    const Bytes beyond = Sum(peak, -held);
    table.rows.push_back({run.program, SizeOf(run), run.io,
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
      ShareTable(runs, {&StageRun::peak_bytes},
                 "Share of the stages' peaks, in per cent (startup with code "
                 "and libraries)"),
      "\n",
      ShareTable(runs, {&StageRun::volume_bytes},
                 "Share of the allocated bytes, in per cent"));
}

std::string StageHtml(const std::vector<StageRun>& runs) {
  Page page(
      "Memory of a tabular model, stage by stage",
      "Two programs of one shape: read a table, fit, save the model, load "
      "it, predict, write. What each stage needs, over features x rows.");
  page.AddViews(
      "Show",
      {ViewOf(runs, {&StageRun::peak_bytes}, StackedBars::Scale::kShare,
              "Share of the peak", kAboutPeak),
       ViewOf(runs, {&StageRun::peak_bytes, kStartup + 1},
              StackedBars::Scale::kShare, "Share without startup",
              kAboutPeakWithoutStartup),
       ViewOf(runs, {&StageRun::volume_bytes}, StackedBars::Scale::kShare,
              "Share of the volume", kAboutVolume),
       ViewOf(runs, {&StageRun::peak_bytes}, StackedBars::Scale::kAbsolute,
              "Peak in bytes", kAboutPeak),
       ViewOf(runs, {&StageRun::volume_bytes}, StackedBars::Scale::kAbsolute,
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
  page.AddParagraph(
      "The most that the heap held at any one moment, and how much of it was "
      "the table: what remains is what the program itself needs.");
  page.AddTable(BeyondTheTable(runs));
  return page.Html();
}

}  // namespace tabular
}  // namespace footprint
