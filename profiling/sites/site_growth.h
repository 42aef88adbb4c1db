// Follows the least live bytes that each call site had in each time window
// (growth_record.h).
//
//   SiteGrowth growth;
//   growth.Begin(folder, "1234.0.growth", now_ns);
//   ...
//   growth.Change(site, live_bytes_before, live_bytes_after);
//   growth.Advance(now_ns, /*active_ns=*/1'000'000);
//
// Owns the file until Close. Works inside malloc: it only makes system calls.
// Thread-compatible. Memory: 208 bytes a site in the file. Time: a few ns a
// change.

#ifndef FOOTPRINT_PROFILING_SITES_SITE_GROWTH_H_
#define FOOTPRINT_PROFILING_SITES_SITE_GROWTH_H_

#include <cstdint>

#include "footprint/profiling/records/growth_record.h"
#include "footprint/profiling/sites/growing_file.h"

namespace footprint::profiling_internal {

class SiteGrowth {
 public:
  constexpr SiteGrowth() = default;
  SiteGrowth(const SiteGrowth&) = delete;
  SiteGrowth& operator=(const SiteGrowth&) = delete;

  // Starts to follow the sites. If the file cannot be created, nothing is
  // followed.
  void Begin(int folder, const char* file_name, int64_t now_ns);
  void Close();

  // Records that the live bytes of a site changed.
  void Change(uint32_t site, int64_t live_bytes_before,
              int64_t live_bytes_after);

  // Ends windows that are over. `active_ns` says how long the process was
  // active since the last call.
  void Advance(int64_t now_ns, int64_t active_ns);

 private:
  void BeginWindow(int64_t now_ns);

  GrowingFile file_;
  GrowthFile* growth_ = nullptr;
  GrowingArray sites_;
  int64_t window_ns_ = 0;
  int64_t window_active_ns_ = 0;
};

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_SITES_SITE_GROWTH_H_
