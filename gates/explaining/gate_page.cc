#include "footprint/gates/explaining/gate_page.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/page/line_chart.h"
#include "footprint/base/page/page.h"
#include "footprint/base/page/stacked_bars.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/gates/commands/gate_targets.h"
#include "footprint/gates/explaining/explanation_report.h"
#include "footprint/gates/explaining/limit_histories.h"
#include "footprint/gates/explaining/phase_charts.h"
#include "footprint/gates/explaining/scaling_charts.h"
#include "footprint/gates/judge/rules.h"
#include "footprint/gates/reports/deployment_summary.h"
#include "footprint/gates/reports/verdict_words.h"
#include "footprint/profiling/schema/metric_kind.h"

namespace footprint {
namespace {

// Limits that keep the page small enough for a browser to open at once. Beyond
// them the page only says how many there are. Every rule is on the page,
// whatever their number.
constexpr size_t kMostDeployments = 300;
constexpr size_t kMostNotAccepted = 100;
constexpr size_t kMostNearest = 30;
// This keeps one deployment from filling the table.
constexpr int kMostOfOneDeployment = 3;
constexpr size_t kMostPhaseCharts = 30;
constexpr size_t kMostScalingCharts = 30;

std::string ExactText(MetricKind metric, int64_t value) {
  return UnitOfMetric(metric) == MetricUnit::kBytes
             ? absl::StrCat(FormatCount(value), " B")
             : FormatCount(value);
}

std::string NameAndMetric(const Judgement& judgement) {
  return absl::StrCat(DescribeMeasured(judgement), " ",
                      ShortNameOfMetric(judgement.metric()));
}

std::string LimitText(const Judgement& judgement) {
  return absl::StrCat(FindWords(judgement.rule()).limit, " ",
                      ExactText(judgement.metric(), judgement.limit()),
                      DeterminismSuffix(judgement));
}

// Returns the margin without the limit, which has its own column.
std::string ShareText(const Judgement& judgement) {
  const std::string margin = MarginText(judgement);
  const size_t of = margin.find(" of ");
  return of == std::string::npos ? margin : margin.substr(0, of);
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
          return ComputeShare(a) < ComputeShare(b);
        });
  }

  std::string Write() {
    AddNotAccepted();
    AddDeployments();
    AddNearest();
    AddPhases();
    AddScaling();
    AddLimitHistories(input_, &page_);
    AddEveryRule();
    return page_.Html();
  }

 private:
  // Returns the share by which deployments are sorted. One that was not judged
  // comes before all others.
  double ComputeShare(const DeploymentSummary& summary) const {
    return summary.nearest < 0
               ? -std::numeric_limits<double>::infinity()
               : MarginShare(verdict_.judgements(summary.nearest));
  }

  void SayHowManyMore(size_t all, size_t shown, const char* what) {
    if (all <= shown) return;
    page_.AddParagraph(absl::StrCat(
        FormatCount(shown), " of ", FormatCount(all), " ", what, " are shown",
        verdict_.judgements_size() == 0
            ? "."
            : "; every rule is below, under \"Every rule\"."));
  }

  void AddNotAccepted() {
    std::vector<std::string> warnings;
    size_t count = 0;
    for (const Judgement& judgement : verdict_.judgements()) {
      if (!IsViolation(judgement) || ++count > kMostNotAccepted) continue;
      warnings.push_back(
          absl::StrCat(WordOfOutcome(FindOutcome(judgement)), " ",
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
                            FileNameAndLine(nearest.threshold_location())});
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
           LimitText(judgement),
           FileNameAndLine(judgement.threshold_location())});
    }
    page_.AddSection("Nearest margins");
    page_.AddTable(table);
    SayHowManyMore(limits.size(), table.rows.size(), "limits");
  }

  void AddPhases() {
    std::vector<std::string> labels;
    for (const DeploymentSummary& summary : summaries_) {
      labels.push_back(summary.label);
    }
    const std::vector<StackedBars> all = MakePhaseCharts(input_, labels);
    if (all.empty()) return;
    PageContent charts;
    const size_t count = std::min(all.size(), kMostPhaseCharts);
    for (size_t i = 0; i < count; ++i) charts.AddStackedBars(all[i]);
    page_.AddSection("Memory by phase");
    page_.AddParagraph(
        "The peak of each phase, net of what was live when it began, of the "
        "benchmark with the highest peak of each deployment. Phases do not add "
        "up to the whole: they are not at their peaks together.");
    page_.AddFold(
        absl::StrCat(
            count, count == all.size() ? "" : absl::StrCat(" of ", all.size()),
            count == 1 ? " deployment"
                       : " deployments, the nearest to a limit first"),
        charts);
  }

  void AddScaling() {
    const std::vector<LineChart> all = ScalingCharts(input_);
    if (all.empty()) return;
    PageContent charts;
    const size_t shown = std::min(all.size(), kMostScalingCharts);
    for (size_t i = 0; i < shown; ++i) charts.AddLineChart(all[i]);
    page_.AddSection("How memory grows with size");
    page_.AddParagraph(
        "Peaks by the arguments of benchmarks. If a scaling rule judges them, "
        "the chart also shows its law and the limits at sizes that are not run "
        "here.");
    page_.AddFold(
        shown == all.size()
            ? absl::StrCat(shown, shown == 1 ? " chart" : " charts")
            : absl::StrCat(shown, " of ", all.size(), " charts, rules first"),
        charts);
  }

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
      for (const DeploymentSummary& summary : summaries_) {
        for (const std::string& note : FindNotes(verdict_, summary.label)) {
          content.AddParagraph(absl::StrCat(summary.label, ": ", note));
        }
      }
      content.AddTable(table);
      page_.AddFold(absl::StrCat(rules, rules == 1 ? " rule" : " rules"),
                    content);
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
      for (const std::string& note : FindNotes(verdict_, label)) {
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
