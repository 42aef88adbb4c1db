#include "footprint/gates/reports/github_report.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/fingerprint.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/reports/finding_place.h"
#include "footprint/gates/reports/markdown_report.h"
#include "footprint/gates/reports/text_report.h"

namespace footprint {
namespace {

// Escapes the message of a workflow command. The result is valid UTF-8, as the
// log must be.
std::string EscapeMessage(absl::string_view text) {
  return absl::StrReplaceAll(EscapeForProto(text),
                             {{"%", "%25"}, {"\r", "%0D"}, {"\n", "%0A"}});
}

// Escapes a property, which would end at a comma or a colon.
std::string EscapeProperty(absl::string_view text) {
  return absl::StrReplaceAll(EscapeMessage(text), {{":", "%3A"}, {",", "%2C"}});
}

class Annotations {
 public:
  // Writes at most kGithubMostAnnotations, and counts the others.
  explicit Annotations(const char* kind) : kind_(kind) {}

  void Add(const std::string& location, const std::string& title,
           const std::string& message) {
    if (written_++ >= kGithubMostAnnotations) return;
    absl::StrAppend(&text_, "::", kind_, " title=", EscapeProperty(title));
    const FindingPlace place = ParsePlace(location);
    if (!place.path.empty()) {
      absl::StrAppend(&text_, ",file=", EscapeProperty(place.path));
    }
    if (place.line > 0) absl::StrAppend(&text_, ",line=", place.line);
    if (place.column > 0) absl::StrAppend(&text_, ",col=", place.column);
    absl::StrAppend(&text_, "::", EscapeMessage(message), "\n");
  }

  const std::string& text() const { return text_; }
  int left_out_count() const {
    return written_ > kGithubMostAnnotations ? written_ - kGithubMostAnnotations
                                             : 0;
  }

 private:
  const char* kind_;
  int written_ = 0;
  std::string text_;
};

// Returns the text as lines in which GitHub's runner executes no commands. The
// word that ends them is a hash of them all, so the text cannot contain it.
std::string WithoutCommands(const std::string& text) {
  const uint64_t word =
      Fingerprint(text.data(), static_cast<int64_t>(text.size()));
  return absl::StrFormat(
      "::stop-commands::footprint-%016x\n%s::footprint-%016x"
      "::\n",
      word, text, word);
}

std::string WriteMessage(const Judgement& judgement) {
  return absl::StrCat(DescribeViolation(judgement),
                      judgement.command_to_accept().empty() ? "" : "\n",
                      HowToAccept(judgement));
}

}  // namespace

std::string WriteGithubReport(const Verdict& verdict,
                              const ReportOptions& options) {
  ReportOptions plain;
  plain.has_every_rule = options.has_every_rule;
  Annotations errors("error");
  Annotations warnings("warning");
  for (const Problem& problem : verdict.problems()) {
    Annotations& kind = problem.decision() == ACCEPT ? warnings : errors;
    kind.Add(problem.location(), WordOfProblem(problem),
             absl::StrCat(problem.location(), ": ", problem.message()));
  }
  for (const Judgement& judgement : verdict.judgements()) {
    if (!IsViolation(judgement)) continue;
    Annotations& kind =
        FindOutcome(judgement) == Outcome::kWarns ? warnings : errors;
    kind.Add(judgement.threshold_location(),
             WordOfOutcome(FindOutcome(judgement)), WriteMessage(judgement));
  }
  std::string summary = SummaryLine(verdict);
  const int left_out = errors.left_out_count() + warnings.left_out_count();
  if (left_out > 0) {
    absl::StrAppend(&summary, "; ", left_out,
                    " more findings are in the log of this step");
  }
  Annotations notice("notice");
  notice.Add("", "Memory gates", summary);
  return absl::StrCat(WithoutCommands(WriteTextReport(verdict, plain)),
                      errors.text(), warnings.text(), notice.text());
}

std::string WriteGithubSummary(const Verdict& verdict,
                               const ReportOptions& options) {
  const std::string whole = WriteMarkdownReport(verdict, options);
  if (whole.size() <= kGithubMostSummaryBytes) return whole;
  // Bytes reserved for the last line, with any count.
  constexpr size_t kReservedBytes = 200;
  const std::vector<absl::string_view> lines = absl::StrSplit(whole, '\n');
  std::string text = absl::StrCat(lines[0], "\n");
  size_t left_out = 0;
  for (const bool is_of_findings : {true, false}) {
    for (size_t i = 1; i < lines.size(); ++i) {
      if (absl::StartsWith(lines[i], "- **") != is_of_findings) continue;
      if (lines[i].empty() && is_of_findings) continue;
      if (left_out > 0 || text.size() + lines[i].size() + 2 + kReservedBytes >
                              kGithubMostSummaryBytes) {
        left_out += lines[i].empty() ? 0 : 1;
        continue;
      }
      absl::StrAppend(&text, is_of_findings ? "\n" : "", lines[i], "\n");
    }
  }
  absl::StrAppend(&text, "\n", left_out,
                  " more lines are left out: a summary has at most 1 MiB.\n");
  return text;
}

}  // namespace footprint
