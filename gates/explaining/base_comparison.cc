#include "footprint/gates/explaining/base_comparison.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/explaining/diff_report.h"
#include "footprint/gates/explaining/growth_reasons.h"
#include "footprint/gates/judge/decision.h"
#include "footprint/gates/judge/environment_difference.h"
#include "footprint/gates/judge/headroom.h"
#include "footprint/gates/judge/producer_failure.h"
#include "footprint/gates/judge/selector.h"
#include "footprint/gates/judge/verdict_problem.h"
#include "footprint/gates/judge/written_limit.h"
#include "footprint/profiling/schema/metric_kind.h"
#include "footprint/profiling/schema/metric_reading.h"
#include "footprint/profiling/schema/whole_process_name.h"

namespace footprint {
namespace {

using Change = ComparedFigure::Change;
using Presence = DiffNode::Presence;

// The figures of a row show the same growth, so only one of them is judged: the
// first that grew too much.
const std::vector<std::vector<MetricKind>> kJudged = {
    {PEAK_LIVE_USABLE_BYTES, PEAK_LIVE_ABSOLUTE_USABLE_BYTES,
     SUM_THREAD_PEAK_USABLE_BYTES, PEAK_LIVE_REQUESTED_BYTES},
    {PEAK_MAPPED_BYTES},
    {NET_GROWTH_USABLE_BYTES},
    {PEAK_RESIDENT_BYTES}};

const MetricChange* FindChange(const DiffNode& node, MetricKind metric) {
  for (const MetricChange& change : node.changes) {
    if (change.metric == metric) return &change;
  }
  return nullptr;
}

bool IsVarying(const Metric& metric) { return metric.determinism() != EXACT; }

bool IsNoise(int64_t before, int64_t after) {
  constexpr int64_t kOneIn = 20;  // 5 %
  // The resident peaks of 150 runs of a small program, of three processes each,
  // were within 464 KiB: the kernel maps neighbouring pages of libraries, and
  // adds up each processor's count late.
  constexpr int64_t kBytes = 512 << 10;
  int64_t growth = 0;
  if (__builtin_sub_overflow(after, before, &growth)) return false;
  return std::abs(growth) <= std::max(kBytes, std::abs(before) / kOneIn);
}

// Replaces varying figures of the change by those of the base if they differ by
// no more than runs do. Returns whether the peak was one of them.
template <typename Measured>
bool LevelNoise(const Measured& before, Measured* after) {
  bool has_levelled_peak = false;
  for (Metric& metric : *after->mutable_metrics()) {
    const Metric* const old = FindMetric(before.metrics(), metric.kind());
    if (old == nullptr || (!IsVarying(metric) && !IsVarying(*old)) ||
        !IsNoise(old->value(), metric.value())) {
      continue;
    }
    has_levelled_peak |= metric.kind() == PEAK_LIVE_USABLE_BYTES;
    metric.set_value(old->value());
  }
  return has_levelled_peak;
}

void LevelNoise(const BenchmarkMemory& before, BenchmarkMemory* after) {
  if (LevelNoise<BenchmarkMemory>(before, after)) {
    *after->mutable_peak_attribution() = before.peak_attribution();
  }
  for (Phase& phase : *after->mutable_phases()) {
    for (const Phase& old : before.phases()) {
      if (old.name() == phase.name()) LevelNoise<Phase>(old, &phase);
    }
  }
}

bool IsPart(const Phase& phase) {
  return absl::StartsWith(phase.name(), kPartPrefix) ||
         phase.name() == kUntouchedPhase;
}

// Replaces the parts among the phases of a whole process, which has no phase in
// another.
void ReplaceParts(const BenchmarkMemory& before, BenchmarkMemory* after) {
  google::protobuf::RepeatedPtrField<Phase> phases;
  for (const Phase& phase : before.phases()) {
    if (IsPart(phase)) *phases.Add() = phase;
  }
  for (const Phase& phase : after->phases()) {
    if (!IsPart(phase)) *phases.Add() = phase;
  }
  *after->mutable_phases() = std::move(phases);
}

// Replaces the parts of a whole process by those of the base if its peak did
// not change. Parts are sampled, and a short program may end between two
// samples, so they vary by more than the peak that the kernel keeps.
void LevelParts(const BenchmarkMemory& before, BenchmarkMemory* after) {
  const Metric* const old = FindMetric(before.metrics(), PEAK_RESIDENT_BYTES);
  const Metric* const now = FindMetric(after->metrics(), PEAK_RESIDENT_BYTES);
  if (old == nullptr || now == nullptr || !IsVarying(*now) ||
      old->value() != now->value()) {
    return;
  }
  for (Metric& metric : *after->mutable_metrics()) {
    const Metric* const part = FindMetric(before.metrics(), metric.kind());
    const bool is_part = metric.kind() == RESIDENT_ANONYMOUS_BYTES ||
                         metric.kind() == RESIDENT_FILE_BYTES;
    if (is_part && part != nullptr) metric.set_value(part->value());
  }
  if (IsWholeProcessName(after->name())) ReplaceParts(before, after);
}

using BenchmarkName = std::pair<std::string, std::string>;

void LevelNoise(const std::vector<MemoryProfile>& base,
                std::vector<MemoryProfile>* change) {
  std::map<BenchmarkName, const BenchmarkMemory*> before;
  for (const MemoryProfile& profile : base) {
    for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
      before[{profile.label(), benchmark.name()}] = &benchmark;
    }
  }
  for (MemoryProfile& profile : *change) {
    for (BenchmarkMemory& benchmark : *profile.mutable_benchmarks()) {
      const auto old = before.find({profile.label(), benchmark.name()});
      if (old == before.end()) continue;
      LevelNoise(*old->second, &benchmark);
      LevelParts(*old->second, &benchmark);
    }
  }
}

absl::Status Rename(
    const std::vector<std::pair<std::string, std::string>>& renamed,
    std::vector<MemoryProfile>* base) {
  for (const auto& [old_label, label] : renamed) {
    bool is_there = false;
    for (MemoryProfile& profile : *base) {
      if (profile.label() != old_label) continue;
      profile.set_label(label);
      is_there = true;
    }
    if (is_there) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "no profile of the base has the label ", EscapeForTerminal(old_label),
        ", which was renamed; name one that it has"));
  }
  return absl::OkStatus();
}

Selector MakeSelector(const GrowthLimit& limit) {
  Selector selector;
  selector.set_label(limit.label);
  return selector;
}

// One call of CompareWithBase, after the profiles were prepared.
class Comparing {
 public:
  Comparing(const std::vector<MemoryProfile>& base,
            const std::vector<MemoryProfile>& change, ProfileDiff diff,
            const BaseComparisonOptions& options)
      : base_(base), change_(change), options_(options) {
    result_.diff = std::move(diff);
  }

  BaseComparison Run() {
    for (const DiffNode& deployment : result_.diff.deployments) {
      AddDeployment(deployment);
    }
    AddFailures(base_, "the base's ", INCONCLUSIVE);
    AddFailures(change_, "the change's ", PRODUCER_FAILED);
    AddHints();
    std::stable_partition(
        result_.figures.begin(), result_.figures.end(),
        [](const ComparedFigure& figure) { return figure.is_over_limit; });
    result_.verdict.set_decision(ComputeDecision(result_.verdict));
    return std::move(result_);
  }

 private:
  void AddDeployment(const DiffNode& deployment) {
    if (deployment.presence != Presence::kBoth) {
      return AddPresence(deployment.name, "", deployment);
    }
    for (const DiffNode& benchmark : deployment.children) {
      if (benchmark.presence != Presence::kBoth) {
        AddPresence(deployment.name, benchmark.name, benchmark);
      } else {
        AddBenchmark(deployment.name, benchmark);
      }
    }
    AddOtherEnvironment(deployment.name);
  }

  void AddPresence(const std::string& label, const std::string& benchmark,
                   const DiffNode& node) {
    ComparedFigure figure;
    figure.change =
        node.presence == Presence::kAdded ? Change::kNew : Change::kGone;
    figure.label = label;
    figure.benchmark = benchmark;
    const MetricChange* const main = MainChange(node);
    if (main != nullptr) figure.description = DescribeChange(node, *main);
    result_.figures.push_back(std::move(figure));
  }

  void AddBenchmark(const std::string& label, const DiffNode& benchmark) {
    bool is_judged = false;
    for (const std::vector<MetricKind>& kinds : kJudged) {
      const MetricChange* const change = ChooseChange(label, benchmark, kinds);
      if (change == nullptr) continue;
      is_judged = true;
      AddFigure(label, benchmark, *change);
    }
    AddChildren(label, benchmark);
    if (is_judged) return;
    ComparedFigure figure;
    figure.label = label;
    figure.benchmark = benchmark.name;
    const MetricChange* const main = MainChange(benchmark);
    if (main != nullptr) {
      figure.description = DescribeChange(benchmark, *main);
      figure.reasons = FindGrowthReasons(benchmark, main->metric);
    } else if (!benchmark.children.empty()) {
      // The figures of the benchmark itself did not change.
      const DiffNode& child = benchmark.children.front();
      const MetricChange* const inner = MainChange(child);
      figure.description = absl::StrCat(
          child.kind == DiffNode::Kind::kPhase ? "phase " : "held by ",
          child.name,
          child.presence == Presence::kAdded     ? " is new"
          : child.presence == Presence::kRemoved ? " is gone"
                                                 : "",
          inner == nullptr ? ""
                           : absl::StrCat(": ", DescribeChange(child, *inner)));
    }
    figure.reasons.insert(figure.reasons.end(), benchmark.notes.begin(),
                          benchmark.notes.end());
    result_.figures.push_back(std::move(figure));
  }

  // Returns the first metric of `kinds` that grew by too much, else the first
  // that differs.
  const MetricChange* ChooseChange(const std::string& label,
                                   const DiffNode& benchmark,
                                   const std::vector<MetricKind>& kinds) const {
    const MetricChange* chosen = nullptr;
    for (const MetricKind kind : kinds) {
      const MetricChange* const change = FindChange(benchmark, kind);
      if (change == nullptr) continue;
      if (IsOver(label, *change)) return change;
      if (chosen == nullptr) chosen = change;
    }
    return chosen;
  }

  // Limits are only partly ordered: two that overlap may both match.
  int64_t FindLimit(const std::string& label, MetricKind metric,
                    int64_t before) const {
    std::vector<const GrowthLimit*> matching;
    for (const GrowthLimit& limit : options_.limits) {
      if (GlobMatches(limit.label, label)) matching.push_back(&limit);
    }
    const GrowthLimit* found = nullptr;
    for (const GrowthLimit* limit : matching) {
      const bool is_general = std::any_of(
          matching.begin(), matching.end(), [limit](const GrowthLimit* other) {
            return IsMoreParticular(MakeSelector(*other), MakeSelector(*limit));
          });
      if (!is_general) found = limit;
    }
    if (found == nullptr) return before;
    return ComputeMaximum(found->above, metric, before).value_or(before);
  }

  bool IsOver(const std::string& label, const MetricChange& change) const {
    return change.before.has_value() && change.after.has_value() &&
           *change.after > FindLimit(label, change.metric, *change.before);
  }

  void AddFigure(const std::string& label, const DiffNode& benchmark,
                 const MetricChange& change) {
    const int64_t growth = ComputeGrowth(benchmark, change).value_or(0);
    ComparedFigure figure;
    figure.change = growth > 0   ? Change::kGrown
                    : growth < 0 ? Change::kShrunk
                                 : Change::kOther;
    figure.label = label;
    figure.benchmark = benchmark.name;
    figure.description = DescribeChange(benchmark, change);
    if (growth > 0) {
      figure.reasons = FindGrowthReasons(benchmark, change.metric);
    }
    figure.reasons.insert(figure.reasons.end(), benchmark.notes.begin(),
                          benchmark.notes.end());
    figure.is_over_limit = IsOver(label, change);
    const std::string doubt = DescribeSmallDecrease(change.metric, -growth);
    // One figure stands for all, since the sentence is the same.
    if (!doubt.empty() && !std::exchange(has_doubt_, true)) {
      result_.hints.push_back(
          absl::StrCat(label, " ", benchmark.name, ": ", doubt));
    }
    if (change.before.has_value() && change.after.has_value()) {
      AddJudgement(figure, change);
    } else {
      AddProblem(INCONCLUSIVE, label,
                 absl::StrCat(benchmark.name, ": ", figure.description,
                              ", so its growth is unknown"),
                 &result_.verdict);
    }
    result_.figures.push_back(std::move(figure));
  }

  void AddJudgement(const ComparedFigure& figure, const MetricChange& change) {
    Judgement* const judgement = result_.verdict.add_judgements();
    judgement->set_label(figure.label);
    judgement->set_benchmark(figure.benchmark);
    judgement->set_metric(change.metric);
    judgement->set_measured(*change.after);
    judgement->set_limit(
        FindLimit(figure.label, change.metric, *change.before));
    judgement->set_rule(MAXIMUM);
    judgement->set_severity(BLOCK);
    judgement->set_decision(figure.is_over_limit ? REJECT : ACCEPT);
    judgement->set_threshold_location(options_.base_name);
    judgement->set_explanation(absl::StrJoin(figure.reasons, "; "));
  }

  // Adds a problem for child processes: their memory is in no figure, so its
  // growth is not known.
  void AddChildren(const std::string& label, const DiffNode& benchmark) {
    for (const std::string& note : benchmark.notes) {
      if (!absl::StartsWith(note, "child processes: ")) continue;
      AddProblem(INCONCLUSIVE, label, absl::StrCat(benchmark.name, ": ", note),
                 &result_.verdict);
    }
  }

  static const Environment* FindEnvironment(
      const std::vector<MemoryProfile>& profiles, const std::string& label) {
    for (const MemoryProfile& profile : profiles) {
      if (profile.label() == label) return &profile.environment();
    }
    return nullptr;
  }

  void AddOtherEnvironment(const std::string& label) {
    const Environment* const before = FindEnvironment(base_, label);
    const Environment* const after = FindEnvironment(change_, label);
    if (before == nullptr || after == nullptr ||
        CountDifferences(*after, *before) == 0) {
      return;
    }
    AddProblem(ENVIRONMENT_MISMATCH, label,
               absl::StrCat("was measured in another environment than the "
                            "base: ",
                            DescribeDifference(*after, *before),
                            "; measure both in one"),
               &result_.verdict);
  }

  void AddFailures(const std::vector<MemoryProfile>& profiles,
                   const char* whose, Decision decision) {
    for (const MemoryProfile& profile : profiles) {
      if (!profile.has_failure()) continue;
      AddProblem(
          decision, profile.label(),
          absl::StrCat(whose, "program ", DescribeFailure(profile.failure())),
          &result_.verdict);
    }
  }

  static std::set<std::string> NamesOf(
      const std::vector<MemoryProfile>& profiles, const std::string& label) {
    std::set<std::string> names;
    for (const MemoryProfile& profile : profiles) {
      if (profile.label() != label) continue;
      for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
        names.insert(benchmark.name());
      }
    }
    return names;
  }

  // Adds a hint if a label is gone and a new one has the same benchmarks.
  void AddHints() {
    for (const DiffNode& gone : result_.diff.deployments) {
      if (gone.presence != Presence::kRemoved) continue;
      const std::set<std::string> names = NamesOf(base_, gone.name);
      for (const DiffNode& added : result_.diff.deployments) {
        if (added.presence != Presence::kAdded || names.empty() ||
            names != NamesOf(change_, added.name)) {
          continue;
        }
        result_.hints.push_back(absl::StrCat(
            gone.name, " is gone, and ", added.name,
            " is new with the same benchmarks; if it was renamed, compare "
            "with --renamed=",
            gone.name, "=", added.name));
      }
    }
  }

  const std::vector<MemoryProfile>& base_;
  const std::vector<MemoryProfile>& change_;
  const BaseComparisonOptions& options_;
  BaseComparison result_;
  bool has_doubt_ = false;
};

}  // namespace

absl::StatusOr<GrowthLimit> ParseGrowthLimit(absl::string_view text) {
  GrowthLimit limit;
  const size_t equals = text.rfind('=');
  absl::string_view distance = text;
  if (equals != absl::string_view::npos) {
    limit.label = std::string(text.substr(0, equals));
    distance.remove_prefix(equals + 1);
    if (limit.label.empty() || !IsGlob(limit.label)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "\"", EscapeForTerminal(text),
          "\" names no labels before its \"=\"; write for example //a/*=1 %"));
    }
  }
  distance = absl::StripAsciiWhitespace(distance);
  const absl::StatusOr<WrittenLimit> written = ParseWrittenLimit(
      absl::StrCat(absl::StartsWith(distance, "+") ? "" : "+", distance),
      PEAK_LIVE_USABLE_BYTES);
  if (!written.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", EscapeForTerminal(text),
        "\" is not a limit of growth: ", written.status().message()));
  }
  limit.above = written->above;
  return limit;
}

absl::StatusOr<BaseComparison> CompareWithBase(
    std::vector<MemoryProfile> base, std::vector<MemoryProfile> change,
    const BaseComparisonOptions& options) {
  const absl::Status renamed = Rename(options.renamed, &base);
  if (!renamed.ok()) return renamed;
  LevelNoise(base, &change);
  absl::StatusOr<ProfileDiff> diff = DiffProfiles(base, change);
  if (!diff.ok()) return diff.status();
  return Comparing(base, change, *std::move(diff), options).Run();
}

}  // namespace footprint
