#include "footprint/gates/reports/gitlab_report.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/gates/judge/rules.h"
#include "footprint/gates/reports/deployment_summary.h"
#include "footprint/gates/reports/finding_place.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using Json = nlohmann::ordered_json;

// Returns the BUILD file of a label's package, where its findings are shown.
std::string FindBuildFile(const std::string& location) {
  if (!absl::StartsWith(location, "//")) return "BUILD";
  const std::string package = location.substr(2, location.find(':') - 2);
  return package.empty() ? "BUILD" : absl::StrCat(package, "/BUILD");
}

class GitlabReport {
 public:
  explicit GitlabReport(const Verdict& verdict) : verdict_(verdict) {}

  std::string Write() {
    for (const Problem& problem : verdict_.problems()) {
      Add(problem.location(), WordOfProblem(problem),
          absl::StrCat(problem.location(), ": ", problem.message()),
          problem.decision() == ACCEPT ? "info" : "critical",
          StableKey(problem));
    }
    for (const Judgement& judgement : verdict_.judgements()) {
      if (!IsViolation(judgement)) continue;
      const bool rejects = FindOutcome(judgement) == Outcome::kRejects;
      Add(judgement.threshold_location(),
          absl::StrCat(WordOfOutcome(FindOutcome(judgement)), " ",
                       FindWords(judgement.rule()).limit),
          absl::StrCat(MarginText(judgement), ": ",
                       DescribeViolation(judgement),
                       judgement.command_to_accept().empty() ? "" : "; ",
                       HowToAccept(judgement)),
          rejects ? "blocker" : "minor", StableKey(judgement));
    }
    constexpr int kIndent = 1;
    return issues_.dump(kIndent, ' ', /*ensure_ascii=*/true,
                        Json::error_handler_t::replace) +
           "\n";
  }

 private:
  void Add(const std::string& location, const std::string& check,
           const std::string& description, const char* severity,
           const std::string& key) {
    const FindingPlace place = ParsePlace(location);
    // GitLab shows only the first of the findings that share a fingerprint.
    const int uses = ++uses_[key];
    issues_.push_back(
        {{"description", description},
         {"check_name", check},
         {"fingerprint", uses == 1 ? key : absl::StrCat(key, "-", uses)},
         {"severity", severity},
         {"location",
          {{"path", place.path.empty() ? FindBuildFile(location) : place.path},
           {"lines", {{"begin", std::max(place.line, 1)}}}}}});
  }

  const Verdict& verdict_;
  Json issues_ = Json::array();
  std::map<std::string, int> uses_;
};

}  // namespace

std::string WriteGitlabReport(const Verdict& verdict,
                              const ReportOptions& /*options*/) {
  return GitlabReport(verdict).Write();
}

}  // namespace footprint
