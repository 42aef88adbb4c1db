#include "footprint/gates/report/markdown_report.h"

#include "absl/strings/str_cat.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/report/verdict_words.h"

namespace footprint {
namespace {

std::string MarkdownRow(const ReportRow& row) {
  std::string text = "|";
  for (const std::string& cell : row) {
    absl::StrAppend(&text, " ", EscapeForMarkdown(cell), " |");
  }
  return text + "\n";
}

}  // namespace

std::string WriteMarkdownReport(const Verdict& verdict) {
  std::string text =
      absl::StrCat("## ", EscapeForMarkdown(SummaryLine(verdict)), "\n");
  for (int i = 0; i < verdict.judgements_size(); ++i) {
    const Judgement& judgement = verdict.judgements(i);
    if (BeginsDeployment(verdict, i)) {
      absl::StrAppend(&text, "\n### ", EscapeForMarkdown(judgement.label()),
                      "\n");
      for (const std::string& remark : NotesOf(verdict, judgement.label())) {
        absl::StrAppend(&text, "\n", EscapeForMarkdown(remark), "\n");
      }
      absl::StrAppend(&text,
                      "\n| benchmark | metric | measured | limit | margin | "
                      "verdict |\n|---|---|---:|---:|---|---|\n");
    }
    text += MarkdownRow(RowOf(judgement));
  }
  for (const Judgement& judgement : verdict.judgements()) {
    const Outcome outcome = OutcomeOf(judgement);
    if (outcome == Outcome::kHolds || outcome == Outcome::kIsRecorded) continue;
    absl::StrAppend(&text, "\n- **", WordOfOutcome(outcome), "** ",
                    EscapeForMarkdown(DescribeViolation(judgement)),
                    "<br>accept it with: ",
                    EscapeForMarkdown(judgement.command_to_accept()), "\n");
  }
  for (const Problem& problem : verdict.problems()) {
    absl::StrAppend(&text, "\n- **", EscapeForMarkdown(WordOfProblem(problem)),
                    "** ", EscapeForMarkdown(problem.location()), ": ",
                    EscapeForMarkdown(problem.message()), "\n");
  }
  return text;
}

}  // namespace footprint
