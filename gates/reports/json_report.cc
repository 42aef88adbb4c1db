#include "footprint/gates/reports/json_report.h"

#include "footprint/gates/reports/deployment_summary.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const Judgement& judgement) {
  Json json = {{"label", judgement.label()},
               {"benchmark", judgement.benchmark()},
               {"phase", judgement.phase()},
               {"metric", MetricKind_Name(judgement.metric())},
               {"measured", judgement.measured()},
               {"limit", judgement.limit()},
               {"rule", RuleKind_Name(judgement.rule())},
               {"severity", Severity_Name(judgement.severity())},
               {"determinism", Determinism_Name(judgement.determinism())},
               {"decision", Decision_Name(judgement.decision())},
               {"threshold_location", judgement.threshold_location()},
               {"command_to_accept", judgement.command_to_accept()}};
  // Rules over samples, laws and figures above their limit have an explanation.
  if (!judgement.explanation().empty()) {
    json["explanation"] = judgement.explanation();
  }
  return json;
}

Json ToJson(const Problem& problem) {
  return {{"decision", Decision_Name(problem.decision())},
          {"location", problem.location()},
          {"message", problem.message()}};
}

Json ToJson(const ProducerRemark& remark) {
  return {{"label", remark.label()},
          {"about", remark.remark().about()},
          {"text", remark.remark().text()}};
}

// Returns the figures of the deployment's line in the text report.
Json ToJson(const DeploymentSummary& summary, const Verdict& verdict) {
  Json nearest = nullptr;
  if (summary.nearest >= 0) {
    const Judgement& judgement = verdict.judgements(summary.nearest);
    nearest = {{"benchmark", judgement.benchmark()},
               {"phase", judgement.phase()},
               {"metric", MetricKind_Name(judgement.metric())},
               {"rule", RuleKind_Name(judgement.rule())},
               {"measured", judgement.measured()},
               {"limit", judgement.limit()},
               {"margin", MarginText(judgement)},
               {"threshold_location", judgement.threshold_location()}};
  }
  return {{"label", summary.label},
          {"rules", summary.rule_count},
          {"rejected", summary.rejected_count},
          {"warned", summary.warned_count},
          {"nearest", nearest}};
}

Json DeploymentsToJson(const Verdict& verdict) {
  Json deployments = Json::array();
  for (const DeploymentSummary& summary : SummarizeDeployments(verdict)) {
    deployments.push_back(ToJson(summary, verdict));
  }
  return deployments;
}

Json JudgementsToJson(const Verdict& verdict, bool has_every_rule) {
  Json judgements = Json::array();
  for (const Judgement& judgement : verdict.judgements()) {
    if (has_every_rule || IsViolation(judgement)) {
      judgements.push_back(ToJson(judgement));
    }
  }
  return judgements;
}

template <typename Messages>
Json ToJsonArray(const Messages& messages) {
  Json array = Json::array();
  for (const auto& message : messages) array.push_back(ToJson(message));
  return array;
}

}  // namespace

std::string WriteJsonReport(const Verdict& verdict,
                            const ReportOptions& options) {
  constexpr int kIndent = 2;
  const Json report = {
      {"decision", Decision_Name(verdict.decision())},
      {"deployments", DeploymentsToJson(verdict)},
      {"judgements", JudgementsToJson(verdict, options.has_every_rule)},
      {"problems", ToJsonArray(verdict.problems())},
      {"remarks", options.has_every_rule ? ToJsonArray(verdict.remarks())
                                         : Json::array()}};
  return report.dump(kIndent, ' ', /*ensure_ascii=*/true,
                     Json::error_handler_t::replace) +
         "\n";
}

}  // namespace footprint
