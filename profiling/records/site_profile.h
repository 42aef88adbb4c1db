// The call sites of one process image, as values. Reads the file that its agent
// wrote (site_record.h).
//
//   absl::StatusOr<SiteProfile> profile =
//       ReadSiteProfile(path, process.peak_number);
//   for (const SiteProfile::Site& site : profile->sites) {
//     // site.at_peak.bytes were live at the peak, from the stack of site.node
//   }
//
// The process may still run and write. Plain values: the file is closed again.
// Thread-safe. Memory: in proportion to the file's entries, not to its size,
// since it is sparse. Errors: those of FileError, kDataLoss for a file that is
// cut short, and kInvalidArgument for a file of another version or indices of
// nodes or modules out of range, so that users need not check these. Numbers of
// threads and stages are not checked.

#ifndef FOOTPRINT_PROFILING_RECORDS_SITE_PROFILE_H_
#define FOOTPRINT_PROFILING_RECORDS_SITE_PROFILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/profiling/records/call_tree.h"

namespace footprint {

struct SiteProfile {
  using Module = CallTree::Module;
  using Node = CallTree::Node;
  static constexpr int kNone = CallTree::kNone;

  // An exact figure, or an estimate with its variance.
  struct Figure {
    int64_t bytes = 0;
    int64_t count = 0;
    double variance = 0;
  };

  // Allocations by one stack of calls in one thread and stage.
  struct Site {
    // kNone for blocks from before the record, and for blocks whose calls found
    // no room.
    int node = kNone;
    uint32_t thread = 0;
    uint32_t stage = 0;
    Figure at_peak;
    Figure at_end;
    Figure allocated;
    int64_t at_recent_peak_bytes = 0;
    int64_t temporary_count = 0;
    int64_t sample_count = 0;
  };

  // Memory that the program itself mapped by one stack of calls in one stage.
  struct MappingSite {
    // kNone for memory that was mapped before the record began, and for calls
    // that found no room.
    int node = kNone;
    uint32_t stage = 0;
    // Bytes when the process had most bytes mapped.
    int64_t at_peak_bytes = 0;
  };

  struct Point {
    int64_t time_ns = 0;
    int64_t live_bytes = 0;
    uint32_t stage = 0;
  };

  // Mean bytes between two samples; 0 means that every allocation was recorded.
  int64_t sampling_interval_bytes = 0;
  // True if some sites found no room: the disk was full, or there were too
  // many.
  bool is_incomplete = false;
  std::vector<Module> modules;
  std::vector<Node> nodes;
  std::vector<Site> sites;
  std::vector<MappingSite> mapping_sites;
  std::vector<Point> timeline;
};

// Reads the file. The numbers are those of the process's last peak and recent
// peak (published_heap.h), as its record counts them. If every allocation was
// recorded, the numbers in the file count instead.
absl::StatusOr<SiteProfile> ReadSiteProfile(const std::string& path,
                                            uint64_t peak_number,
                                            uint64_t recent_peak_number = 0);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RECORDS_SITE_PROFILE_H_
