#include "footprint/profiling/scaling/stage_shares.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "footprint/base/report/report.h"
#include "footprint/base/report/report_page.h"
#include "footprint/base/report/report_text.h"
#include "footprint/base/text/format_bytes.h"

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

// The ways to write a stage's bytes and their sum.
struct StageWords {
  std::string (*cell)(const StageBytes& bytes, const StageTotal& total);
  // Empty if there is no column for the sum.
  std::string (*sum)(const StageTotal& total);
};

std::string Abbreviate(int64_t bytes) {
  return AbbreviateBytes(static_cast<double>(bytes));
}

constexpr StageWords kShareWords = {
    [](const StageBytes& bytes, const StageTotal& total) {
      return total.is_whole ? ShareText(*bytes, total.known_bytes)
                            : std::string("?");
    },
    [](const StageTotal& total) {
      return absl::StrCat(total.is_whole ? "" : ">=",
                          Abbreviate(total.known_bytes));
    }};
constexpr StageWords kByteWords = {
    [](const StageBytes& bytes, const StageTotal& /*total*/) {
      return bytes.has_value() ? Abbreviate(*bytes) : std::string("?");
    },
    nullptr};
constexpr StageWords kExactWords = {
    [](const StageBytes& bytes, const StageTotal& /*total*/) {
      return bytes.has_value() ? FormatCount(*bytes) : std::string("unknown");
    },
    [](const StageTotal& total) {
      return absl::StrCat(total.is_whole ? "" : "at least ",
                          FormatCount(total.known_bytes));
    }};

// Returns a table with a row for each run of the programs.
ReportTable MakeTable(const StagedRuns& runs,
                      const std::vector<std::string>& programs,
                      const std::string& caption, const StageWords& words) {
  ReportTable table;
  table.lead = caption;
  table.columns = {{"program"}};
  // The labels are numbers as written.
  for (const auto* const names : {&runs.label_names, &runs.stages}) {
    for (const std::string& name : *names) {
      table.columns.push_back({name, ReportUnit::kNumber});
    }
  }
  if (words.sum != nullptr) {
    table.columns.push_back({"sum", ReportUnit::kNumber});
  }
  for (const std::string& program : programs) {
    for (const StagedRun& run : runs.runs) {
      if (run.program != program) continue;
      const StageTotal total = ComputeTotal(run);
      ReportRow row = {{TextValue(program)}};
      for (const std::string& label : run.labels) {
        row.cells.push_back(TextValue(label));
      }
      for (const StageBytes& bytes : run.bytes) {
        row.cells.push_back(TextValue(words.cell(bytes, total)));
      }
      if (words.sum != nullptr) {
        row.cells.push_back(TextValue(words.sum(total)));
      }
      table.rows.push_back(std::move(row));
    }
  }
  table.text_rows = table.rows.size();
  return table;
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

}  // namespace

std::vector<std::string> ListPrograms(const StagedRuns& runs) {
  std::set<std::string> programs;
  for (const StagedRun& run : runs.runs) programs.insert(run.program);
  return {programs.begin(), programs.end()};
}

std::string StageShareText(const StagedRuns& runs, const char* caption) {
  ReportTable table = MakeTable(runs, ListPrograms(runs), caption, kShareWords);
  if (!AreWhole(runs)) table.note = kAboutUnknown;
  return TableText(table);
}

std::string StageByteText(const StagedRuns& runs, const char* caption) {
  return TableText(MakeTable(runs, ListPrograms(runs), caption, kByteWords));
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
    const ReportTable table = MakeTable(
        runs, {program}, absl::StrCat(program, ", bytes"), kExactWords);
    AddTable(table, table.rows.size(), &numbers);
    result.content.AddFold(absl::StrCat("Numbers of ", program), numbers);
  }
  return result;
}

}  // namespace footprint
