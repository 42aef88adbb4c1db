#include "footprint/gates/report/junit_report.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/report/verdict_words.h"
#include "footprint/profiling/schema/metric_kind.h"

namespace footprint {
namespace {

std::string JunitCaseOf(const Judgement& judgement) {
  const Outcome outcome = OutcomeOf(judgement);
  const std::string begin = absl::StrCat(
      "    <testcase classname=\"", EscapeForXml(judgement.label()),
      "\" name=\"",
      EscapeForXml(absl::StrCat(NameOf(judgement), " ",
                                SchemaNameOfMetric(judgement.metric()), " ",
                                WordOfRule(judgement.rule()))),
      "\"");
  if (outcome == Outcome::kHolds) return begin + "/>\n";
  const std::string what = EscapeForXml(DescribeViolation(judgement));
  const std::string how = EscapeForXml(judgement.command_to_accept());
  if (outcome == Outcome::kRejects) {
    return absl::StrCat(begin, "><failure type=\"REJECT\" message=\"", what,
                        "\">accept it with: ", how, "</failure></testcase>\n");
  }
  return absl::StrCat(begin, "><system-out>", WordOfOutcome(outcome), " ", what,
                      "&#10;accept it with: ", how,
                      "</system-out></testcase>\n");
}

std::string JunitCaseOf(const Problem& problem) {
  const std::string begin =
      absl::StrCat("    <testcase classname=\"problems\" name=\"",
                   EscapeForXml(problem.location()), "\">");
  const std::string message = EscapeForXml(problem.message());
  if (problem.decision() == ACCEPT) {
    return absl::StrCat(begin, "<system-out>", message,
                        "</system-out></testcase>\n");
  }
  return absl::StrCat(begin, "<error type=\"",
                      std::string(Decision_Name(problem.decision())),
                      "\" message=\"", message, "\"/></testcase>\n");
}

std::string JunitSuite(const std::string& name, const std::string& cases,
                       int tests, int failures, int errors) {
  return absl::StrCat("  <testsuite name=\"", EscapeForXml(name), "\" tests=\"",
                      tests, "\" failures=\"", failures, "\" errors=\"", errors,
                      "\">\n", cases, "  </testsuite>\n");
}

}  // namespace

std::string WriteJunitReport(const Verdict& verdict) {
  std::string suites;
  for (int i = 0; i < verdict.judgements_size();) {
    const std::string& label = verdict.judgements(i).label();
    std::string cases;
    int tests = 0;
    int failures = 0;
    for (; i < verdict.judgements_size() &&
           verdict.judgements(i).label() == label;
         ++i) {
      cases += JunitCaseOf(verdict.judgements(i));
      ++tests;
      failures += OutcomeOf(verdict.judgements(i)) == Outcome::kRejects ? 1 : 0;
    }
    const std::vector<std::string> remarks = NotesOf(verdict, label);
    if (!remarks.empty()) {
      absl::StrAppend(&cases, "    <system-out>",
                      EscapeForXml(absl::StrJoin(remarks, "\n")),
                      "</system-out>\n");
    }
    suites += JunitSuite(label, cases, tests, failures, 0);
  }
  std::string cases;
  int errors = 0;
  for (const Problem& problem : verdict.problems()) {
    cases += JunitCaseOf(problem);
    errors += problem.decision() == ACCEPT ? 0 : 1;
  }
  if (!cases.empty()) {
    suites += JunitSuite("problems", cases, verdict.problems_size(), 0, errors);
  }
  return absl::StrCat(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"",
      verdict.judgements_size() + verdict.problems_size(), "\" failures=\"",
      CountOf(verdict, Outcome::kRejects), "\" errors=\"", errors, "\">\n",
      suites, "</testsuites>\n");
}

}  // namespace footprint
