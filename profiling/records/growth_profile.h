// The history of the live bytes of call sites, as values. Reads the file that
// the agent wrote beside the one of the sites (growth_record.h).
//
//   absl::StatusOr<GrowthProfile> growth =
//       ReadGrowthProfile("1234.0.growth", sites);
//   growth->sites[i].floor_bytes.back();  // the last window of sites.sites[i]
//
// The process may still run and write. Plain values: the file is closed again.
// Thread-safe. Memory: at most 440 bytes a site, and 208 more while it reads.
// Errors: those of FileError, kDataLoss for a file that is cut short, and
// kInvalidArgument for a file of another version or a damaged one.

#ifndef FOOTPRINT_PROFILING_RECORDS_GROWTH_PROFILE_H_
#define FOOTPRINT_PROFILING_RECORDS_GROWTH_PROFILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/profiling/records/site_profile.h"

namespace footprint {

struct GrowthProfile {
  struct Site {
    // The window in which the site had its first bytes.
    int first_window = 0;
    // The least bytes live in each window; empty if the site is not in the
    // file, or if a running process doubled its windows during the reading.
    std::vector<double> floor_bytes;
    // The bytes that were live when each window began, one number a window.
    std::vector<double> begin_bytes;
  };

  // The time at which each window began. The last window is not over.
  std::vector<int64_t> begin_time_ns;
  // sites[i] is the history of site i of the SiteProfile.
  std::vector<Site> sites;
};

absl::StatusOr<GrowthProfile> ReadGrowthProfile(const std::string& path,
                                                const SiteProfile& profile);

}  // namespace footprint

// Tested by //profiling/sites:site_growth_test.

#endif  // FOOTPRINT_PROFILING_RECORDS_GROWTH_PROFILE_H_
