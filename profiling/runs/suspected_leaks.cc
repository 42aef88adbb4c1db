#include "footprint/profiling/runs/suspected_leaks.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "footprint/profiling/runs/amounts.h"
#include "footprint/profiling/runs/leak_probability.h"

namespace footprint {
namespace {

constexpr double kLeastProbability = 0.75;
constexpr double kLeastShareOfPeak = 0.01;

// The sites of one stack.
struct GrowingCall {
  int first_window = 0;
  std::vector<double> floor_bytes;
  int64_t live_bytes = 0;
  int64_t allocated_bytes = 0;
  int64_t sample_count = 0;
};

void Add(const SiteProfile::Site& site, const GrowthProfile::Site& growth,
         GrowingCall* call) {
  if (growth.floor_bytes.empty()) return;
  if (call->floor_bytes.empty()) {
    call->first_window = growth.first_window;
    call->floor_bytes.resize(growth.floor_bytes.size());
  }
  call->first_window = std::min(call->first_window, growth.first_window);
  for (size_t i = 0; i < growth.floor_bytes.size(); ++i) {
    call->floor_bytes[i] += growth.floor_bytes[i];
  }
  call->live_bytes = SaturatedSum(call->live_bytes, site.at_end.bytes);
  call->allocated_bytes =
      SaturatedSum(call->allocated_bytes, site.allocated.bytes);
  call->sample_count = SaturatedSum(call->sample_count, site.sample_count);
}

double ComputeProbability(const GrowingCall& call, int64_t peak_bytes) {
  if (call.floor_bytes.empty() || call.sample_count <= 0 ||
      call.allocated_bytes <= 0) {
    return 0;
  }
  // The floor of the first window includes the time before the first bytes.
  const absl::Span<const double> floors =
      absl::MakeConstSpan(call.floor_bytes)
          .subspan(static_cast<size_t>(call.first_window));
  const double growth_bytes = floors.back() - floors.front();
  if (growth_bytes < kLeastShareOfPeak * static_cast<double>(peak_bytes)) {
    return 0;
  }
  const double bytes_per_sample = static_cast<double>(call.allocated_bytes) /
                                  static_cast<double>(call.sample_count);
  return LeakProbability(
      WindowsForSamples(floors, growth_bytes / bytes_per_sample));
}

double GrowthPerSecond(const GrowingCall& call,
                       const std::vector<int64_t>& begin_time_ns) {
  const auto first = static_cast<size_t>(call.first_window);
  const double seconds =
      static_cast<double>(begin_time_ns.back() - begin_time_ns[first]) * 1e-9;
  const double bytes = call.floor_bytes.back() - call.floor_bytes[first];
  return seconds > 0 ? bytes / seconds : 0;
}

}  // namespace

void SetSuspectedLeaks(const SiteProfile& profile, const GrowthProfile& growth,
                       NativeCalls* calls, MeasuredImage* image) {
  std::map<uint32_t, GrowingCall> growing;
  for (size_t i = 0; i < growth.sites.size(); ++i) {
    const SiteProfile::Site& site = profile.sites[i];
    if (site.node == SiteProfile::kNone) continue;
    Add(site, growth.sites[i], &growing[calls->FindCall(site.node)]);
  }
  std::vector<SuspectedLeak> leaks;
  for (const auto& [number, call] : growing) {
    const double probability =
        ComputeProbability(call, image->peak_live_bytes());
    if (number == 0 || probability < kLeastProbability) continue;
    SuspectedLeak leak;
    leak.set_call(number);
    leak.set_probability(probability);
    leak.set_live_bytes(call.live_bytes);
    leak.set_growth_bytes_per_s(GrowthPerSecond(call, growth.begin_time_ns));
    leaks.push_back(std::move(leak));
  }
  std::stable_sort(leaks.begin(), leaks.end(),
                   [](const SuspectedLeak& a, const SuspectedLeak& b) {
                     return std::make_pair(a.probability(), a.live_bytes()) >
                            std::make_pair(b.probability(), b.live_bytes());
                   });
  for (SuspectedLeak& leak : leaks) {
    *image->add_suspected_leaks() = std::move(leak);
  }
}

}  // namespace footprint
