#include "footprint/gates/reports/markdown_report.h"

#include "absl/strings/str_cat.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/reports/deployment_summary.h"

namespace footprint {
namespace {

std::string MarkdownRow(const JudgementRow& row) {
  std::string text = "|";
  for (const std::string& cell : row) {
    absl::StrAppend(&text, " ", EscapeForMarkdown(cell), " |");
  }
  return text + "\n";
}

// Returns a table with a row for each deployment, like the lines of the text
// report.
std::string DeploymentTable(const Verdict& verdict) {
  std::string text =
      "\n| deployment | rules | nearest margin | limit |\n|---|---:|---|---|\n";
  for (const DeploymentSummary& summary : SummarizeDeployments(verdict)) {
    absl::StrAppend(&text, "| ", EscapeForMarkdown(summary.label), " | ",
                    summary.rule_count, " | ");
    if (summary.nearest < 0) {
      text += "not judged | |\n";
      continue;
    }
    const Judgement& nearest = verdict.judgements(summary.nearest);
    absl::StrAppend(&text, EscapeForMarkdown(MarginText(nearest)), " | ",
                    EscapeForMarkdown(nearest.threshold_location()), " |\n");
  }
  return text;
}

// Returns a table for each deployment, with a row for each rule.
std::string RuleTables(const Verdict& verdict) {
  std::string text;
  for (int i = 0; i < verdict.judgements_size(); ++i) {
    const Judgement& judgement = verdict.judgements(i);
    if (BeginsDeployment(verdict, i)) {
      absl::StrAppend(&text, "\n### ", EscapeForMarkdown(judgement.label()),
                      "\n");
      for (const std::string& remark : FindNotes(verdict, judgement.label())) {
        absl::StrAppend(&text, "\n", EscapeForMarkdown(remark), "\n");
      }
      absl::StrAppend(&text,
                      "\n| benchmark | metric | measured | limit | margin | "
                      "verdict |\n|---|---|---:|---:|---|---|\n");
    }
    text += MarkdownRow(MakeJudgementRow(judgement));
  }
  return text;
}

}  // namespace

std::string WriteMarkdownReport(const Verdict& verdict,
                                const ReportOptions& options) {
  std::string text = absl::StrCat(
      "## ", EscapeForMarkdown(SummaryLine(verdict)), "\n",
      options.has_every_rule ? RuleTables(verdict) : DeploymentTable(verdict));
  for (const Judgement& judgement : verdict.judgements()) {
    if (!IsViolation(judgement)) continue;
    absl::StrAppend(&text, "\n- **", WordOfOutcome(FindOutcome(judgement)),
                    "** ", EscapeForMarkdown(DescribeViolation(judgement)),
                    judgement.command_to_accept().empty() ? "" : "<br>",
                    EscapeForMarkdown(HowToAccept(judgement)), "\n");
  }
  for (const Problem& problem : verdict.problems()) {
    absl::StrAppend(&text, "\n- **", EscapeForMarkdown(WordOfProblem(problem)),
                    "** ", EscapeForMarkdown(problem.location()), ": ",
                    EscapeForMarkdown(problem.message()), "\n");
  }
  return text;
}

}  // namespace footprint
