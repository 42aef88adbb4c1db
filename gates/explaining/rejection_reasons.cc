#include "footprint/gates/explaining/rejection_reasons.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "footprint/gates/explaining/growth_reasons.h"
#include "footprint/gates/explaining/profile_diff.h"
#include "footprint/gates/reports/verdict_words.h"
#include "footprint/profiling/schema/metric_reading.h"
#include "footprint/profiling/schema/whole_process_name.h"

namespace footprint {
namespace {

constexpr size_t kMostSites = 3;

// Returns the benchmark of this label and name, or null.
const BenchmarkMemory* FindBenchmark(absl::Span<const MemoryProfile> profiles,
                                     const Judgement& judgement) {
  for (const MemoryProfile& profile : profiles) {
    if (profile.label() != judgement.label()) continue;
    for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
      if (benchmark.name() == judgement.benchmark()) return &benchmark;
    }
  }
  return nullptr;
}

// Adds the phase with the highest value, the innermost if there are several;
// for a whole process, the largest of its parts.
void AddHighestPhase(const BenchmarkMemory& benchmark,
                     const Judgement& judgement,
                     std::vector<std::string>* reasons) {
  const bool is_whole = IsWholeProcessName(benchmark.name());
  const Phase* highest = nullptr;
  int64_t highest_value = 0;
  for (const Phase& phase : benchmark.phases()) {
    if (is_whole && !absl::StartsWith(phase.name(), kPartPrefix)) continue;
    const int64_t value =
        ReadMetric(phase, judgement.metric()).bytes_or_count.value_or(0);
    if (value <= 0 || value < highest_value) continue;
    highest = &phase;
    highest_value = value;
  }
  if (highest == nullptr) return;
  const std::string value = ShortMetricText(judgement.metric(), highest_value);
  if (is_whole) {
    absl::string_view part = highest->name();
    absl::ConsumePrefix(&part, kPartPrefix);
    reasons->push_back(absl::StrCat(value, " of it are ", part));
  } else {
    reasons->push_back(
        absl::StrCat("highest in phase ", highest->name(), ", ", value));
  }
}

void AddHolders(const BenchmarkMemory& benchmark, const Judgement& judgement,
                std::vector<std::string>* reasons) {
  const auto* const attributions =
      FindPeakHolders(benchmark, judgement.metric());
  if (attributions == nullptr) return;
  std::vector<const Attribution*> sites;
  for (const Attribution& site : *attributions) {
    if (!IsPhaseAlone(site.site())) sites.push_back(&site);
  }
  std::stable_sort(sites.begin(), sites.end(),
                   [](const Attribution* a, const Attribution* b) {
                     return a->live_bytes() > b->live_bytes();
                   });
  std::vector<std::string> holders;
  for (size_t i = 0; i < std::min(kMostSites, sites.size()); ++i) {
    holders.push_back(absl::StrCat(
        ShortMetricText(judgement.metric(), sites[i]->live_bytes()), " by ",
        sites[i]->site()));
  }
  if (holders.empty()) return;
  reasons->push_back(
      absl::StrCat(judgement.metric() == PEAK_MAPPED_BYTES ? "mapped" : "held",
                   " at the peak: ", absl::StrJoin(holders, ", ")));
}

// Adds what grew in this benchmark since `before`. Returns whether it added
// anything.
bool AddGrowth(const BenchmarkMemory& before, const BenchmarkMemory& now,
               const Judgement& judgement, std::vector<std::string>* reasons) {
  std::vector<MemoryProfile> sides(2);
  *sides[0].add_benchmarks() = before;
  *sides[1].add_benchmarks() = now;
  const absl::StatusOr<ProfileDiff> diff = DiffProfiles({sides[0]}, {sides[1]});
  if (!diff.ok() || diff->deployments.empty()) return false;
  const std::vector<std::string> grown = FindGrowthReasons(
      diff->deployments.front().children.front(), judgement.metric());
  if (grown.empty()) return false;
  reasons->push_back(
      absl::StrCat("since before: ", absl::StrJoin(grown, ", ")));
  return true;
}

std::string FindReasons(const GateInput& input,
                        absl::Span<const MemoryProfile> before,
                        const Judgement& judgement) {
  const BenchmarkMemory* const now = FindBenchmark(input.profiles, judgement);
  std::vector<std::string> reasons;
  if (now == nullptr) return "";
  const BenchmarkMemory* const old = FindBenchmark(before, judgement);
  if (old != nullptr && AddGrowth(*old, *now, judgement, &reasons)) {
    return absl::StrJoin(reasons, "; ");
  }
  const std::string leak =
      DescribeLeak(judgement.metric(), judgement.measured());
  if (!leak.empty()) reasons.push_back(leak);
  if (judgement.phase().empty()) {
    AddHighestPhase(*now, judgement, &reasons);
    AddHolders(*now, judgement, &reasons);
  }
  return absl::StrJoin(reasons, "; ");
}

}  // namespace

void ExplainRejections(const GateInput& input,
                       absl::Span<const MemoryProfile> before,
                       Verdict* verdict) {
  for (Judgement& judgement : *verdict->mutable_judgements()) {
    if (!IsViolation(judgement) || !judgement.explanation().empty() ||
        judgement.measured() <= judgement.limit()) {
      continue;
    }
    judgement.set_explanation(FindReasons(input, before, judgement));
  }
}

}  // namespace footprint
