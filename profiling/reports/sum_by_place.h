// What entries with a call add up to by place in the code, largest first.
//
//   for (const PlaceSum<int64_t>& each : SumByPlace<int64_t>(
//            run, image.copies(),
//            [](const CopyAmounts& copy, int64_t* sum) { *sum += ...; },
//            [](int64_t sum) { return sum; })) { ... }
//
// Pure; thread-safe. Memory: the sums.

#ifndef FOOTPRINT_PROFILING_REPORTS_SUM_BY_PLACE_H_
#define FOOTPRINT_PROFILING_REPORTS_SUM_BY_PLACE_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "footprint/profiling/runs/measured_run.pb.h"
#include "footprint/profiling/runs/site_rows.h"

namespace footprint {

template <typename Sum>
struct PlaceSum {
  CodeFrame frame;
  Sum sum = {};
};

// `add(entry, &sum)` adds one; `size(sum)` is sorted by.
template <typename Sum, typename Entries, typename Add, typename Size>
std::vector<PlaceSum<Sum>> SumByPlace(const MeasuredRun& run,
                                      const Entries& entries, Add add,
                                      Size size) {
  std::vector<PlaceSum<Sum>> sums;
  std::unordered_map<uint32_t, size_t> of_calls;
  std::map<std::string, size_t> of_places;
  for (const auto& entry : entries) {
    const auto [call, is_new] = of_calls.try_emplace(entry.call(), 0);
    if (is_new) {
      CodeFrame frame = PlaceOf(run, entry.call());
      frame.clear_is_inlined();
      const auto [place, is_new_place] =
          of_places.try_emplace(frame.SerializeAsString(), sums.size());
      if (is_new_place) sums.push_back({std::move(frame), {}});
      call->second = place->second;
    }
    add(entry, &sums[call->second].sum);
  }
  std::stable_sort(sums.begin(), sums.end(),
                   [&size](const PlaceSum<Sum>& a, const PlaceSum<Sum>& b) {
                     return size(a.sum) > size(b.sum);
                   });
  return sums;
}

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_REPORTS_SUM_BY_PLACE_H_
