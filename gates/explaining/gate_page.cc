#include "footprint/gates/explaining/gate_page.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/base/page/line_chart.h"
#include "footprint/base/page/page.h"
#include "footprint/base/page/stacked_bars.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/gates/commands/gate_targets.h"
#include "footprint/gates/explaining/explanation_text.h"
#include "footprint/gates/explaining/scaling_charts.h"
#include "footprint/gates/judge/rules.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/gates/judge/threshold_numbers.h"
#include "footprint/gates/reports/deployment_summary.h"
#include "footprint/gates/reports/verdict_words.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/metric_kind.h"
#include "footprint/profiling/schema/metric_reading.h"

namespace footprint {
namespace {

// Beyond these the page says how many there are: it stays one that a browser
// opens at once. Every rule is in it, whatever their number.
constexpr size_t kMostDeployments = 300;
constexpr size_t kMostNotAccepted = 100;
constexpr size_t kMostNearest = 30;
// So that one deployment does not fill the table.
constexpr int kMostOfOneDeployment = 3;
constexpr size_t kMostPhaseCharts = 30;
constexpr size_t kMostPhases = 12;
constexpr size_t kMostScalingCharts = 30;
constexpr size_t kMostHistories = 300;
constexpr size_t kMostLines = 8;

std::string ExactText(MetricKind metric, int64_t value) {
  return UnitOfMetric(metric) == MetricUnit::kBytes
             ? absl::StrCat(FormatCount(value), " B")
             : FormatCount(value);
}

std::string NameAndMetric(const Judgement& judgement) {
  return absl::StrCat(NameOf(judgement), " ",
                      ShortNameOfMetric(judgement.metric()));
}

std::string LimitText(const Judgement& judgement) {
  return absl::StrCat(FindWords(judgement.rule()).limit, " ",
                      ExactText(judgement.metric(), judgement.limit()),
                      DeterminismSuffix(judgement));
}

// Without the limit, which stands beside it.
std::string ShareText(const Judgement& judgement) {
  const std::string margin = MarginText(judgement);
  const size_t of = margin.find(" of ");
  return of == std::string::npos ? margin : margin.substr(0, of);
}

// Without its folder: the page has the whole path where limits have moved.
std::string FileAndLine(const std::string& location) {
  return location.substr(location.rfind('/') + 1);
}

class GatePage {
 public:
  GatePage(const GateInput& input, const Verdict& verdict)
      : input_(input),
        verdict_(verdict),
        summaries_(SummarizeDeployments(verdict)),
        page_(absl::StrCat("Memory gates: ",
                           std::string(Decision_Name(verdict.decision()))),
              SummaryLine(verdict)) {
    std::stable_sort(
        summaries_.begin(), summaries_.end(),
        [this](const DeploymentSummary& a, const DeploymentSummary& b) {
          return ShareOf(a) < ShareOf(b);
        });
  }

  std::string Write() {
    AddNotAccepted();
    AddDeployments();
    AddNearest();
    AddPhases();
    AddScaling();
    AddHistories();
    AddEveryRule();
    return page_.Html();
  }

 private:
  // Of what was not judged, less than of what was.
  double ShareOf(const DeploymentSummary& summary) const {
    return summary.nearest < 0
               ? -std::numeric_limits<double>::infinity()
               : MarginShare(verdict_.judgements(summary.nearest));
  }

  void SayHowManyMore(size_t all, size_t shown, const char* what) {
    if (all <= shown) return;
    page_.AddParagraph(absl::StrCat(FormatCount(shown), " of ",
                                    FormatCount(all), " ", what,
                                    " are shown; all of them are below, under "
                                    "\"Every rule\"."));
  }

  void AddNotAccepted() {
    std::vector<std::string> warnings;
    size_t count = 0;
    for (const Judgement& judgement : verdict_.judgements()) {
      if (!IsViolation(judgement) || ++count > kMostNotAccepted) continue;
      warnings.push_back(
          absl::StrCat(WordOfOutcome(OutcomeOf(judgement)), " ",
                       DescribeViolation(judgement),
                       judgement.command_to_accept().empty() ? "" : "; ",
                       HowToAccept(judgement)));
    }
    for (const Problem& problem : verdict_.problems()) {
      if (++count > kMostNotAccepted) continue;
      warnings.push_back(absl::StrCat(WordOfProblem(problem), " ",
                                      problem.location(), ": ",
                                      problem.message()));
    }
    if (count > kMostNotAccepted) {
      warnings.push_back(absl::StrCat("and ", count - kMostNotAccepted,
                                      " more, which ", GateTarget("check"),
                                      " prints"));
    }
    page_.AddWarnings(warnings);
  }

  void AddDeployments() {
    PageTable table;
    table.caption = "Deployments, the nearest to a limit first";
    table.header = {"deployment", "nearest margin", "rules", "limit"};
    table.wraps_text = true;
    for (const DeploymentSummary& summary : summaries_) {
      if (table.rows.size() == kMostDeployments) break;
      if (summary.nearest < 0) {
        table.rows.push_back({summary.label, "not judged", "0", ""});
        continue;
      }
      const Judgement& nearest = verdict_.judgements(summary.nearest);
      table.rows.push_back({summary.label, MarginText(nearest),
                            FormatCount(summary.rule_count),
                            FileAndLine(nearest.threshold_location())});
    }
    if (table.rows.empty()) return;
    page_.AddSection("Deployments");
    page_.AddTable(table);
    SayHowManyMore(summaries_.size(), table.rows.size(), "deployments");
  }

  void AddNearest() {
    std::vector<const Judgement*> limits;
    for (const Judgement& judgement : verdict_.judgements()) {
      const bool has_margin =
          judgement.rule() != EXACT_VALUE && judgement.limit() != 0;
      if (has_margin || judgement.decision() != ACCEPT) {
        limits.push_back(&judgement);
      }
    }
    if (limits.empty()) return;
    std::stable_sort(limits.begin(), limits.end(),
                     [](const Judgement* a, const Judgement* b) {
                       return MarginShare(*a) < MarginShare(*b);
                     });
    PageTable table;
    table.caption =
        absl::StrCat("How much each program may still grow by: the nearest ",
                     kMostOfOneDeployment, " of each");
    table.header = {"rule", "margin", "measured", "limit", "where"};
    table.wraps_text = true;
    std::map<std::string, int> shown_of;
    for (const Judgement* limit : limits) {
      const Judgement& judgement = *limit;
      if (table.rows.size() == kMostNearest) break;
      if (++shown_of[judgement.label()] > kMostOfOneDeployment) continue;
      table.rows.push_back(
          {absl::StrCat(judgement.label(), " ", NameAndMetric(judgement)),
           ShareText(judgement),
           ExactText(judgement.metric(), judgement.measured()),
           LimitText(judgement), FileAndLine(judgement.threshold_location())});
    }
    page_.AddSection("Nearest margins");
    page_.AddTable(table);
    SayHowManyMore(limits.size(), table.rows.size(), "limits");
  }

  // The benchmark with the highest peak of each deployment.
  std::map<std::string, const BenchmarkMemory*> LargestBenchmarks() const {
    std::map<std::string, const BenchmarkMemory*> largest;
    const auto peak = [](const BenchmarkMemory& benchmark) {
      return ReadMetric(benchmark, PEAK_LIVE_USABLE_BYTES)
          .bytes_or_count.value_or(-1);
    };
    for (const MemoryProfile& profile : input_.profiles) {
      for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
        const BenchmarkMemory*& slot = largest[profile.label()];
        if (slot == nullptr || peak(benchmark) > peak(*slot)) {
          slot = &benchmark;
        }
      }
    }
    return largest;
  }

  void AddPhases() {
    const std::map<std::string, const BenchmarkMemory*> largest =
        LargestBenchmarks();
    PageContent charts;
    size_t count = 0;
    for (const DeploymentSummary& summary : summaries_) {
      const auto found = largest.find(summary.label);
      if (found == largest.end() || count == kMostPhaseCharts) continue;
      const StackedBars chart = PhaseChart(summary.label, *found->second);
      if (chart.bars.size() < 2) continue;
      charts.AddStackedBars(chart);
      ++count;
    }
    if (count == 0) return;
    page_.AddSection("Memory by phase");
    page_.AddParagraph(
        "The peak of each phase, net of what was live when it began, of the "
        "benchmark with the highest peak of each deployment. Phases do not add "
        "up to the whole: they are not at their peaks together.");
    page_.AddFold(absl::StrCat(count, count == 1 ? " deployment"
                                                 : " deployments, the nearest "
                                                   "to a limit first"),
                  charts);
  }

  static StackedBars PhaseChart(const std::string& label,
                                const BenchmarkMemory& benchmark) {
    StackedBars chart;
    chart.title = label;
    chart.description = benchmark.name();
    chart.series = {"peak live"};
    chart.scale = StackedBars::Scale::kAbsolute;
    const auto add = [&chart](const std::string& name,
                              const MetricReading& reading) {
      if (reading.bytes_or_count.has_value()) {
        chart.bars.push_back({name,
                              {static_cast<double>(std::max<int64_t>(
                                  0, *reading.bytes_or_count))}});
      }
    };
    add("the whole", ReadMetric(benchmark, PEAK_LIVE_USABLE_BYTES));
    for (const Phase& phase : benchmark.phases()) {
      add(phase.name(), ReadMetric(phase, PEAK_LIVE_USABLE_BYTES));
    }
    std::stable_sort(chart.bars.begin(), chart.bars.end(),
                     [](const StackedBars::Bar& a, const StackedBars::Bar& b) {
                       return a.values[0] > b.values[0];
                     });
    if (chart.bars.size() > kMostPhases) {
      absl::StrAppend(&chart.description, ", the ", kMostPhases, " largest of ",
                      chart.bars.size());
      chart.bars.resize(kMostPhases);
    }
    return chart;
  }

  void AddScaling() {
    const std::vector<LineChart> all = ScalingCharts(input_);
    if (all.empty()) return;
    PageContent charts;
    const size_t shown = std::min(all.size(), kMostScalingCharts);
    for (size_t i = 0; i < shown; ++i) charts.AddLineChart(all[i]);
    page_.AddSection("How memory grows with size");
    page_.AddParagraph(
        "Peaks by the arguments of benchmarks. Where a scaling rule judges "
        "them, with its law and the limits at sizes that are not run here.");
    page_.AddFold(
        shown == all.size()
            ? absl::StrCat(shown, shown == 1 ? " chart" : " charts")
            : absl::StrCat(shown, " of ", all.size(), " charts, rules first"),
        charts);
  }

  // ---- Histories ----

  struct History {
    std::string location;
    const Threshold* threshold;
    double change;  // of the limit, as a share of its first value
  };

  std::vector<History> MovedLimits() const {
    std::vector<History> moved;
    for (const ThresholdSource& source : input_.thresholds) {
      for (int i = 0; i < source.file.threshold_size(); ++i) {
        const Threshold& threshold = source.file.threshold(i);
        const std::vector<std::pair<double, double>> points =
            PointsOf(threshold);
        const bool has_moved =
            threshold.history_size() > 1 || points.size() > 1;
        if (!has_moved) continue;
        const double first = points.empty() ? 0 : points.front().second;
        const double last = points.empty() ? 0 : points.back().second;
        moved.push_back({source.LocationOf(i), &threshold,
                         first > 0 ? last / first - 1 : 0});
      }
    }
    std::stable_sort(moved.begin(), moved.end(),
                     [](const History& a, const History& b) {
                       return std::fabs(a.change) > std::fabs(b.change);
                     });
    return moved;
  }

  // The limit after each change; at 0 what it began with.
  static std::vector<std::pair<double, double>> PointsOf(
      const Threshold& threshold) {
    std::vector<std::pair<double, double>> points;
    for (const HistoryEntry& entry : threshold.history()) {
      if (!entry.has_new_value()) continue;
      if (points.empty() && entry.has_old_value()) {
        points.push_back({0, static_cast<double>(entry.old_value())});
      }
      points.push_back({static_cast<double>(points.size()),
                        static_cast<double>(entry.new_value())});
    }
    return points;
  }

  void AddHistories() {
    const std::vector<History> moved = MovedLimits();
    if (moved.empty()) return;
    page_.AddSection("How limits moved");
    AddHistoryChart(moved);
    PageTable table;
    table.caption = "Every change, of the limit that moved most first";
    table.header = {"limit", "change", "reason"};
    table.text_columns = 3;
    table.wraps_text = true;
    size_t shown = 0;
    for (const History& history : moved) {
      if (++shown > kMostHistories) break;
      for (const HistoryEntry& entry : history.threshold->history()) {
        HistoryEntry numbers = entry;
        numbers.clear_reason();
        table.rows.push_back(
            {history.location,
             DescribeHistoryEntry(numbers, history.threshold->metric()),
             entry.reason()});
      }
    }
    PageContent content;
    content.AddTable(table);
    page_.AddFold(
        absl::StrCat(FormatCount(static_cast<int64_t>(
                         std::min(moved.size(), kMostHistories))),
                     " of ", FormatCount(static_cast<int64_t>(moved.size())),
                     " limits that moved, with every change and its reason"),
        content);
  }

  void AddHistoryChart(const std::vector<History>& moved) {
    LineChart chart;
    chart.title = "The limits that moved most";
    chart.description = "Each as a share of its first value.";
    chart.x_label = "changes";
    chart.y_label = "share of the first value";
    chart.may_leave_zero_out = true;
    chart.format_x = [](double x) {
      return x == std::round(x) ? absl::StrFormat("%.0f", x) : "";
    };
    chart.format_y = [](double y) { return absl::StrFormat("%.0f %%", y); };
    for (const History& history : moved) {
      std::vector<std::pair<double, double>> points =
          PointsOf(*history.threshold);
      if (points.size() < 2 || points[0].second <= 0) continue;
      const double first = points[0].second;
      for (auto& point : points) point.second *= 100 / first;
      chart.lines.push_back({FileAndLine(history.location), points});
      if (chart.lines.size() == kMostLines) break;
    }
    if (!chart.lines.empty()) page_.AddLineChart(chart);
  }

  // ---- Every rule ----

  static PageTable RuleTable() {
    PageTable table;
    table.header = {"rule", "measured", "limit", "margin"};
    table.wraps_text = true;
    return table;
  }

  static std::vector<std::string> RowOfRule(const Judgement& judgement,
                                            bool has_label) {
    return {has_label
                ? absl::StrCat(judgement.label(), " ", NameAndMetric(judgement))
                : NameAndMetric(judgement),
            ExactText(judgement.metric(), judgement.measured()),
            LimitText(judgement), ShareText(judgement)};
  }

  void AddEveryRule() {
    constexpr size_t kFewRules = 4;
    if (verdict_.judgements_size() == 0) return;
    page_.AddSection("Every rule");
    const size_t rules = static_cast<size_t>(verdict_.judgements_size());
    if (rules < kFewRules * summaries_.size()) {
      PageTable table = RuleTable();
      table.caption = "Every rule";
      for (const Judgement& judgement : verdict_.judgements()) {
        table.rows.push_back(RowOfRule(judgement, /*has_label=*/true));
      }
      PageContent content;
      content.AddTable(table);
      page_.AddFold(absl::StrCat(rules, " rules"), content);
      return;
    }
    for (int i = 0; i < verdict_.judgements_size();) {
      const std::string& label = verdict_.judgements(i).label();
      PageTable table = RuleTable();
      for (; i < verdict_.judgements_size() &&
             verdict_.judgements(i).label() == label;
           ++i) {
        table.rows.push_back(
            RowOfRule(verdict_.judgements(i), /*has_label=*/false));
      }
      PageContent content;
      for (const std::string& note : NotesOf(verdict_, label)) {
        content.AddParagraph(note);
      }
      content.AddTable(table);
      page_.AddFold(absl::StrCat(label, ", ", table.rows.size(),
                                 table.rows.size() == 1 ? " rule" : " rules"),
                    content);
    }
  }

  const GateInput& input_;
  const Verdict& verdict_;
  std::vector<DeploymentSummary> summaries_;
  Page page_;
};

}  // namespace

std::string WriteGatePage(const GateInput& input, const Verdict& verdict) {
  return GatePage(input, verdict).Write();
}

}  // namespace footprint
