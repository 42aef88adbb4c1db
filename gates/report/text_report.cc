#include "footprint/gates/report/text_report.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/base/text/text_table.h"
#include "footprint/gates/report/verdict_words.h"

namespace footprint {
namespace {

constexpr char kRed[] = "\x1b[31m";
constexpr char kGreen[] = "\x1b[32m";
constexpr char kYellow[] = "\x1b[33m";
constexpr char kPlain[] = "\x1b[0m";

const char* ColourOf(Outcome outcome) {
  return outcome == Outcome::kRejects ? kRed
         : outcome == Outcome::kHolds ? kGreen
                                      : kYellow;
}

class TextReport {
 public:
  TextReport(const Verdict& verdict, bool has_colour)
      : verdict_(verdict), has_colour_(has_colour) {}

  std::string Write() {
    WriteTable();
    WriteViolations();
    for (const Problem& problem : verdict_.problems()) WriteProblem(problem);
    const Outcome outcome =
        verdict_.decision() == ACCEPT ? Outcome::kHolds : Outcome::kRejects;
    absl::StrAppend(&text_, Colour(outcome, SummaryLine(verdict_)), "\n");
    return std::move(text_);
  }

 private:
  std::string Colour(Outcome outcome, const std::string& text) const {
    return has_colour_ ? absl::StrCat(ColourOf(outcome), text, kPlain) : text;
  }

  void WriteTable() {
    std::vector<ReportRow> rows;
    TextTable table({{kReportHeadings[0]},
                     {kReportHeadings[1]},
                     {kReportHeadings[2], TextTable::kFigures},
                     {kReportHeadings[3], TextTable::kFigures},
                     {kReportHeadings[4]},
                     {kReportHeadings[5]}});
    for (const Judgement& judgement : verdict_.judgements()) {
      rows.push_back(RowOf(judgement));
      for (std::string& cell : rows.back()) cell = EscapeForTerminal(cell);
      table.Fit(rows.back());
    }
    for (int i = 0; i < verdict_.judgements_size(); ++i) {
      const Judgement& judgement = verdict_.judgements(i);
      if (BeginsDeployment(verdict_, i)) {
        if (i > 0) text_ += "\n";
        WriteDeployment(judgement.label());
        absl::StrAppend(&text_, "  ", table.Headings());
      }
      // Colours have no width: nothing follows in the row.
      rows[i].back() = Colour(OutcomeOf(judgement), rows[i].back());
      absl::StrAppend(&text_, "  ", table.Row(rows[i]));
    }
    if (!rows.empty()) text_ += "\n";
  }

  void WriteDeployment(const std::string& label) {
    absl::StrAppend(&text_, EscapeForTerminal(label), "\n");
    for (const std::string& remark : NotesOf(verdict_, label)) {
      absl::StrAppend(&text_, "  ", EscapeForTerminal(remark), "\n");
    }
  }

  void WriteViolations() {
    for (const Judgement& judgement : verdict_.judgements()) {
      const Outcome outcome = OutcomeOf(judgement);
      if (outcome == Outcome::kHolds || outcome == Outcome::kIsRecorded) {
        continue;
      }
      absl::StrAppend(&text_, Colour(outcome, WordOfOutcome(outcome)), " ",
                      EscapeForTerminal(DescribeViolation(judgement)),
                      "\n    accept it with: ",
                      EscapeForTerminal(judgement.command_to_accept()), "\n\n");
    }
  }

  void WriteProblem(const Problem& problem) {
    const Outcome outcome =
        problem.decision() == ACCEPT ? Outcome::kWarns : Outcome::kRejects;
    absl::StrAppend(&text_, Colour(outcome, WordOfProblem(problem)), " ",
                    EscapeForTerminal(problem.location()), ":");
    const char* separator = " ";
    for (absl::string_view line : absl::StrSplit(problem.message(), '\n')) {
      absl::StrAppend(&text_, separator, EscapeForTerminal(line), "\n");
      separator = "    ";
    }
    text_ += "\n";
  }

  const Verdict& verdict_;
  const bool has_colour_;
  std::string text_;
};

}  // namespace

std::string WriteTextReport(const Verdict& verdict) {
  return TextReport(verdict, /*has_colour=*/false).Write();
}

std::string WriteColouredReport(const Verdict& verdict) {
  return TextReport(verdict, /*has_colour=*/true).Write();
}

}  // namespace footprint
