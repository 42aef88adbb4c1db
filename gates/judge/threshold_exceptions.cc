#include "footprint/gates/judge/threshold_exceptions.h"

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "footprint/gates/judge/environment_check.h"
#include "footprint/gates/judge/rules.h"
#include "footprint/gates/judge/selector.h"

namespace footprint {
namespace {

// Returns whether another selector can be more particular. A literal benchmark
// name contains its arguments, so these need no check.
bool IsGeneral(const Selector& selector) {
  return selector.benchmark().empty() || !IsLiteral(selector.benchmark()) ||
         !IsLiteral(selector.label()) || !IsLiteral(selector.phase());
}

bool HaveRuleOfOneSort(const Threshold& a, const Threshold& b) {
  if (a.metric() != b.metric()) return false;
  const RuleScope scope = ComputeScope(a);
  if (scope == RuleScope::kFamily || scope != ComputeScope(b)) return false;
  const absl::Span<const Rule* const> rules = AllRules();
  return std::any_of(rules.begin(), rules.end(), [&](const Rule* rule) {
    return rule->IsIn(a) && rule->IsIn(b);
  });
}

bool Selects(const Selector& selector, const MemoryProfile& profile,
             const BenchmarkMemory& benchmark, absl::string_view phase) {
  return GlobMatches(selector.label(), profile.label()) &&
         SelectsBenchmark(selector, benchmark) &&
         GlobMatches(selector.phase(), phase);
}

}  // namespace

ThresholdExceptions::ThresholdExceptions(
    absl::Span<const ThresholdSource> sources)
    : sources_(sources) {
  std::vector<Place> generals;
  // Thresholds with a literal label, by that label, and all thresholds.
  absl::flat_hash_map<absl::string_view, std::vector<Place>> by_label;
  std::vector<Place> all;
  for (size_t i = 0; i < sources.size(); ++i) {
    for (int j = 0; j < sources[i].file.threshold_size(); ++j) {
      const Selector& selector = sources[i].file.threshold(j).selector();
      if (!IsGeneral(selector)) continue;
      generals.push_back({i, j});
      if (IsLiteral(selector.label())) by_label[selector.label()];
    }
  }
  if (generals.empty()) return;
  for (size_t i = 0; i < sources.size(); ++i) {
    for (int j = 0; j < sources[i].file.threshold_size(); ++j) {
      all.push_back({i, j});
      const auto found =
          by_label.find(sources[i].file.threshold(j).selector().label());
      if (found != by_label.end()) found->second.push_back({i, j});
    }
  }
  for (const Place& general : generals) {
    const std::string& label = At(general).selector().label();
    AddExceptionsFrom(general, IsLiteral(label) ? by_label[label] : all);
  }
}

void ThresholdExceptions::AddExceptionsFrom(const Place& general,
                                            const std::vector<Place>& others) {
  for (const Place& other : others) {
    if (!HaveRuleOfOneSort(At(other), At(general)) ||
        !IsMoreParticular(At(other).selector(), At(general).selector())) {
      continue;
    }
    exceptions_[{general.source, general.number}].push_back(other);
  }
}

absl::optional<ThresholdExceptions::Place> ThresholdExceptions::Find(
    size_t source, int number, const MemoryProfile& profile,
    const BenchmarkMemory& benchmark, absl::string_view phase) const {
  const auto found = exceptions_.find({source, number});
  if (found == exceptions_.end()) return absl::nullopt;
  const bool is_own = IsForEnvironment(profile, sources_[source]);
  absl::optional<Place> most_particular;
  for (const Place& place : found->second) {
    const bool counts = is_own
                            ? IsForEnvironment(profile, sources_[place.source])
                            : place.source == source;
    const Selector& selector = At(place).selector();
    if (!counts || !Selects(selector, profile, benchmark, phase)) continue;
    if (!most_particular.has_value() ||
        IsMoreParticular(selector, At(*most_particular).selector())) {
      most_particular = place;
    }
  }
  return most_particular;
}

}  // namespace footprint
