#include "footprint/gates/explaining/gate_explanation.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/text/near_names.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/judge/selector.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/gates/judge/update_command.h"
#include "footprint/gates/reports/deployment_summary.h"
#include "footprint/gates/reports/verdict_words.h"
#include "footprint/profiling/schema/metric_reading.h"

namespace footprint {
namespace {

constexpr absl::string_view kEnding = ".textproto";

// Returns the location in the form in which check prints it: without the
// ending.
std::string WithoutEnding(absl::string_view location) {
  std::string text(location);
  const size_t at = text.rfind(std::string(kEnding));
  if (at != std::string::npos) text.erase(at, kEnding.size());
  return text;
}

bool EndsAtFolder(absl::string_view path, absl::string_view end) {
  return absl::EndsWith(path, end) &&
         (path.size() == end.size() ||
          path[path.size() - end.size() - 1] == '/');
}

void SortLargestFirst(std::vector<GateExplanation::Part>* parts) {
  std::stable_sort(
      parts->begin(), parts->end(),
      [](const GateExplanation::Part& a, const GateExplanation::Part& b) {
        return a.value > b.value;
      });
}

class Explaining {
 public:
  Explaining(const GateInput& input, const Verdict& verdict,
             const ExplainOptions& options)
      : input_(input), verdict_(verdict), options_(options) {}

  absl::StatusOr<std::vector<GateExplanation>> Run() {
    if (verdict_.judgements_size() == 0 && verdict_.problems_size() > 0) {
      const Problem& first = verdict_.problems(0);
      return absl::FailedPreconditionError(
          absl::StrCat("nothing was judged, so there is nothing to explain: ",
                       first.location(), ": ", first.message()));
    }
    const Verdict named = Named();
    if (named.judgements_size() == 0) return NamesNothing();
    std::vector<GateExplanation> explanations;
    for (const int index : Chosen(named)) {
      explanations.push_back(Explain(named.judgements(index)));
    }
    return explanations;
  }

 private:
  Verdict Named() const {
    Verdict named;
    const bool is_glob = IsGlob(options_.gate) && IsGlob(options_.benchmark);
    for (const Judgement& judgement : verdict_.judgements()) {
      const bool is_meant =
          NamesLocation(options_.gate, judgement.threshold_location()) ||
          (is_glob && GlobMatches(options_.gate, judgement.label()));
      if (is_meant && is_glob &&
          GlobMatches(options_.benchmark, judgement.benchmark())) {
        *named.add_judgements() = judgement;
      }
    }
    return named;
  }

  absl::Status NamesNothing() const {
    for (const Override& override : verdict_.overrides()) {
      if (!NamesLocation(options_.gate, override.general_location())) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          EscapeForTerminal(override.general_location()),
          " judges nothing that was measured: it is overridden by more "
          "particular thresholds, such as ",
          EscapeForTerminal(override.judging_location()), "; explain that"));
    }
    std::set<std::string> names;
    for (const Judgement& judgement : verdict_.judgements()) {
      names.insert(judgement.label());
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "no rule that was judged is named ", EscapeForTerminal(options_.gate),
        options_.benchmark == "*" ? "" : " with --benchmark=",
        options_.benchmark == "*" ? "" : EscapeForTerminal(options_.benchmark),
        DidYouMean(options_.gate,
                   std::vector<std::string>(names.begin(), names.end())),
        "; give a limit as check prints it, FILE:LINE, or a label"));
  }

  std::vector<int> Chosen(const Verdict& named) const {
    std::vector<int> chosen;
    for (int i = 0; i < named.judgements_size(); ++i) {
      if (options_.has_every_rule || IsViolation(named.judgements(i))) {
        chosen.push_back(i);
      }
    }
    if (!chosen.empty()) return chosen;
    for (const DeploymentSummary& summary : SummarizeDeployments(named)) {
      chosen.push_back(summary.nearest);
    }
    return chosen;
  }

  GateExplanation Explain(const Judgement& judgement) const {
    GateExplanation explanation;
    explanation.judgement = judgement;
    explanation.command = CommandFor(judgement);
    for (const ThresholdSource& source : input_.thresholds) {
      for (int i = 0; i < source.file.threshold_size(); ++i) {
        if (source.DescribeLocation(i) == judgement.threshold_location()) {
          explanation.threshold = source.file.threshold(i);
        }
      }
    }
    for (const MemoryProfile& profile : input_.profiles) {
      if (profile.label() != judgement.label()) continue;
      for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
        if (benchmark.name() != judgement.benchmark()) continue;
        explanation.process_count = profile.process_count();
        AddParts(benchmark, &explanation);
        AddDifference(profile, benchmark, &explanation);
      }
    }
    AddExactValues(&explanation);
    AddOverrides(&explanation);
    return explanation;
  }

  void AddOverrides(GateExplanation* explanation) const {
    const Judgement& judgement = explanation->judgement;
    for (const Override& override : verdict_.overrides()) {
      if (override.general_location() == judgement.threshold_location()) {
        explanation->gives_way.push_back(absl::StrCat(
            DescribeMeasurement(override.label(), override.benchmark(),
                                override.phase()),
            ": ", override.judging_location()));
      } else if (override.judging_location() ==
                     judgement.threshold_location() &&
                 override.label() == judgement.label() &&
                 override.benchmark() == judgement.benchmark() &&
                 override.phase() == judgement.phase() &&
                 override.metric() == judgement.metric()) {
        explanation->wins_over.push_back(override.general_location());
      }
    }
  }

  std::string CommandFor(const Judgement& judgement) const {
    if (judgement.decision() != ACCEPT) return judgement.command_to_accept();
    if (judgement.measured() == judgement.limit()) return "";
    return absl::StrCat(
        UpdateCommand{options_.update_target}.ToAccept(
            EscapeGlob(judgement.label()), EscapeGlob(judgement.benchmark()),
            /*is_increase=*/false),
        " --headroom=exact");
  }

  static void AddParts(const BenchmarkMemory& benchmark,
                       GateExplanation* explanation) {
    for (const Phase& phase : benchmark.phases()) {
      const MetricReading reading =
          ReadMetric(phase, explanation->judgement.metric());
      if (!reading.bytes_or_count.has_value()) continue;
      explanation->phases.push_back({phase.name(), *reading.bytes_or_count});
    }
    SortLargestFirst(&explanation->phases);
    const auto* const attributions =
        FindPeakHolders(benchmark, explanation->judgement.metric());
    if (attributions == nullptr) return;
    for (const Attribution& attribution : *attributions) {
      explanation->held_at_peak.push_back(
          {attribution.site(), attribution.live_bytes()});
    }
    SortLargestFirst(&explanation->held_at_peak);
  }

  // Adds the difference of only this benchmark, so that differences of others
  // do not matter.
  void AddDifference(const MemoryProfile& profile,
                     const BenchmarkMemory& benchmark,
                     GateExplanation* explanation) const {
    MemoryProfile now;
    now.set_label(profile.label());
    *now.mutable_environment() = profile.environment();
    *now.add_benchmarks() = benchmark;
    for (const MemoryProfile& old : options_.before) {
      if (old.label() != profile.label()) continue;
      for (const BenchmarkMemory& other : old.benchmarks()) {
        if (other.name() != benchmark.name()) continue;
        MemoryProfile before;
        before.set_label(old.label());
        *before.mutable_environment() = old.environment();
        *before.add_benchmarks() = other;
        absl::StatusOr<ProfileDiff> diff = DiffProfiles({before}, {now});
        if (!diff.ok()) return;
        DiffNode same;
        same.name = profile.label();
        explanation->difference = diff->deployments.empty()
                                      ? same
                                      : std::move(diff->deployments.front());
        return;
      }
    }
  }

  void AddExactValues(GateExplanation* explanation) const {
    std::vector<Judgement>& moved = explanation->moved_exact_values;
    for (const Judgement& other : verdict_.judgements()) {
      if (other.rule() != EXACT_VALUE ||
          other.label() != explanation->judgement.label() ||
          other.benchmark() != explanation->judgement.benchmark()) {
        continue;
      }
      if (other.measured() == other.limit()) {
        ++explanation->kept_exact_values;
      } else {
        moved.push_back(other);
      }
    }
    std::stable_sort(
        moved.begin(), moved.end(), [](const Judgement& a, const Judgement& b) {
          return a.measured() - a.limit() > b.measured() - b.limit();
        });
  }

  const GateInput& input_;
  const Verdict& verdict_;
  const ExplainOptions& options_;
};

}  // namespace

bool NamesLocation(absl::string_view name, absl::string_view location) {
  if (name.empty()) return false;
  return EndsAtFolder(location, name) ||
         EndsAtFolder(WithoutEnding(location), name);
}

absl::StatusOr<std::vector<GateExplanation>> ExplainGates(
    const GateInput& input, const Verdict& verdict,
    const ExplainOptions& options) {
  return Explaining(input, verdict, options).Run();
}

}  // namespace footprint
