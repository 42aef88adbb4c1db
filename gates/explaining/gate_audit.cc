#include "footprint/gates/explaining/gate_audit.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/gates/commands/gate_targets.h"
#include "footprint/gates/judge/environment_check.h"
#include "footprint/gates/judge/headroom.h"
#include "footprint/gates/judge/measurement_index.h"
#include "footprint/gates/judge/selector.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/gates/judge/threshold_numbers.h"
#include "footprint/gates/judge/update_command.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/metric_kind.h"

namespace footprint {
namespace {

using Kind = AuditFinding::Kind;

double PercentAbove(int64_t value, int64_t base) {
  return 100 * (static_cast<double>(value) / static_cast<double>(base) - 1);
}

class Audit {
 public:
  Audit(const GateInput& input, const Verdict& verdict,
        const AuditOptions& options)
      : input_(input),
        verdict_(verdict),
        options_(options),
        command_{options.update_target},
        index_(input.profiles) {}

  std::vector<AuditFinding> Run() {
    FindBroken();
    FindUnguarded();
    for (const ThresholdSource& source : input_.thresholds) {
      const bool is_judging = FindNeverRun(source);
      for (int i = 0; i < source.file.threshold_size(); ++i) {
        if (is_judging) FindUnused(source, i);
        if (is_judging) FindLoose(source, i);
        FindExpired(source, i);
        FindDrift(source, i);
      }
    }
    std::stable_sort(findings_.begin(), findings_.end(),
                     [](const AuditFinding& a, const AuditFinding& b) {
                       return a.kind < b.kind;
                     });
    return std::move(findings_);
  }

 private:
  void Add(Kind kind, const std::string& location, const std::string& message,
           const std::string& command = "") {
    findings_.push_back({kind, location, message, command});
  }

  // If nothing was judged, the reason is a finding. Otherwise the audit would
  // find nothing and look clean.
  void FindBroken() {
    if (verdict_.judgements_size() > 0) return;
    for (const Problem& problem : verdict_.problems()) {
      Add(Kind::kBroken, problem.location(), problem.message());
    }
  }

  void FindUnguarded() {
    std::set<std::pair<std::string, std::string>> guarded;
    std::set<std::pair<std::string, std::string>> judged;
    for (const Judgement& judgement : verdict_.judgements()) {
      judged.emplace(judgement.label(), judgement.benchmark());
      if (judgement.severity() != BLOCK) continue;
      guarded.emplace(judgement.label(), judgement.benchmark());
    }
    for (const MemoryProfile& profile : input_.profiles) {
      for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
        const auto key = std::make_pair(profile.label(), benchmark.name());
        if (guarded.count(key) > 0) continue;
        const std::string name = absl::StrCat(key.first, " ", key.second);
        if (judged.count(key) > 0) {
          Add(Kind::kUnguarded, name,
              "only rules that do not block judge it; make one a BLOCK");
        } else {
          Add(Kind::kUnguarded, name, "no rule judges it; add one with:",
              command_.ToAdd(key.first, key.second));
        }
      }
    }
  }

  // Returns whether a file is for the environment of any profile. Adds a
  // finding if it is not.
  bool FindNeverRun(const ThresholdSource& source) {
    const bool is_for_one =
        std::any_of(input_.profiles.begin(), input_.profiles.end(),
                    [&source](const MemoryProfile& profile) {
                      return IsForEnvironment(profile, source);
                    });
    if (!is_for_one) {
      Add(Kind::kNeverRun, source.path,
          "no profile was measured in its environment, so none of its rules is "
          "judged here; run the gate there, too, or remove the file");
    }
    return is_for_one;
  }

  void FindUnused(const ThresholdSource& source, int number) {
    const Threshold& threshold = source.file.threshold(number);
    for (const Measurement& found :
         index_.Find(threshold.selector(), threshold.metric())) {
      if (IsForEnvironment(index_.ProfileAt(found.profile), source)) return;
    }
    Add(Kind::kUnused, source.DescribeLocation(number),
        absl::StrCat(DescribeSelector(threshold.selector()),
                     " names nothing with ",
                     SchemaNameOfMetric(threshold.metric()),
                     " that is measured; correct it, or remove the threshold"));
  }

  // Returns the highest value that a maximum judges.
  absl::optional<int64_t> FindHighest(const std::string& location) {
    if (!has_highest_) {
      has_highest_ = true;
      for (const Judgement& judgement : verdict_.judgements()) {
        if (judgement.rule() != MAXIMUM) continue;
        const auto added = highest_.emplace(judgement.threshold_location(),
                                            judgement.measured());
        added.first->second =
            std::max(added.first->second, judgement.measured());
      }
    }
    const auto found = highest_.find(location);
    if (found == highest_.end()) return absl::nullopt;
    return found->second;
  }

  void FindLoose(const ThresholdSource& source, int number) {
    const Threshold& threshold = source.file.threshold(number);
    // Finds the headroom, the limit and the highest value that it judges.
    const bool is_stated = source.file.has_headroom();
    if (!is_stated && !options_.headroom.has_value()) return;
    const Headroom& headroom =
        is_stated ? source.file.headroom() : *options_.headroom;
    const NumberField* const field = FindNumber(threshold, MAXIMUM);
    const absl::optional<int64_t> highest =
        FindHighest(source.DescribeLocation(number));
    if (field == nullptr || !highest.has_value()) return;
    const int64_t limit = field->Get(threshold);
    const absl::optional<int64_t> allowed =
        ComputeMaximum(headroom, threshold.metric(), *highest);
    if (!allowed.has_value() || limit <= *allowed) return;
    const Selector& selector = threshold.selector();
    Add(Kind::kLoose, source.DescribeLocation(number),
        absl::StrCat("max ", FormatMetricValue(threshold.metric(), limit),
                     *highest > 0
                         ? absl::StrFormat(" is %.1f %% above",
                                           PercentAbove(limit, *highest))
                         : std::string(" is above"),
                     " the highest it judges, ",
                     FormatMetricValue(threshold.metric(), *highest), "; ",
                     is_stated ? "its file states " : "you asked for ",
                     HeadroomText(headroom), "; tighten it with:"),
        absl::StrCat(
            command_.ToAccept(selector.label(), selector.benchmark(), false),
            is_stated ? ""
                      : absl::StrCat(" --headroom=", HeadroomFlag(headroom))));
  }

  static std::string HeadroomFlag(const Headroom& headroom) {
    return headroom.has_percent() ? absl::StrCat(headroom.percent(), "%")
           : headroom.has_bytes() ? absl::StrCat(headroom.bytes())
                                  : "exact";
  }

  static std::string HeadroomText(const Headroom& headroom) {
    return headroom.has_percent()
               ? absl::StrCat("a headroom of ", headroom.percent(), " %")
           : headroom.has_bytes()
               ? absl::StrCat("a headroom of ", headroom.bytes(), " B")
               : "no headroom";
  }

  // Adds a finding if a raise has expired. Only the last entry counts: a later
  // entry replaces the raise.
  void FindExpired(const ThresholdSource& source, int number) {
    const Threshold& threshold = source.file.threshold(number);
    if (threshold.history_size() == 0) return;
    const HistoryEntry& last = threshold.history(threshold.history_size() - 1);
    if (last.expires().empty() || last.expires() >= options_.today) return;
    Add(Kind::kExpired, source.DescribeLocation(number),
        absl::StrCat("was raised until ", last.expires(), " for \"",
                     last.reason(),
                     "\"; lower it, or give a new day, with a reason:"),
        command_.ToAccept(threshold.selector().label(),
                          threshold.selector().benchmark(), true));
  }

  void FindDrift(const ThresholdSource& source, int number) {
    const Threshold& threshold = source.file.threshold(number);
    const NumberField* const field = FindLimit(threshold);
    if (field == nullptr) return;
    const int64_t limit = field->Get(threshold);
    for (const HistoryEntry& entry : threshold.history()) {
      if (!entry.has_new_value()) continue;
      // If the history does not begin with the first value, its first entry has
      // an old value.
      const int64_t anchor =
          entry.has_old_value() ? entry.old_value() : entry.new_value();
      if (anchor <= 0 || limit <= anchor ||
          PercentAbove(limit, anchor) <= options_.drift_percent) {
        return;
      }
      Add(Kind::kDrifted, source.DescribeLocation(number),
          absl::StrCat(
              DescribeSelector(threshold.selector()), ": ",
              FormatMetricValue(threshold.metric(), anchor), " on ",
              entry.date(), ", now ",
              FormatMetricValue(threshold.metric(), limit),
              absl::StrFormat(", %+.1f %% in ", PercentAbove(limit, anchor)),
              threshold.history_size(),
              threshold.history_size() == 1 ? " entry" : " entries",
              "; explain it with:"),
          absl::StrCat("bazel run ", ShellQuote(GateTarget("explain")), " -- ",
                       ShellQuote(source.DescribeLocation(number))));
      return;
    }
  }

  const GateInput& input_;
  const Verdict& verdict_;
  const AuditOptions& options_;
  const UpdateCommand command_;
  const MeasurementIndex index_;
  std::map<std::string, int64_t> highest_;
  bool has_highest_ = false;
  std::vector<AuditFinding> findings_;
};

}  // namespace

std::vector<AuditFinding> AuditGates(const GateInput& input,
                                     const Verdict& verdict,
                                     const AuditOptions& options) {
  return Audit(input, verdict, options).Run();
}

const char* FindingWord(AuditFinding::Kind kind) {
  switch (kind) {
    case Kind::kUnguarded:
      return "unguarded";
    case Kind::kUnused:
      return "unused";
    case Kind::kNeverRun:
      return "never run";
    case Kind::kLoose:
      return "loose";
    case Kind::kExpired:
      return "expired";
    case Kind::kDrifted:
      return "drifted";
    case Kind::kBroken:
      return "broken";
  }
  return "";
}

}  // namespace footprint
