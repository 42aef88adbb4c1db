#include "footprint/gates/reports/sarif_report.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/gates/judge/rules.h"
#include "footprint/gates/reports/deployment_summary.h"
#include "footprint/gates/reports/finding_place.h"
#include "footprint/profiling/schema/metric_kind.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using Json = nlohmann::ordered_json;

// Returns a relative reference (RFC 3986), in which letters, digits and a few
// marks stay.
std::string UriOfPath(const std::string& path) {
  std::string uri;
  for (const char c : path) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
        std::string("-._~/").find(c) != std::string::npos) {
      uri += c;
    } else {
      uri += absl::StrFormat("%%%02X", static_cast<unsigned char>(c));
    }
  }
  return uri;
}

const char* LevelWord(Outcome outcome) {
  switch (outcome) {
    case Outcome::kRejects:
      return "error";
    case Outcome::kWarns:
      return "warning";
    case Outcome::kIsRecorded:
      return "note";
    case Outcome::kHolds:
      break;
  }
  return "none";
}

// Returns a location with the place in a file, if `location` names one, and
// with the logical name `name`.
Json MakeLocation(const std::string& location, const std::string& name) {
  Json json = Json::object();
  const FindingPlace place = ParsePlace(location);
  if (!place.path.empty()) {
    Json physical = {{"artifactLocation", {{"uri", UriOfPath(place.path)}}}};
    if (place.line > 0) physical["region"]["startLine"] = place.line;
    if (place.column > 0) physical["region"]["startColumn"] = place.column;
    json["physicalLocation"] = physical;
  }
  json["logicalLocations"] =
      Json::array({{{"fullyQualifiedName", name}, {"kind", "resource"}}});
  return json;
}

Json MakeProperties(const Judgement& judgement) {
  return {{"label", judgement.label()},
          {"benchmark", judgement.benchmark()},
          {"phase", judgement.phase()},
          {"metric", SchemaNameOfMetric(judgement.metric())},
          {"measured", judgement.measured()},
          {"limit", judgement.limit()},
          {"margin", MarginText(judgement)},
          {"outcome", WordOfOutcome(FindOutcome(judgement))},
          {"commandToAccept", judgement.command_to_accept()}};
}

class SarifReport {
 public:
  SarifReport(size_t most_results, const Verdict& verdict,
              const ReportOptions& options)
      : most_results_(most_results), verdict_(verdict), options_(options) {}

  std::string Write() {
    for (const Outcome outcome : {Outcome::kRejects, Outcome::kWarns}) {
      AddProblems(outcome);
      AddJudgements(outcome);
    }
    if (options_.has_every_rule) {
      AddJudgements(Outcome::kIsRecorded);
      AddJudgements(Outcome::kHolds);
    }
    Json log = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                {"version", "2.1.0"}};
    log["runs"].push_back(TakeRun());
    constexpr int kIndent = 1;
    return log.dump(kIndent, ' ', /*ensure_ascii=*/true,
                    Json::error_handler_t::replace) +
           "\n";
  }

 private:
  void AddJudgements(Outcome outcome) {
    for (const Judgement& judgement : verdict_.judgements()) {
      if (FindOutcome(judgement) != outcome) continue;
      if (IsFull()) continue;
      std::string text = DescribeViolation(judgement);
      if (!judgement.command_to_accept().empty()) {
        absl::StrAppend(&text,
                        ". Accept it with: ", judgement.command_to_accept());
      }
      Json result = MakeResult(
          absl::StrCat("memory/", std::string(RuleKind_Name(judgement.rule()))),
          absl::StrCat("A memory figure is held against a limit of the kind \"",
                       FindWords(judgement.rule()).limit, "\"."),
          LevelWord(outcome), text);
      result["locations"] = Json::array({MakeLocation(
          judgement.threshold_location(),
          absl::StrCat(judgement.label(), " ", DescribeMeasured(judgement)))});
      result["partialFingerprints"]["footprintGate/v1"] = StableKey(judgement);
      result["properties"] = MakeProperties(judgement);
      results_.push_back(std::move(result));
    }
  }

  void AddProblems(Outcome outcome) {
    for (const Problem& problem : verdict_.problems()) {
      const bool is_silent = problem.decision() == ACCEPT;
      if (is_silent != (outcome == Outcome::kWarns) || IsFull()) continue;
      Json result = MakeResult(
          absl::StrCat("problem/", WordOfProblem(problem)),
          absl::StrCat("Memory could not be judged: ", WordOfProblem(problem),
                       "."),
          LevelWord(outcome),
          absl::StrCat(problem.location(), ": ", problem.message()));
      result["locations"] =
          Json::array({MakeLocation(problem.location(), problem.location())});
      result["partialFingerprints"]["footprintGate/v1"] = StableKey(problem);
      results_.push_back(std::move(result));
    }
  }

  // Returns whether there is no room for another result, which it then counts
  // as left out.
  bool IsFull() {
    if (results_.size() < most_results_) return false;
    ++left_out_count_;
    return true;
  }

  Json MakeResult(const std::string& rule, const std::string& meaning,
                  const std::string& level, const std::string& text) {
    const auto [entry, is_new] = rule_indexes_.emplace(rule, rules_.size());
    if (is_new) {
      rules_.push_back(
          {{"id", rule}, {"shortDescription", {{"text", meaning}}}});
    }
    return {{"ruleId", rule},
            {"ruleIndex", entry->second},
            {"kind", level == "none" ? "pass" : "fail"},
            {"level", level},
            {"message", {{"text", text}}}};
  }

  Json MakeDeployments() const {
    Json deployments = Json::array();
    for (const DeploymentSummary& summary : SummarizeDeployments(verdict_)) {
      Json json = {{"label", summary.label}, {"rules", summary.rule_count}};
      if (summary.nearest >= 0) {
        const Judgement& nearest = verdict_.judgements(summary.nearest);
        json["nearestMargin"] = MarginText(nearest);
        json["nearestLimit"] = nearest.threshold_location();
      }
      deployments.push_back(std::move(json));
    }
    return deployments;
  }

  Json MakeRemarks() const {
    Json remarks = Json::array();
    if (!options_.has_every_rule) return remarks;
    for (const ProducerRemark& remark : verdict_.remarks()) {
      remarks.push_back({{"label", remark.label()},
                         {"about", remark.remark().about()},
                         {"text", remark.remark().text()}});
    }
    return remarks;
  }

  // Moves the results out of the report: a copy of 25,000 takes seconds.
  Json TakeRun() {
    Json invocation = {{"executionSuccessful", true},
                       {"exitCode", verdict_.decision()},
                       {"exitCodeDescription", SummaryLine(verdict_)}};
    if (left_out_count_ > 0) {
      invocation["toolExecutionNotifications"] = Json::array(
          {{{"level", "warning"},
            {"message",
             {{"text", absl::StrCat(left_out_count_,
                                    " more results are left out: a run has at "
                                    "most ",
                                    most_results_)}}}}});
    }
    Json run;
    run["tool"]["driver"] = {{"name", "Footprint memory gates"},
                             {"rules", rules_}};
    run["invocations"].push_back(std::move(invocation));
    run["results"] = std::move(results_);
    run["properties"] = {{"decision", Decision_Name(verdict_.decision())},
                         {"deployments", MakeDeployments()},
                         {"remarks", MakeRemarks()}};
    return run;
  }

  const size_t most_results_;
  const Verdict& verdict_;
  const ReportOptions& options_;
  Json results_ = Json::array();
  Json rules_ = Json::array();
  std::map<std::string, size_t> rule_indexes_;
  size_t left_out_count_ = 0;
};

}  // namespace

std::string WriteSarifReport(const Verdict& verdict,
                             const ReportOptions& options) {
  return WriteSarifReportOfAtMost(kSarifMostResults, verdict, options);
}

std::string WriteSarifReportOfAtMost(size_t most_results,
                                     const Verdict& verdict,
                                     const ReportOptions& options) {
  return SarifReport(most_results, verdict, options).Write();
}

}  // namespace footprint
