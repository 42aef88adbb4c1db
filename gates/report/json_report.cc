#include "footprint/gates/report/json_report.h"

#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using Json = nlohmann::ordered_json;

Json JsonOf(const Judgement& judgement) {
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
  // Of rules over samples and laws only.
  if (!judgement.explanation().empty()) {
    json["explanation"] = judgement.explanation();
  }
  return json;
}

Json JsonOf(const Problem& problem) {
  return {{"decision", Decision_Name(problem.decision())},
          {"location", problem.location()},
          {"message", problem.message()}};
}

Json JsonOf(const ProducerRemark& remark) {
  return {{"label", remark.label()},
          {"about", remark.remark().about()},
          {"text", remark.remark().text()}};
}

template <typename Messages>
Json JsonArrayOf(const Messages& messages) {
  Json array = Json::array();
  for (const auto& message : messages) array.push_back(JsonOf(message));
  return array;
}

}  // namespace

std::string WriteJsonReport(const Verdict& verdict) {
  constexpr int kIndent = 2;
  const Json report = {{"decision", Decision_Name(verdict.decision())},
                       {"judgements", JsonArrayOf(verdict.judgements())},
                       {"problems", JsonArrayOf(verdict.problems())},
                       {"remarks", JsonArrayOf(verdict.remarks())}};
  return report.dump(kIndent, ' ', /*ensure_ascii=*/true,
                     Json::error_handler_t::replace) +
         "\n";
}

}  // namespace footprint
