#include "footprint/gates/reports/junit_report.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/judge/rules.h"
#include "footprint/gates/reports/deployment_summary.h"
#include "footprint/profiling/schema/metric_kind.h"

namespace footprint {
namespace {

std::string WriteJunitCase(const Judgement& judgement) {
  const Outcome outcome = FindOutcome(judgement);
  const std::string begin = absl::StrCat(
      "    <testcase classname=\"", EscapeForXml(judgement.label()),
      "\" name=\"",
      EscapeForXml(absl::StrCat(DescribeMeasured(judgement), " ",
                                SchemaNameOfMetric(judgement.metric()), " ",
                                FindWords(judgement.rule()).limit)),
      "\"");
  if (outcome == Outcome::kHolds) return begin + "/>\n";
  const std::string what = EscapeForXml(DescribeViolation(judgement));
  const std::string how = EscapeForXml(HowToAccept(judgement));
  if (outcome == Outcome::kRejects) {
    return absl::StrCat(begin, "><failure type=\"REJECT\" message=\"", what,
                        "\">", how, "</failure></testcase>\n");
  }
  return absl::StrCat(begin, "><system-out>", WordOfOutcome(outcome), " ", what,
                      how.empty() ? "" : "&#10;", how,
                      "</system-out></testcase>\n");
}

std::string WriteJunitCase(const Problem& problem) {
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

// Writes one case for all rules of a deployment, like its line in the text
// report.
std::string WriteJunitCase(const DeploymentSummary& summary,
                           const Verdict& verdict) {
  const Judgement& nearest = verdict.judgements(summary.nearest);
  return absl::StrCat(
      "    <testcase classname=\"", EscapeForXml(summary.label),
      "\" name=\"the nearest of all rules\"><system-out>", summary.rule_count,
      " rules; nearest margin: ", EscapeForXml(MarginText(nearest)), "; ",
      EscapeForXml(DescribeViolation(nearest)), "</system-out></testcase>\n");
}

class JunitReport {
 public:
  JunitReport(const Verdict& verdict, const ReportOptions& options)
      : verdict_(verdict), options_(options) {}

  std::string Write() {
    for (const DeploymentSummary& summary : SummarizeDeployments(verdict_)) {
      if (summary.nearest >= 0) AddDeployment(summary);
    }
    AddProblems();
    return absl::StrCat(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"",
        tests_, "\" failures=\"", CountJudgements(verdict_, Outcome::kRejects),
        "\" errors=\"", errors_, "\">\n", suites_, "</testsuites>\n");
  }

 private:
  void AddDeployment(const DeploymentSummary& summary) {
    std::string cases;
    int tests = 0;
    int failures = 0;
    if (!options_.has_every_rule) {
      cases = WriteJunitCase(summary, verdict_);
      ++tests;
    }
    // The judgements of one deployment are contiguous.
    for (; next_ < verdict_.judgements_size() &&
           verdict_.judgements(next_).label() == summary.label;
         ++next_) {
      const Judgement& judgement = verdict_.judgements(next_);
      if (!options_.has_every_rule && !IsViolation(judgement)) continue;
      cases += WriteJunitCase(judgement);
      ++tests;
      failures += FindOutcome(judgement) == Outcome::kRejects ? 1 : 0;
    }
    const std::vector<std::string> remarks =
        options_.has_every_rule ? FindNotes(verdict_, summary.label)
                                : std::vector<std::string>();
    if (!remarks.empty()) {
      absl::StrAppend(&cases, "    <system-out>",
                      EscapeForXml(absl::StrJoin(remarks, "\n")),
                      "</system-out>\n");
    }
    tests_ += tests;
    suites_ += JunitSuite(summary.label, cases, tests, failures, 0);
  }

  void AddProblems() {
    std::string cases;
    for (const Problem& problem : verdict_.problems()) {
      cases += WriteJunitCase(problem);
      errors_ += problem.decision() == ACCEPT ? 0 : 1;
    }
    if (cases.empty()) return;
    tests_ += verdict_.problems_size();
    suites_ +=
        JunitSuite("problems", cases, verdict_.problems_size(), 0, errors_);
  }

  const Verdict& verdict_;
  const ReportOptions& options_;
  std::string suites_;
  int next_ = 0;
  int tests_ = 0;
  int errors_ = 0;
};

}  // namespace

std::string WriteJunitReport(const Verdict& verdict,
                             const ReportOptions& options) {
  return JunitReport(verdict, options).Write();
}

}  // namespace footprint
