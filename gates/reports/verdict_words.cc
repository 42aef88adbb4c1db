#include "footprint/gates/reports/verdict_words.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "footprint/base/memory/saturated_sum.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/rules.h"
#include "footprint/profiling/schema/metric_kind.h"

namespace footprint {
namespace {

// Returns the distance to the limit: "512 KiB left (25.0 %)", "16 B over",
// "exact".
std::string DescribeMargin(const Judgement& judgement) {
  const int64_t over =
      SaturatedDifference(judgement.measured(), judgement.limit());
  if (over == 0) return judgement.rule() == EXACT_VALUE ? "exact" : "none left";
  const std::string size = DistanceText(judgement);
  if (judgement.decision() != ACCEPT) {
    return size + (over > 0 ? " over" : " under");
  }
  if (judgement.limit() <= 0) return size + " left";
  const double percent = 100.0 * std::fabs(static_cast<double>(over)) /
                         static_cast<double>(judgement.limit());
  return absl::StrFormat("%s left (%.1f %%)", size, percent);
}

}  // namespace

std::string ShortMetricText(MetricKind metric, int64_t value) {
  return UnitOfMetric(metric) == MetricUnit::kBytes ? FormatRoundedBytes(value)
                                                    : FormatCount(value);
}

std::string DistanceText(const Judgement& judgement) {
  const int64_t over =
      SaturatedDifference(judgement.measured(), judgement.limit());
  return ShortMetricText(judgement.metric(),
                         over < 0 ? SaturatedDifference(0, over) : over);
}

std::string DeterminismSuffix(const Judgement& judgement) {
  const bool is_weaker = judgement.determinism() == BOUNDED ||
                         judgement.determinism() == STATISTICAL;
  return is_weaker ? absl::StrCat(
                         " of ",
                         std::string(Determinism_Name(judgement.determinism())))
                   : "";
}

Outcome FindOutcome(const Judgement& judgement) {
  if (judgement.decision() == ACCEPT) return Outcome::kHolds;
  if (judgement.severity() == WARN) return Outcome::kWarns;
  return judgement.severity() == AUDIT ? Outcome::kIsRecorded
                                       : Outcome::kRejects;
}

bool IsViolation(const Judgement& judgement) {
  const Outcome outcome = FindOutcome(judgement);
  return outcome == Outcome::kRejects || outcome == Outcome::kWarns;
}

const char* WordOfOutcome(Outcome outcome) {
  switch (outcome) {
    case Outcome::kHolds:
      return "accept";
    case Outcome::kRejects:
      return "REJECT";
    case Outcome::kWarns:
      return "WARN";
    case Outcome::kIsRecorded:
      return "audit";
  }
  return "";
}

std::string DescribeMeasured(const Judgement& judgement) {
  return judgement.phase().empty() ? judgement.benchmark()
                                   : absl::StrCat(judgement.benchmark(), " [",
                                                  judgement.phase(), "]");
}

namespace {

// Returns the value with the metric's unit, or a plain number for an exponent.
std::string FigureText(const Judgement& judgement, int64_t value) {
  return FindWords(judgement.rule()).has_metric_unit
             ? FormatMetricValue(judgement.metric(), value)
             : FormatCount(value);
}

std::string LimitText(const Judgement& judgement) {
  const JudgementWords& words = FindWords(judgement.rule());
  return absl::StrCat(
      words.limit, " ", FigureText(judgement, judgement.limit()),
      words.states_determinism ? DeterminismSuffix(judgement) : "");
}

std::string MarginText(const Judgement& judgement) {
  if (FindWords(judgement.rule()).has_metric_unit) {
    return DescribeMargin(judgement);
  }
  const int64_t over = judgement.measured() - judgement.limit();
  if (over == 0) return "none left";
  return absl::StrCat(FormatCount(std::abs(over)),
                      over > 0 ? " over" : " left");
}

}  // namespace

JudgementRow MakeJudgementRow(const Judgement& judgement) {
  return {DescribeMeasured(judgement),
          std::string(ShortNameOfMetric(judgement.metric())),
          FigureText(judgement, judgement.measured()),
          LimitText(judgement),
          MarginText(judgement),
          WordOfOutcome(FindOutcome(judgement))};
}

std::string HowToAccept(const Judgement& judgement) {
  const std::string& command = judgement.command_to_accept();
  return command.empty() ? "" : absl::StrCat("accept it with: ", command);
}

std::string DescribeViolation(const Judgement& judgement) {
  return absl::StrCat(
      judgement.label(), " ", DescribeMeasured(judgement), ": ",
      absl::string_view(ShortNameOfMetric(judgement.metric())), " is ",
      FigureText(judgement, judgement.measured()), ", limit ",
      LimitText(judgement), ", ", MarginText(judgement), " (",
      judgement.threshold_location(), ")",
      judgement.explanation().empty() ? "" : ": ", judgement.explanation());
}

int CountJudgements(const Verdict& verdict, Outcome outcome) {
  return static_cast<int>(
      std::count_if(verdict.judgements().begin(), verdict.judgements().end(),
                    [outcome](const Judgement& judgement) {
                      return FindOutcome(judgement) == outcome;
                    }));
}

std::vector<std::string> FindNotes(const Verdict& verdict,
                                   const std::string& label) {
  std::vector<std::string> remarks;
  for (const ProducerRemark& remark : verdict.remarks()) {
    if (remark.label() != label) continue;
    remarks.push_back(
        absl::StrCat(remark.remark().about(), ": ", remark.remark().text()));
  }
  return remarks;
}

std::string WordOfProblem(const Problem& problem) {
  return problem.decision() == ACCEPT
             ? "NOT JUDGED"
             : std::string(Decision_Name(problem.decision()));
}

bool BeginsDeployment(const Verdict& verdict, int index) {
  return index == 0 || verdict.judgements(index - 1).label() !=
                           verdict.judgements(index).label();
}

namespace {

std::string Plural(size_t count, const char* noun) {
  return absl::StrCat(FormatCount(static_cast<int64_t>(count)), " ", noun,
                      count == 1 ? "" : "s");
}

}  // namespace

std::string SummaryLine(const Verdict& verdict) {
  std::set<std::string> labels;
  std::set<std::pair<std::string, std::string>> benchmarks;
  for (const Judgement& judgement : verdict.judgements()) {
    labels.insert(judgement.label());
    benchmarks.emplace(judgement.label(), judgement.benchmark());
  }
  const auto rules = static_cast<size_t>(verdict.judgements_size());
  const int rejected = CountJudgements(verdict, Outcome::kRejects);
  const int warned = CountJudgements(verdict, Outcome::kWarns);
  std::string line(Decision_Name(verdict.decision()));
  absl::StrAppend(&line, " ", Plural(labels.size(), "deployment"), ", ",
                  Plural(benchmarks.size(), "benchmark"), ", ",
                  Plural(rules, "rule"));
  if (rejected > 0) absl::StrAppend(&line, ", ", rejected, " rejected");
  if (warned > 0) absl::StrAppend(&line, ", ", warned, " warned");
  if (verdict.problems_size() > 0) {
    absl::StrAppend(
        &line, ", ",
        Plural(static_cast<size_t>(verdict.problems_size()), "problem"));
  }
  return line;
}

}  // namespace footprint
