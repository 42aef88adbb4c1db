#include "footprint/gates/reports/openmetrics_report.h"

#include <cmath>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/judge/rules.h"
#include "footprint/gates/reports/deployment_summary.h"
#include "footprint/profiling/schema/metric_kind.h"

namespace footprint {
namespace {

using Labels = std::vector<std::pair<const char*, std::string>>;

std::string LabelSet(const Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    absl::StrAppend(
        &text, text.empty() ? "" : ",", name, "=\"",
        absl::StrReplaceAll(EscapeForProto(value),
                            {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}}),
        "\"");
  }
  return text.empty() ? "" : absl::StrCat("{", text, "}");
}

// The points of one metric name, which must be contiguous; one for each set of
// labels.
class Family {
 public:
  Family(std::string name, const char* type, const char* unit)
      : name_(std::move(name)), type_(type), unit_(unit) {}

  void Add(const Labels& labels, const std::string& value) {
    std::string set = LabelSet(labels);
    if (!seen_.insert(set).second) return;
    absl::StrAppend(&points_, name_,
                    absl::string_view(type_) == "info" ? "_info" : "", set, " ",
                    value, "\n");
  }

  std::string Text() const {
    if (points_.empty()) return "";
    return absl::StrCat(
        "# TYPE ", name_, " ", type_, "\n",
        *unit_ == '\0' ? "" : absl::StrCat("# UNIT ", name_, " ", unit_, "\n"),
        points_);
  }

 private:
  std::string name_;
  const char* type_;
  const char* unit_;
  std::string points_;
  std::set<std::string> seen_;
};

// Units of the figures of rules.
enum Unit { kBytes, kCalls, kExponent, kUnitCount };

Unit FindUnit(const Judgement& judgement) {
  if (judgement.rule() == MAXIMUM_EXPONENT) return kExponent;
  return UnitOfMetric(judgement.metric()) == MetricUnit::kBytes ? kBytes
                                                                : kCalls;
}

Labels MakeLabels(const Judgement& judgement) {
  Labels labels = {
      {"deployment", judgement.label()},
      {"benchmark", judgement.benchmark()},
      {"phase", judgement.phase()},
      {"metric", std::string(SchemaNameOfMetric(judgement.metric()))},
      {"rule", FindWords(judgement.rule()).limit},
      {"limit_location", judgement.threshold_location()}};
  // A threshold can limit the prediction of a law at several sizes.
  if (!judgement.size().empty()) {
    labels.emplace_back("size", judgement.size());
  }
  return labels;
}

class OpenmetricsReport {
 public:
  OpenmetricsReport(const Verdict& verdict, const ReportOptions& options)
      : verdict_(verdict), options_(options) {
    constexpr const char* kUnits[kUnitCount] = {"bytes", "calls", "exponent"};
    for (const char* unit : kUnits) {
      measured_.emplace_back(absl::StrCat("footprint_gate_measured_", unit),
                             "gauge", unit);
      limit_.emplace_back(absl::StrCat("footprint_gate_limit_", unit), "gauge",
                          unit);
    }
  }

  std::string Write() {
    decision_.Add({}, absl::StrCat(static_cast<int>(verdict_.decision())));
    verdict_info_.Add(
        {{"decision", std::string(Decision_Name(verdict_.decision()))},
         {"summary", SummaryLine(verdict_)}},
        "1");
    for (const DeploymentSummary& summary : SummarizeDeployments(verdict_)) {
      AddDeployment(summary);
    }
    for (const Judgement& judgement : verdict_.judgements()) {
      if (options_.has_every_rule || IsViolation(judgement)) Add(judgement);
      if (IsViolation(judgement)) AddViolation(judgement);
    }
    for (const Problem& problem : verdict_.problems()) {
      problem_info_.Add({{"decision", WordOfProblem(problem)},
                         {"location", problem.location()},
                         {"message", problem.message()}},
                        "1");
    }
    if (options_.has_every_rule) AddRemarks();
    return Text();
  }

 private:
  void AddDeployment(const DeploymentSummary& summary) {
    rules_.Add({{"deployment", summary.label}},
               absl::StrCat(summary.rule_count));
    if (summary.nearest < 0) return;
    const Judgement& nearest = verdict_.judgements(summary.nearest);
    const double share = MarginShare(nearest);
    const Labels labels = {{"deployment", summary.label},
                           {"margin", MarginText(nearest)},
                           {"limit_location", nearest.threshold_location()}};
    margin_.Add(labels, std::isinf(share) ? (share > 0 ? "+Inf" : "-Inf")
                                          : absl::StrCat(share));
  }

  void Add(const Judgement& judgement) {
    const Labels labels = MakeLabels(judgement);
    const Unit unit = FindUnit(judgement);
    measured_[unit].Add(labels, absl::StrCat(judgement.measured()));
    limit_[unit].Add(labels, absl::StrCat(judgement.limit()));
    holds_.Add(labels, judgement.decision() == ACCEPT ? "1" : "0");
  }

  void AddViolation(const Judgement& judgement) {
    violation_info_.Add({{"outcome", WordOfOutcome(FindOutcome(judgement))},
                         {"message", DescribeViolation(judgement)},
                         {"accept_with", judgement.command_to_accept()}},
                        "1");
  }

  void AddRemarks() {
    for (const ProducerRemark& remark : verdict_.remarks()) {
      remark_info_.Add({{"deployment", remark.label()},
                        {"about", remark.remark().about()},
                        {"text", remark.remark().text()}},
                       "1");
    }
  }

  std::string Text() const {
    std::string text = absl::StrCat(decision_.Text(), verdict_info_.Text(),
                                    rules_.Text(), margin_.Text());
    for (const Family& family : measured_) text += family.Text();
    for (const Family& family : limit_) text += family.Text();
    absl::StrAppend(&text, holds_.Text(), violation_info_.Text(),
                    problem_info_.Text(), remark_info_.Text(), "# EOF\n");
    return text;
  }

  const Verdict& verdict_;
  const ReportOptions& options_;
  Family decision_{"footprint_gate_decision", "gauge", ""};
  Family verdict_info_{"footprint_gate_verdict", "info", ""};
  Family rules_{"footprint_gate_rules", "gauge", ""};
  Family margin_{"footprint_gate_nearest_margin_ratio", "gauge", "ratio"};
  std::vector<Family> measured_;
  std::vector<Family> limit_;
  Family holds_{"footprint_gate_holds", "gauge", ""};
  Family violation_info_{"footprint_gate_violation", "info", ""};
  Family problem_info_{"footprint_gate_problem", "info", ""};
  Family remark_info_{"footprint_gate_remark", "info", ""};
};

}  // namespace

std::string WriteOpenmetricsReport(const Verdict& verdict,
                                   const ReportOptions& options) {
  return OpenmetricsReport(verdict, options).Write();
}

}  // namespace footprint
