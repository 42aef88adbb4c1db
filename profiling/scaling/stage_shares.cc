#include "footprint/profiling/scaling/stage_shares.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/text_table.h"

namespace footprint {
namespace {

constexpr char kAboutUnknown[] =
    "?: unknown, since a stage of the run is not in the profile, which holds "
    "what was the same in every process. >=: the sum of what is known.";
constexpr char kAboutUnknownOnPage[] =
    "Unknown: not in the profile, which holds what was the same in every "
    "process. Such a run has no shares, and its sum is that of what is known.";

// The known bytes of the stages, and whether all are known.
struct StageTotal {
  int64_t known_bytes = 0;
  bool is_whole = true;
};

StageTotal ComputeTotal(const StagedRun& run) {
  StageTotal total;
  for (const StageBytes& bytes : run.bytes) {
    total.known_bytes += bytes.value_or(0);
    total.is_whole = total.is_whole && bytes.has_value();
  }
  return total;
}

bool AreWhole(const StagedRuns& runs) {
  return std::all_of(
      runs.runs.begin(), runs.runs.end(),
      [](const StagedRun& run) { return ComputeTotal(run).is_whole; });
}

// Returns the share. Only nothing is "0.0", and only all is "100.0".
std::string ShareText(int64_t part, int64_t total) {
  if (part <= 0) return "0.0";
  const double percent =
      100 * static_cast<double>(part) / static_cast<double>(total);
  if (percent < 0.05) return "<0.1";
  if (part < total && percent >= 99.95) return ">99.9";
  return absl::StrFormat("%.1f", percent);
}

std::vector<std::string> ShareRow(const StagedRun& run) {
  const StageTotal total = ComputeTotal(run);
  std::vector<std::string> row = {run.program};
  row.insert(row.end(), run.labels.begin(), run.labels.end());
  for (const StageBytes& bytes : run.bytes) {
    row.push_back(total.is_whole ? ShareText(*bytes, total.known_bytes) : "?");
  }
  row.push_back(
      absl::StrCat(total.is_whole ? "" : ">=",
                   AbbreviateBytes(static_cast<double>(total.known_bytes))));
  return row;
}

// Returns the message of a program's bars as a sentence.
std::string WriteSentence(const StagedRuns& runs, const std::string& program) {
  std::map<size_t, int> count_of_largest;
  int run_count = 0;
  int unknown_count = 0;
  for (const StagedRun& run : runs.runs) {
    if (run.program != program) continue;
    ++run_count;
    if (!ComputeTotal(run).is_whole) {
      ++unknown_count;
      continue;
    }
    const auto largest = std::max_element(run.bytes.begin(), run.bytes.end());
    if (largest != run.bytes.end()) {
      ++count_of_largest[static_cast<size_t>(largest - run.bytes.begin())];
    }
  }
  std::vector<std::string> parts;
  for (const auto& [stage, count] : count_of_largest) {
    parts.push_back(absl::StrCat(runs.stages[stage], " in ", count));
  }
  if (unknown_count > 0) {
    parts.push_back(absl::StrCat("not known in ", unknown_count));
  }
  return absl::StrCat(
      "The largest part of ", run_count,
      run_count == 1 ? " run: " : " runs: ", absl::StrJoin(parts, ", "), ".");
}

StackedBars MakeBars(const StagedRuns& runs, const std::string& program,
                     StackedBars::Scale scale) {
  StackedBars chart;
  chart.title = program;
  chart.description = absl::StrCat(
      "A bar is a run: ", absl::StrJoin(runs.label_names, ", "),
      ". Its parts, to scale, are the stages' ",
      scale == StackedBars::Scale::kShare ? "shares of their sum" : "bytes",
      "; the sum is at its end. ", WriteSentence(runs, program));
  chart.series = runs.stages;
  chart.first_colour = runs.first_colour;
  chart.scale = scale;
  for (const StagedRun& run : runs.runs) {
    if (run.program != program) continue;
    StackedBars::Bar bar;
    bar.label = absl::StrJoin(run.labels, "  ");
    for (const StageBytes& bytes : run.bytes) {
      bar.values.push_back(bytes.has_value()
                               ? static_cast<double>(*bytes)
                               : std::numeric_limits<double>::quiet_NaN());
    }
    chart.bars.push_back(bar);
  }
  return chart;
}

PageTable MakeNumberTable(const StagedRuns& runs, const std::string& program) {
  PageTable table;
  table.caption = absl::StrCat(program, ", bytes");
  table.header = runs.label_names;
  table.text_columns = runs.label_names.size();
  table.header.insert(table.header.end(), runs.stages.begin(),
                      runs.stages.end());
  table.header.push_back("sum");
  for (const StagedRun& run : runs.runs) {
    if (run.program != program) continue;
    std::vector<std::string> row = run.labels;
    for (const StageBytes& bytes : run.bytes) {
      row.push_back(bytes.has_value() ? FormatCount(*bytes) : "unknown");
    }
    const StageTotal total = ComputeTotal(run);
    row.push_back(absl::StrCat(total.is_whole ? "" : "at least ",
                               FormatCount(total.known_bytes)));
    table.rows.push_back(row);
  }
  return table;
}

}  // namespace

std::vector<std::string> ListPrograms(const StagedRuns& runs) {
  std::set<std::string> programs;
  for (const StagedRun& run : runs.runs) programs.insert(run.program);
  return {programs.begin(), programs.end()};
}

std::string StageShareText(const StagedRuns& runs, const char* caption) {
  std::vector<TextTable::Column> columns = {{"program"}};
  for (const std::string& name : runs.label_names) {
    columns.push_back({name, TextTable::kFigures});
  }
  for (const std::string& stage : runs.stages) {
    columns.push_back({stage, TextTable::kFigures, 9});
  }
  columns.push_back({"sum", TextTable::kFigures, 10});
  TextTable table(columns, 1);
  std::vector<std::vector<std::string>> rows;
  for (const std::string& program : ListPrograms(runs)) {
    for (const StagedRun& run : runs.runs) {
      if (run.program != program) continue;
      rows.push_back(ShareRow(run));
      table.Fit(rows.back());
    }
  }
  std::string text = absl::StrCat(caption, "\n", table.Headings());
  for (const std::vector<std::string>& row : rows) text += table.Row(row);
  if (!AreWhole(runs)) absl::StrAppend(&text, kAboutUnknown, "\n");
  return text;
}

PageContent::View StageShareView(const StagedRuns& runs,
                                 StackedBars::Scale scale, const char* name,
                                 const char* explanation) {
  PageContent::View result;
  result.name = name;
  result.content.AddParagraph(explanation);
  if (!AreWhole(runs)) result.content.AddParagraph(kAboutUnknownOnPage);
  for (const std::string& program : ListPrograms(runs)) {
    result.content.AddStackedBars(MakeBars(runs, program, scale));
    PageContent numbers;
    numbers.AddTable(MakeNumberTable(runs, program));
    result.content.AddFold(absl::StrCat("Numbers of ", program), numbers);
  }
  return result;
}

}  // namespace footprint
