#include "footprint/tools/research/rival_policies.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace footprint {
namespace {

constexpr double kRanges = 3;

bool IsAboveLast(absl::Span<const double> history, double run, double ratio) {
  return run > history.back() * ratio;
}

double UpperBoundary(absl::Span<const double> sample, double centre_share) {
  return ComputeQuantile(sample, centre_share) +
         kRanges *
             (ComputeQuantile(sample, 0.75) - ComputeQuantile(sample, 0.25));
}

bool IsAboveRangeOfValues(absl::Span<const double> history, double run) {
  return run > UpperBoundary(history, 0.5);
}

bool IsAboveRangeOfChanges(absl::Span<const double> history, double run) {
  std::vector<double> changes;
  for (size_t i = 1; i < history.size(); ++i) {
    changes.push_back(std::abs(history[i] / history[i - 1] - 1));
  }
  return run / history.back() - 1 > UpperBoundary(changes, 0.75);
}

}  // namespace

double ComputeQuantile(absl::Span<const double> sample, double share) {
  std::vector<double> sorted(sample.begin(), sample.end());
  std::sort(sorted.begin(), sorted.end());
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(std::floor(at));
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] +
         (at - std::floor(at)) * (sorted[above] - sorted[below]);
}

const std::vector<RivalPolicy>& RivalPolicies() {
  using Runs = absl::Span<const double>;
  static const auto& policies = *new std::vector<RivalPolicy>{
      {"ratio of single runs, 200 %",
       [](Runs history, double run) { return IsAboveLast(history, run, 2); }},
      {"last run + 5 %",
       [](Runs history, double run) {
         return IsAboveLast(history, run, 1.05);
       }},
      {"last run + 2 %",
       [](Runs history, double run) {
         return IsAboveLast(history, run, 1.02);
       }},
      {"median + 3 interquartile ranges", IsAboveRangeOfValues},
      {"change above Q3 + 3 ranges", IsAboveRangeOfChanges}};
  return policies;
}

}  // namespace footprint
