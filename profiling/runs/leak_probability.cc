#include "footprint/profiling/runs/leak_probability.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace footprint {
namespace {

constexpr double kSamplesPerWindow = 4;
constexpr size_t kFewestWindows = 4;
constexpr double kLeastShareLeft = 0.9;
constexpr double kLeastShareOfSpeed = 0.5;
// A stack grows if the probability of a rise is above this.
constexpr double kGrowth = 0.75;

// Returns the likelihood of `rises` and `pauses` in a given order, if a rise's
// probability is only known to be above (or below) kGrowth.
double Likelihood(int rises, int pauses, bool is_above) {
  constexpr int kSteps = 200;
  const double begin = is_above ? kGrowth : 0;
  const double width = is_above ? 1 - kGrowth : kGrowth;
  // Integrates by Simpson's rule.
  double sum = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double p = begin + width * i / kSteps;
    const double weight = i == 0 || i == kSteps ? 1 : i % 2 == 1 ? 4 : 2;
    sum += weight * std::pow(p, rises) * std::pow(1 - p, pauses);
  }
  return sum / (3 * kSteps);
}

double GrowthProbability(const std::vector<bool>& is_rise) {
  const int count = static_cast<int>(is_rise.size());
  const int rises =
      static_cast<int>(std::count(is_rise.begin(), is_rise.end(), true));
  const double grows = Likelihood(rises, count - rises, true);
  const double stays = Likelihood(rises, count - rises, false);
  double bounded = 0;
  int rises_before = 0;
  for (int before = 1; before < count; ++before) {
    if (is_rise[static_cast<size_t>(before) - 1]) ++rises_before;
    const int rises_after = rises - rises_before;
    bounded += Likelihood(rises_before, before - rises_before, true) *
               Likelihood(rises_after, count - before - rises_after, false);
  }
  if (count > 1) bounded /= count - 1;
  return grows / (grows + stays + bounded);
}

// Returns the growth per window in the last third, as a share of that in all
// windows.
double ShareOfSpeedAtEnd(absl::Span<const double> floor_bytes) {
  const size_t steps = floor_bytes.size() - 1;
  const size_t last_steps = (steps + 2) / 3;
  const double end = floor_bytes.back();
  const double last_growth = end - floor_bytes[steps - last_steps];
  const double growth = end - floor_bytes.front();
  return growth > 0 ? last_growth / static_cast<double>(last_steps) /
                          (growth / static_cast<double>(steps))
                    : 0;
}

}  // namespace

double LeakProbability(absl::Span<const double> floor_bytes) {
  if (floor_bytes.size() < kFewestWindows) return 0;
  const double most = *std::max_element(floor_bytes.begin(), floor_bytes.end());
  if (most <= 0 || floor_bytes.back() < kLeastShareLeft * most) return 0;
  if (ShareOfSpeedAtEnd(floor_bytes) < kLeastShareOfSpeed) return 0;
  std::vector<bool> is_rise;
  for (size_t i = 1; i < floor_bytes.size(); ++i) {
    is_rise.push_back(floor_bytes[i] > floor_bytes[i - 1]);
  }
  return GrowthProbability(is_rise);
}

std::vector<double> WindowsForSamples(absl::Span<const double> floor_bytes,
                                      double sample_count) {
  const double most = sample_count / kSamplesPerWindow;
  if (!(most >= kFewestWindows) || floor_bytes.size() < kFewestWindows) {
    return {};
  }
  size_t joined = 1;
  while (static_cast<double>(floor_bytes.size() / joined) > most) ++joined;
  std::vector<double> windows;
  for (size_t i = floor_bytes.size() % joined; i < floor_bytes.size();
       i += joined) {
    windows.push_back(*std::min_element(floor_bytes.begin() + i,
                                        floor_bytes.begin() + i + joined));
  }
  if (windows.size() < kFewestWindows) windows.clear();
  return windows;
}

}  // namespace footprint
