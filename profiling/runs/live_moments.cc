#include "footprint/profiling/runs/live_moments.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace footprint {
namespace {

// Returns how many windows are in order. A window that begins before its
// predecessor means damage, and the moments end there.
size_t CountOrdered(const std::vector<int64_t>& times_ns) {
  size_t count = 0;
  int64_t last_ns = 0;
  while (count < times_ns.size() && times_ns[count] >= last_ns) {
    last_ns = times_ns[count];
    ++count;
  }
  return count;
}

}  // namespace

void SetMoments(const SiteProfile& profile, const GrowthProfile& growth,
                NativeCalls* calls, MeasuredImage* image) {
  const size_t moment_count = CountOrdered(growth.begin_time_ns);
  std::vector<std::map<uint32_t, double>> bytes(moment_count);
  for (size_t i = 0; i < growth.sites.size(); ++i) {
    const std::vector<double>& begins = growth.sites[i].begin_bytes;
    if (begins.empty()) continue;
    const int node = profile.sites[i].node;
    const uint32_t call =
        node == SiteProfile::kNone ? 0 : calls->FindCall(node);
    for (size_t moment = 0; moment < moment_count && moment < begins.size();
         ++moment) {
      if (begins[moment] > 0) bytes[moment][call] += begins[moment];
    }
  }
  for (size_t i = 0; i < moment_count; ++i) {
    LiveMoment* const moment = image->add_moments();
    moment->set_time_ns(growth.begin_time_ns[i]);
    for (const auto& [call, sum] : bytes[i]) {
      // No process has this many bytes, but a damaged record may say so.
      constexpr double kMostBytes = 1e15;
      const double rounded = std::round(sum);
      if (!(rounded >= 1 && rounded <= kMostBytes)) continue;
      moment->add_calls(call);
      moment->add_bytes(static_cast<int64_t>(rounded));
    }
  }
}

}  // namespace footprint
