#include "footprint/gates/explaining/growth_reasons.h"

#include <cstddef>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/profiling/schema/metric_kind.h"

namespace footprint {
namespace {

using Kind = DiffNode::Kind;
using Presence = DiffNode::Presence;

constexpr size_t kMostSites = 3;

// Returns the growth of one metric of a node, or nullopt if it did not change
// or is unknown.
absl::optional<int64_t> GrowthOf(const DiffNode& node, MetricKind metric) {
  for (const MetricChange& change : node.changes) {
    if (change.metric == metric) return ComputeGrowth(node, change);
  }
  return absl::nullopt;
}

std::string FormatGrowth(MetricKind metric, int64_t growth) {
  const std::string sign = growth > 0 ? "+" : "";
  return UnitOfMetric(metric) == MetricUnit::kBytes
             ? absl::StrCat(sign, FormatRoundedBytes(growth))
             : absl::StrCat(sign, FormatCount(growth));
}

// Returns the phase directly in `node` whose figure grew most, or null.
const DiffNode* FindGrownPhase(const DiffNode& node, MetricKind metric) {
  const DiffNode* most = nullptr;
  int64_t most_growth = 0;
  for (const DiffNode& child : node.children) {
    if (child.kind != Kind::kPhase) continue;
    const int64_t growth = GrowthOf(child, metric).value_or(0);
    if (growth <= most_growth) continue;
    most = &child;
    most_growth = growth;
  }
  return most;
}

void AddPhase(const DiffNode& benchmark, MetricKind metric,
              std::vector<std::string>* reasons) {
  const DiffNode* phase = FindGrownPhase(benchmark, metric);
  if (phase == nullptr) return;
  // Goes inwards as long as a phase has at least half of the growth of the
  // phase around it.
  constexpr int kHalf = 2;
  for (const DiffNode* inner = FindGrownPhase(*phase, metric);
       inner != nullptr &&
       *GrowthOf(*inner, metric) >= *GrowthOf(*phase, metric) / kHalf;
       inner = FindGrownPhase(*phase, metric)) {
    phase = inner;
  }
  reasons->push_back(absl::StrCat(
      phase->presence == Presence::kAdded ? "new phase " : "phase ",
      phase->name, " ", FormatGrowth(metric, *GrowthOf(*phase, metric))));
}

// Adds the sites of this kind that grew.
void AddSites(const DiffNode& benchmark, Kind kind,
              std::vector<std::string>* reasons) {
  size_t count = 0;
  for (const DiffNode& child : benchmark.children) {
    if (child.kind != kind || IsPhaseAlone(child.name)) continue;
    const MetricKind metric =
        kind == Kind::kMapping ? PEAK_MAPPED_BYTES : PEAK_LIVE_USABLE_BYTES;
    const int64_t growth = GrowthOf(child, metric).value_or(0);
    if (growth <= 0 || ++count > kMostSites) continue;
    reasons->push_back(absl::StrCat(
        FormatGrowth(metric, growth),
        kind == Kind::kMapping ? " mapped by " : " held by ", child.name,
        child.presence == Presence::kAdded ? ", which is new" : ""));
  }
  if (count > kMostSites) {
    reasons->push_back(absl::StrCat("and ", count - kMostSites, " more"));
  }
}

bool IsOfMappings(MetricKind metric) {
  return metric == PEAK_MAPPED_BYTES || metric == PEAK_RESIDENT_BYTES ||
         metric == RESIDENT_ANONYMOUS_BYTES || metric == RESIDENT_FILE_BYTES;
}

}  // namespace

bool IsPhaseAlone(const std::string& site) {
  return absl::StartsWith(site, "phase:") && !absl::StrContains(site, "/site:");
}

std::string DescribeLeak(MetricKind metric, int64_t net_growth) {
  if (metric != NET_GROWTH_USABLE_BYTES || net_growth <= 0) return "";
  return absl::StrCat("a leak (NET_GROWTH): ", FormatCount(net_growth),
                      " B more are live at its end than at its start");
}

std::string DescribeSmallDecrease(MetricKind metric, int64_t decrease_bytes) {
  // Further blocks of a thread shift those of others by less.
  constexpr int64_t kMostBytes = 4096;
  const bool is_usable = absl::StrContains(MetricKind_Name(metric), "USABLE");
  if (!is_usable || decrease_bytes <= 0 || decrease_bytes > kMostBytes) {
    return "";
  }
  return absl::StrCat(
      "a smaller growth may hide behind this decrease of ",
      FormatCount(decrease_bytes),
      " B: the usable size of a block follows the heap's layout, which a "
      "further thread or another order of blocks changes; look also at the "
      "number of calls and at the net growth");
}

std::vector<std::string> FindGrowthReasons(const DiffNode& benchmark,
                                           MetricKind metric) {
  std::vector<std::string> reasons;
  for (const MetricChange& change : benchmark.changes) {
    if (change.metric != metric) continue;
    const std::string leak = DescribeLeak(metric, change.after.value_or(0));
    if (!leak.empty()) reasons.push_back(leak);
  }
  AddPhase(benchmark, metric, &reasons);
  if (IsOfMappings(metric)) {
    AddSites(benchmark, Kind::kMapping, &reasons);
    return reasons;
  }
  AddSites(benchmark, Kind::kSite, &reasons);
  const int64_t calls = GrowthOf(benchmark, ALLOCATION_COUNT).value_or(0);
  if (calls > 0) {
    reasons.push_back(absl::StrCat(FormatCount(calls),
                                   calls == 1 ? " call more" : " calls more"));
  }
  return reasons;
}

}  // namespace footprint
