#include "footprint/gates/explaining/comparison_report.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/gates/explaining/diff_report.h"

namespace footprint {
namespace {

using Change = ComparedFigure::Change;

const char* WordOfChange(Change change) {
  switch (change) {
    case Change::kGrown:
      return "grown";
    case Change::kShrunk:
      return "shrunk";
    case Change::kNew:
      return "new";
    case Change::kGone:
      return "gone";
    case Change::kOther:
      return "other";
  }
  return "";
}

std::string NameOf(const ComparedFigure& figure) {
  return figure.benchmark.empty()
             ? figure.label
             : absl::StrCat(figure.label, " ", figure.benchmark);
}

const char* MarkOf(const ComparedFigure& figure) {
  return figure.is_over_limit ? "REJECT" : WordOfChange(figure.change);
}

// Returns "REJECT 1 of 12 deployments differs: 1 over the limit, 1 grown".
std::string SummarizeComparison(const BaseComparison& comparison) {
  const std::string word(Decision_Name(comparison.verdict.decision()));
  const size_t differing = comparison.diff.deployments.size();
  const size_t all =
      differing + static_cast<size_t>(comparison.diff.same_count);
  const std::string deployments =
      absl::StrCat(all, all == 1 ? " deployment" : " deployments");
  if (differing == 0) {
    return absl::StrCat(word, " nothing differs in ", deployments);
  }
  std::string text = absl::StrCat(word, " ", differing, " of ", deployments,
                                  differing == 1 ? " differs" : " differ");
  std::vector<std::string> counts;
  const auto over = std::count_if(
      comparison.figures.begin(), comparison.figures.end(),
      [](const ComparedFigure& figure) { return figure.is_over_limit; });
  if (over > 0) counts.push_back(absl::StrCat(over, " over the limit"));
  for (const Change change : {Change::kGrown, Change::kShrunk, Change::kNew,
                              Change::kGone, Change::kOther}) {
    const auto count = std::count_if(
        comparison.figures.begin(), comparison.figures.end(),
        [change](const ComparedFigure& each) { return each.change == change; });
    if (count > 0)
      counts.push_back(absl::StrCat(count, " ", WordOfChange(change)));
  }
  if (!counts.empty())
    absl::StrAppend(&text, ": ", absl::StrJoin(counts, ", "));
  return text;
}

// Returns the figures, those over their limit first.
ReportTable MakeFigureTable(const BaseComparison& comparison) {
  ReportTable table;
  table.heading = "Figures";
  table.row_name = "figure";
  table.is_list = true;
  table.text_rows = 0;
  table.columns = {{"change"},
                   {"benchmark"},
                   {"figure"},
                   {"over limit", ReportUnit::kText, true},
                   {"growth", ReportUnit::kText, true}};
  for (const ComparedFigure& figure : comparison.figures) {
    ReportRow row;
    row.cells = {TextValue(MarkOf(figure)), TextValue(NameOf(figure)),
                 TextValue(absl::StrCat(figure.description,
                                        figure.reasons.empty() ? "" : "\n",
                                        absl::StrJoin(figure.reasons, "\n"))),
                 TextValue(figure.is_over_limit ? "yes" : "no"),
                 TextValue(WordOfChange(figure.change))};
    table.rows.push_back(std::move(row));
    if (figure.is_over_limit) ++table.text_rows;
  }
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const ReportRow& a, const ReportRow& b) {
                     return a.cells[3].text > b.cells[3].text;
                   });
  return table;
}

}  // namespace

Report MakeComparisonReport(const BaseComparison& comparison) {
  Report report = MakeDiffReport(comparison.diff);
  if (!comparison.figures.empty()) {
    report.tables.insert(report.tables.begin(), MakeFigureTable(comparison));
  }
  for (const Problem& problem : comparison.verdict.problems()) {
    report.warnings.push_back(
        {absl::StrCat(std::string(Decision_Name(problem.decision())), " ",
                      problem.location(), ": ", problem.message())});
  }
  for (const std::string& hint : comparison.hints) {
    report.warnings.push_back({hint, /*is_note=*/true});
  }
  report.figures.push_back(
      {"decision",
       TextValue(std::string(Decision_Name(comparison.verdict.decision())))});
  report.figures.back().is_detail = true;
  report.title = "Memory against the base";
  report.summary = SummarizeComparison(comparison);
  return report;
}

}  // namespace footprint
