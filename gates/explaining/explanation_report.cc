#include "footprint/gates/explaining/explanation_report.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/gates/commands/gate_targets.h"
#include "footprint/gates/explaining/diff_report.h"
#include "footprint/gates/explaining/growth_reasons.h"
#include "footprint/gates/judge/rules.h"
#include "footprint/gates/judge/threshold_numbers.h"
#include "footprint/gates/reports/verdict_words.h"
#include "footprint/profiling/schema/metric_kind.h"

namespace footprint {
namespace {

// The most parts in a list; the rest is added up.
constexpr size_t kMostParts = 8;

const char* WordsOfSeverity(Severity severity) {
  return severity == WARN    ? "warns"
         : severity == AUDIT ? "is recorded only"
                             : "blocks";
}

template <typename Value, typename Format>
void AppendStep(bool has_old, Value old_value, bool has_new, Value new_value,
                const char* name, const Format& format,
                std::vector<std::string>* steps) {
  if (!has_new) return;
  steps->push_back(absl::StrCat(name, has_old ? format(old_value) : "",
                                has_old ? " -> " : "", format(new_value)));
}

std::string DescribeSteps(const HistoryEntry& entry, MetricKind metric) {
  std::vector<std::string> steps;
  const auto number = [metric](int64_t value) {
    return FormatMetricValue(metric, value);
  };
  AppendStep(entry.has_old_value(), entry.old_value(), entry.has_new_value(),
             entry.new_value(), "", number, &steps);
  AppendStep(entry.has_old_ratio(), entry.old_ratio(), entry.has_new_ratio(),
             entry.new_ratio(), "ratio ", RatioText, &steps);
  AppendStep(entry.has_old_minimum(), entry.old_minimum(),
             entry.has_new_minimum(), entry.new_minimum(), "minimum ", number,
             &steps);
  return absl::StrJoin(steps, "  ");
}

ReportValue MetricValue(MetricKind metric, int64_t value) {
  return UnitOfMetric(metric) == MetricUnit::kBytes ? BytesValue(value)
                                                    : CountValue(value);
}

void AddText(const char* name, const std::string& text, Report* report) {
  if (!text.empty()) report->figures.push_back({name, TextValue(text)});
}

// Adds what programs read, and people see in the title and the rule.
void AddDetails(const Judgement& judgement, Report* report) {
  const size_t first = report->figures.size();
  AddText("label", judgement.label(), report);
  AddText("benchmark", judgement.benchmark(), report);
  AddText("phase", judgement.phase(), report);
  AddText("metric", MetricKind_Name(judgement.metric()), report);
  AddText("kind of rule", RuleKind_Name(judgement.rule()), report);
  AddText("decision", Decision_Name(judgement.decision()), report);
  report->figures.push_back(
      {"limit", MetricValue(judgement.metric(), judgement.limit())});
  for (size_t i = first; i < report->figures.size(); ++i) {
    report->figures[i].is_detail = true;
  }
}

void AddFigures(const GateExplanation& explanation, Report* report) {
  const Judgement& judgement = explanation.judgement;
  const MetricKind metric = judgement.metric();
  AddText("rule",
          absl::StrCat(ShortNameOfMetric(metric), " ",
                       FindWords(judgement.rule()).sentence, " ",
                       FormatMetricValue(metric, judgement.limit()), "; ",
                       WordsOfSeverity(judgement.severity())),
          report);
  AddText("where", judgement.threshold_location(), report);
  AddText("owner", explanation.threshold.owner(), report);
  AddText("because", explanation.threshold.reason(), report);
  report->figures.push_back(
      {"measured", MetricValue(metric, judgement.measured()),
       absl::StrCat(std::string(Determinism_Name(judgement.determinism())),
                    " over ", explanation.process_count, " processes")});
  AddText("margin", MakeJudgementRow(judgement)[4], report);
  AddText(
      "but",
      DescribeSmallDecrease(metric, judgement.limit() - judgement.measured()),
      report);
  if (explanation.threshold.history().empty()) {
    AddText("history", "none is kept", report);
  }
  const bool holds = judgement.decision() == ACCEPT;
  if (explanation.command.empty()) {
    AddText("accept", "it holds, to the byte", report);
  } else {
    report->figures.push_back(
        {holds ? "tighten" : "accept", CommandValue(explanation.command),
         holds ? "it holds; to what was measured it comes by"
               : "the measured value becomes the limit by"});
  }
  AddDetails(judgement, report);
}

ReportTable MakeList(const char* heading, std::vector<ReportColumn> columns) {
  ReportTable table;
  table.heading = heading;
  table.lead = heading;
  table.text_rows = kMostParts;
  table.is_list = true;
  table.columns = std::move(columns);
  return table;
}

// Adds a table unless it is empty.
void Add(ReportTable table, Report* report) {
  if (!table.rows.empty()) report->tables.push_back(std::move(table));
}

ReportTable LocationTable(const char* heading,
                          const std::vector<std::string>& locations) {
  ReportTable table = MakeList(heading, {{"location"}});
  for (const std::string& each : locations) {
    table.rows.push_back({{TextValue(each)}});
  }
  return table;
}

ReportTable HistoryTable(const GateExplanation& explanation) {
  ReportTable table = MakeList("history", {{"date"}, {"change"}, {"reason"}});
  for (const HistoryEntry& entry : explanation.threshold.history()) {
    table.rows.push_back(
        {{TextValue(entry.date()),
          TextValue(DescribeSteps(entry, explanation.judgement.metric())),
          TextValue(entry.reason())}});
  }
  table.text_rows = table.rows.size();
  return table;
}

ReportTable PartTable(const char* heading, const char* column,
                      MetricKind metric,
                      const std::vector<GateExplanation::Part>& parts) {
  const ReportUnit unit = MetricValue(metric, 0).unit;
  ReportTable table;
  table.heading = heading;
  table.row_name = "smaller one";
  table.text_rows = kMostParts;
  table.columns = {{std::string(ShortNameOfMetric(metric)), unit},
                   {"exactly", ReportUnit::kCount},
                   {column, ReportUnit::kText, false, /*most_text_bytes=*/400}};
  for (const GateExplanation::Part& part : parts) {
    table.rows.push_back({{MetricValue(metric, part.value),
                           CountValue(part.value), TextValue(part.name)}});
  }
  return table;
}

// Returns the exact values that moved as a node of differences.
DiffNode MakeMovedNode(const GateExplanation& explanation) {
  DiffNode node;
  node.kind = DiffNode::Kind::kBenchmark;
  node.name = explanation.judgement.benchmark();
  for (const Judgement& moved : explanation.moved_exact_values) {
    MetricChange change;
    change.metric = moved.metric();
    change.before = moved.limit();
    change.after = moved.measured();
    DiffNode child;
    child.kind = DiffNode::Kind::kPhase;
    child.name = moved.phase().empty() ? "of the whole" : moved.phase();
    child.notes = {absl::StrCat("exact value at ", moved.threshold_location())};
    child.changes = {change};
    node.children.push_back(std::move(child));
  }
  return node;
}

// Adds what grew. Earlier profiles show it best. Exact values that no longer
// hold show it if there are none.
void AddGrowth(const GateExplanation& explanation, Report* report) {
  const absl::optional<DiffNode>& difference = explanation.difference;
  if (difference.has_value() && difference->children.empty()) {
    AddText("what grew", "nothing since the earlier profile", report);
  } else if (difference.has_value() ||
             !explanation.moved_exact_values.empty()) {
    report->tables.push_back(MakeDiffTable(difference.has_value()
                                               ? difference->children.front()
                                               : MakeMovedNode(explanation)));
    report->tables.back().heading = report->tables.back().lead = "what grew";
  } else if (explanation.kept_exact_values > 0) {
    AddText("what grew",
            absl::StrCat("nothing: ", explanation.kept_exact_values,
                         " exact values of this benchmark hold"),
            report);
  } else {
    AddText("what grew",
            absl::StrCat("not known: no exact value of this benchmark is kept, "
                         "and no --before=FOLDER is given; `bazel run ",
                         GateTarget("diff"),
                         " -- --save=FOLDER` keeps profiles to compare with"),
            report);
  }
}

Report MakePart(const GateExplanation& explanation) {
  const Judgement& judgement = explanation.judgement;
  Report part;
  part.title =
      absl::StrCat(WordOfOutcome(FindOutcome(judgement)), " ",
                   judgement.label(), " ", DescribeMeasured(judgement));
  AddFigures(explanation, &part);
  Add(LocationTable("wins over", explanation.wins_over), &part);
  Add(LocationTable("gives way", explanation.gives_way), &part);
  Add(HistoryTable(explanation), &part);
  Add(PartTable("phases", "phase", judgement.metric(), explanation.phases),
      &part);
  Add(PartTable("at the peak", "held at the peak by", judgement.metric(),
                explanation.held_at_peak),
      &part);
  AddGrowth(explanation, &part);
  return part;
}

}  // namespace

std::string DescribeHistoryEntry(const HistoryEntry& entry, MetricKind metric) {
  return absl::StrJoin(
      {entry.date(), DescribeSteps(entry, metric), entry.reason()}, "  ");
}

Report MakeExplanationReport(const std::vector<GateExplanation>& explanations) {
  Report report;
  for (const GateExplanation& explanation : explanations) {
    report.parts.push_back(MakePart(explanation));
  }
  return report;
}

}  // namespace footprint
