#include "footprint/profiling/records/growth_profile.h"

#include <algorithm>
#include <cstddef>

#include "footprint/profiling/records/growth_record.h"
#include "footprint/profiling/records/record_file_reader.h"

namespace footprint {
namespace {

using profiling_internal::GrowthFile;
using profiling_internal::GrowthRecord;
using profiling_internal::kGrowthMagic;
using profiling_internal::kMaxGrowthWindows;
using profiling_internal::kMaxSites;

// The members before the sites.
struct Head {
  uint64_t magic;
  uint32_t window;
  uint32_t halvings;
  int64_t begin_time_ns[kMaxGrowthWindows];
};
static_assert(offsetof(GrowthFile, begin_time_ns) ==
              offsetof(Head, begin_time_ns));

// Converts a site. If a running process is just updating it, the site is taken
// as it is. The head, which was read first, may have longer windows now; then
// the site's numbers do not fit it.
GrowthProfile::Site ToSite(GrowthRecord record, const Head& head,
                           int64_t live_bytes) {
  GrowthProfile::Site site;
  if (record.is_used == 0 || record.window >= kMaxGrowthWindows ||
      record.first_window >= kMaxGrowthWindows ||
      record.halvings > head.halvings) {
    return site;
  }
  record.BringTo(head.window, head.halvings, static_cast<float>(live_bytes));
  site.first_window =
      static_cast<int>(std::min(record.first_window, head.window));
  site.floor_bytes.assign(record.floor_bytes,
                          record.floor_bytes + head.window + 1);
  site.begin_bytes.assign(record.begin_bytes,
                          record.begin_bytes + head.window + 1);
  return site;
}

}  // namespace

absl::StatusOr<GrowthProfile> ReadGrowthProfile(const std::string& path,
                                                const SiteProfile& profile) {
  const RecordFileReader file(path);
  Head head;
  absl::Status status =
      file.ReadHead(kGrowthMagic, "growth", sizeof(head), &head);
  if (!status.ok()) return status;
  if (head.window >= kMaxGrowthWindows || head.halvings > 64) {
    return file.Damaged("a window is none");
  }
  absl::StatusOr<std::vector<GrowthRecord>> records =
      file.ReadArray<GrowthRecord>(offsetof(GrowthFile, sites),
                                   static_cast<uint32_t>(profile.sites.size()),
                                   kMaxSites);
  if (!records.ok()) return records.status();
  GrowthProfile growth;
  growth.begin_time_ns.assign(head.begin_time_ns,
                              head.begin_time_ns + head.window + 1);
  for (size_t i = 0; i < records->size(); ++i) {
    growth.sites.push_back(
        ToSite((*records)[i], head, profile.sites[i].at_end.bytes));
  }
  return growth;
}

}  // namespace footprint
