#include "footprint/profiling/scaling/scaling_report.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "footprint/base/page/page.h"
#include "footprint/base/report/report.h"
#include "footprint/base/report/report_page.h"
#include "footprint/base/report/report_text.h"
#include "footprint/base/text/format_bytes.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kAboutPeak[] =
    "The peak of a stage: the heap bytes it held at its highest, above the "
    "bytes live before it began. Bytes that were live when the first stage "
    "began (the interpreter, libraries) count as outside of stages; so do "
    "those that were live at a peak between stages. The process need not hold "
    "the sum at any moment: stages come one after the other, and each may free "
    "what it allocated.";
constexpr char kAboutVolume[] =
    "The volume of a stage: every heap byte it allocated, freed or not. It "
    "shows what the allocator has to do, not what the machine must have.";
constexpr char kAboutLaws[] =
    "A law is a constant and at most two terms, with coefficients above zero. "
    "It is chosen by the runs that it was not fitted to: each in turn is left "
    "out and predicted. Error: of those predictions (root of the mean square), "
    "relative; at largest: the largest error where all runs with the largest "
    "value of a variable are predicted by the others; worst: the largest error "
    "of a run that it was fitted to. A law with a large error says that the "
    "figure follows none. No law rests on one value of a variable alone.";

const char* FigureName(ScaledFigure figure) {
  return figure == ScaledFigure::kPeak ? "peak" : "volume";
}

const StageBytes& FigureOf(const ScaledRun& run, ScaledFigure figure) {
  return figure == ScaledFigure::kPeak ? run.peak_bytes : run.volume_bytes;
}

std::vector<std::string> NumericNames(const ScaledRuns& runs) {
  std::vector<std::string> names;
  for (size_t i : NumericVariables(runs)) names.push_back(runs.variables[i]);
  return names;
}

std::string Percent(double share) {
  if (!std::isfinite(share)) return "?";
  return share < 0.1 ? absl::StrFormat("%.1f %%", 100 * share)
                     : absl::StrFormat("%.0f %%", 100 * share);
}

ReportTable LawTable(const ScaledRuns& runs) {
  constexpr size_t kMostLawBytes = 400;
  ReportTable table;
  table.columns = {{"program"},
                   {"stage"},
                   {"figure"},
                   {"law", ReportUnit::kText, false, kMostLawBytes},
                   {"error", ReportUnit::kShare},
                   {"at largest", ReportUnit::kShare},
                   {"worst", ReportUnit::kShare}};
  for (const StageLaw& each : StageLaws(runs)) {
    ReportRow row = {{TextValue(each.program), TextValue(each.stage),
                      TextValue(FigureName(each.figure))}};
    if (each.law.has_value()) {
      row.cells.insert(row.cells.end(),
                       {TextValue(LawText(*each.law, NumericNames(runs))),
                        TextValue(Percent(each.law->left_out_error)),
                        TextValue(Percent(each.law->largest_size_error)),
                        TextValue(Percent(each.law->worst_error))});
    } else {
      row.cells.push_back(
          TextValue("not known: too few runs, or no law fits them"));
      row.cells.resize(table.columns.size(), TextValue(""));
    }
    table.rows.push_back(std::move(row));
  }
  table.text_rows = table.rows.size();
  return table;
}

std::string ValuesText(const ScaledRuns& runs, const ScaledRun& run) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < run.values.size(); ++i) {
    parts.push_back(absl::StrCat(runs.variables[i], "=", run.values[i]));
  }
  return absl::StrJoin(parts, " ");
}

std::string FailureText(const ScaledRuns& runs) {
  std::string text;
  for (const ScaledRun& run : runs.runs) {
    if (run.failure.empty()) continue;
    absl::StrAppend(&text, "not measured: ", run.program, " ",
                    ValuesText(runs, run), ": ", run.failure, "\n");
  }
  return text;
}

// Returns the runs whose figure is known. Runs that failed or were left out say
// nothing about where the program was measured.
std::vector<const ScaledRun*> MeasuredRuns(const ScaledRuns& runs,
                                           ScaledFigure figure) {
  std::vector<const ScaledRun*> measured;
  for (const ScaledRun& run : runs.runs) {
    if (run.failure.empty() && FigureOf(run, figure).has_value()) {
      measured.push_back(&run);
    }
  }
  return measured;
}

// Returns the variable along which lines are drawn: the one that grows most.
size_t MainVariable(const std::vector<const ScaledRun*>& runs,
                    const std::vector<size_t>& numeric) {
  size_t chosen = numeric[0];
  double largest_ratio = 0;
  for (size_t variable : numeric) {
    double least = std::numeric_limits<double>::infinity();
    double most = 0;
    for (const ScaledRun* run : runs) {
      const double value = FindNumbers(*run, {variable})[0];
      if (value > 0) least = std::min(least, value);
      most = std::max(most, value);
    }
    if (most / least > largest_ratio) {
      largest_ratio = most / least;
      chosen = variable;
    }
  }
  return chosen;
}

// Returns the values at which the other variables are fixed: the largest ones
// at which a line has two points.
std::vector<double> FindFixedValues(
    const ScaledRuns& runs, const std::vector<const ScaledRun*>& measured,
    const std::vector<size_t>& numeric, size_t main,
    const std::vector<size_t>& others) {
  // For each combination of values, the points of each line.
  std::map<std::vector<double>, std::map<std::string, std::set<double>>> found;
  for (const ScaledRun* run : measured) {
    found[FindNumbers(*run, others)][SeriesName(runs, *run, numeric)].insert(
        FindNumbers(*run, {main})[0]);
  }
  std::vector<double> fixed;
  for (const auto& [values, lines] : found) {
    for (const auto& [name, points] : lines) {
      if (points.size() > 1) fixed = values;
    }
  }
  return fixed;
}

std::string DecimalBytes(double bytes) {
  if (bytes < 1e3) return absl::StrFormat("%.4g B", bytes);
  if (bytes < 1e6) return absl::StrFormat("%.4g kB", bytes / 1e3);
  if (bytes < 1e9) return absl::StrFormat("%.4g MB", bytes / 1e6);
  return absl::StrFormat("%.4g GB", bytes / 1e9);
}

std::string SizeText(double size) {
  // A double has each whole number up to this one.
  constexpr double kMostWhole = 9007199254740992.0;
  return size == std::floor(size) && size <= kMostWhole
             ? FormatCount(static_cast<int64_t>(size))
             : absl::StrFormat("%.15g", size);
}

// Draws the whole run with a line per program, 8 at most.
LineChart GrowthChart(const ScaledRuns& runs, ScaledFigure figure) {
  const std::vector<size_t> numeric = NumericVariables(runs);
  const std::vector<const ScaledRun*> measured = MeasuredRuns(runs, figure);
  const size_t x = MainVariable(measured, numeric);
  std::vector<size_t> others = numeric;
  others.erase(std::find(others.begin(), others.end(), x));
  const std::vector<double> fixed =
      FindFixedValues(runs, measured, numeric, x, others);
  // Names the values at which the other variables are fixed.
  std::string where;
  for (size_t i = 0; i < fixed.size(); ++i) {
    absl::StrAppend(&where, i == 0 ? " at " : ", ", runs.variables[others[i]],
                    "=", absl::StrFormat("%.15g", fixed[i]));
  }
  LineChart chart;
  chart.title =
      absl::StrCat(figure == ScaledFigure::kPeak ? "Peak" : "Volume",
                   " of the whole run against ", runs.variables[x], where);
  chart.description =
      "Both axes go by powers of ten. A level line does not grow. A line that "
      "rises tenfold when the variable grows tenfold grows in proportion.";
  chart.x_label = runs.variables[x];
  chart.y_label = FigureName(figure);
  chart.has_logarithmic_x = chart.has_logarithmic_y = true;
  chart.format_x = SizeText;
  chart.format_y = DecimalBytes;
  // Shows the runs in which all variables but `x` have their fixed values.
  std::map<std::string, LineChart::Line> lines;
  for (const ScaledRun* run : measured) {
    if (FindNumbers(*run, others) != fixed) continue;
    const std::string name = SeriesName(runs, *run, numeric);
    lines[name].name = name;
    lines[name].points.emplace_back(
        FindNumbers(*run, {x})[0],
        static_cast<double>(FigureOf(*run, figure).value()));
  }
  // Draws at most 8 lines, each with its points in order of x.
  for (auto& [name, line] : lines) {
    if (line.points.size() < 2 || chart.lines.size() == 8) continue;
    std::sort(line.points.begin(), line.points.end());
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

void AddGrowth(const ScaledRuns& runs, Page* page) {
  if (NumericVariables(runs).empty()) return;
  for (ScaledFigure figure : {ScaledFigure::kPeak, ScaledFigure::kVolume}) {
    const LineChart chart = GrowthChart(runs, figure);
    if (!chart.lines.empty()) page->AddLineChart(chart);
  }
}

Json ToJson(const StageBytes& bytes) {
  return bytes.has_value() ? Json(*bytes) : Json(nullptr);
}

Json ToJson(const ScaledRun& run) {
  Json json = {{"program", run.program}, {"values", run.values}};
  if (!run.failure.empty()) {
    json["failure"] = run.failure;
    return json;
  }
  json["peak_bytes"] = ToJson(run.peak_bytes);
  json["volume_bytes"] = ToJson(run.volume_bytes);
  json["resident_bytes"] = ToJson(run.resident_bytes);
  Json stages = Json::array();
  for (const ScaledStage& stage : run.stages) {
    stages.push_back({{"name", stage.name},
                      {"peak_bytes", ToJson(stage.peak_bytes)},
                      {"volume_bytes", ToJson(stage.volume_bytes)}});
  }
  json["stages"] = stages;
  return json;
}

Json ToJson(const ScaledRuns& runs, const StageLaw& law) {
  const std::vector<std::string> names = NumericNames(runs);
  Json json = {{"program", law.program},
               {"stage", law.stage},
               {"figure", FigureName(law.figure)},
               {"text", nullptr}};
  if (!law.law.has_value()) return json;
  json["text"] = LawText(*law.law, names);
  Json terms = Json::array();
  for (const ScalingLaw::Term& term : law.law->terms) {
    Json factors = Json::array();
    for (int factor : term.growth.factors) {
      factors.push_back(names[static_cast<size_t>(factor)]);
    }
    terms.push_back({{"coefficient", term.coefficient}, {"factors", factors}});
    if (term.growth.is_doubled) terms.back()["up_to_power_of_two"] = true;
    if (term.growth.is_logarithmic) terms.back()["times_logarithm"] = true;
  }
  json["terms"] = terms;
  json["worst_error"] = law.law->worst_error;
  json["left_out_error"] = law.law->left_out_error;
  // JSON has no infinity.
  const double at_largest = law.law->largest_size_error;
  json["largest_size_error"] =
      std::isfinite(at_largest) ? Json(at_largest) : Json(nullptr);
  return json;
}

}  // namespace

std::string ScalingText(const ScaledRuns& runs) {
  const StagedRuns peaks = CollectStages(runs, ScaledFigure::kPeak);
  const StagedRuns volumes = CollectStages(runs, ScaledFigure::kVolume);
  std::string text = FailureText(runs);
  if (peaks.runs.empty()) return text;
  absl::StrAppend(
      &text, StageShareText(peaks, "Share of the stages' peaks, in per cent"),
      "\n", StageByteText(peaks, "Peak of each stage"), "\n",
      StageShareText(volumes, "Share of the allocated bytes, in per cent"),
      "\n", StageByteText(volumes, "Allocated by each stage"), "\n",
      "Laws (error: of runs that the law was not fitted to; at largest: of "
      "those "
      "with the largest value of a variable, by the others; worst: of those it "
      "was fitted to)\n",
      TableText(LawTable(runs)));
  return text;
}

std::string ScalingPage(const ScaledRuns& runs) {
  Page page("Memory over the variables of a program",
            absl::StrCat("Memory of each stage over ",
                         absl::StrJoin(runs.variables, " x "),
                         ": heap bytes, shares and absolutes of peak and "
                         "volume, and the laws by which they grow."));
  for (const ScaledRun& run : runs.runs) {
    if (run.failure.empty()) continue;
    page.AddParagraph(absl::StrCat("Not measured: ", run.program, ", ",
                                   ValuesText(runs, run), ": ", run.failure));
  }
  const StagedRuns peaks = CollectStages(runs, ScaledFigure::kPeak);
  const StagedRuns volumes = CollectStages(runs, ScaledFigure::kVolume);
  if (peaks.runs.empty()) return page.Html();
  const auto share = StackedBars::Scale::kShare;
  const auto absolute = StackedBars::Scale::kAbsolute;
  page.AddViews(
      "Show",
      {StageShareView(peaks, share, "Share of the peak", kAboutPeak),
       StageShareView(peaks, absolute, "Peak in bytes", kAboutPeak),
       StageShareView(volumes, share, "Share of the volume", kAboutVolume),
       StageShareView(volumes, absolute, "Volume in bytes", kAboutVolume)});
  page.AddHeading("How it grows");
  AddGrowth(runs, &page);
  page.AddParagraph(kAboutLaws);
  ReportTable laws = LawTable(runs);
  laws.lead = "Laws";
  AddTable(laws, laws.rows.size(), &page);
  return page.Html();
}

std::string ScalingJson(const ScaledRuns& runs) {
  Json json = {{"variables", runs.variables}};
  Json list = Json::array();
  for (const ScaledRun& run : runs.runs) list.push_back(ToJson(run));
  json["runs"] = list;
  Json laws = Json::array();
  for (const StageLaw& law : StageLaws(runs)) laws.push_back(ToJson(runs, law));
  json["laws"] = laws;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace footprint
