#include "footprint/profiling/records/site_profile.h"

#include <cstddef>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "footprint/profiling/records/record_file_reader.h"
#include "footprint/profiling/records/site_record.h"

namespace footprint {
namespace {

using profiling_internal::kMaxMappingSites;
using profiling_internal::kMaxSites;
using profiling_internal::kMaxTimePoints;
using profiling_internal::kSiteMagic;
using profiling_internal::MappingSiteRecord;
using profiling_internal::SiteFile;
using profiling_internal::SiteRecord;
using profiling_internal::TimePoint;

// The members before the arrays.
struct alignas(SiteFile) Head {
  char bytes[offsetof(SiteFile, time_points)];

  const SiteFile& file() const {
    return *reinterpret_cast<const SiteFile*>(bytes);
  }
};

absl::Status AddSites(const RecordFileReader& file,
                      const std::vector<SiteRecord>& records,
                      uint64_t peak_number, uint64_t recent_peak_number,
                      SiteProfile* profile) {
  for (const SiteRecord& record : records) {
    if (record.node > profile->nodes.size()) {
      return file.Damaged("a site has no stack");
    }
    SiteProfile::Site site;
    site.node = static_cast<int>(record.node) - 1;
    site.thread = record.thread;
    site.stage = record.stage;
    site.at_end = {record.live_bytes, record.live_count, record.live_variance};
    // A site that has not changed since the peak has its live figures there.
    site.at_peak =
        record.peak_number == peak_number
            ? SiteProfile::Figure{record.at_peak_bytes, record.at_peak_count,
                                  record.at_peak_variance}
            : site.at_end;
    site.at_recent_peak_bytes = record.recent_peak_number == recent_peak_number
                                    ? record.at_recent_peak_bytes
                                    : record.live_bytes;
    site.allocated = {record.allocated_bytes, record.allocation_count,
                      record.allocated_variance};
    site.temporary_count = record.temporary_count;
    site.sample_count = record.sample_count;
    profile->sites.push_back(site);
  }
  return absl::OkStatus();
}

absl::Status AddMappingSites(const RecordFileReader& file, const SiteFile& head,
                             SiteProfile* profile) {
  absl::StatusOr<std::vector<MappingSiteRecord>> records =
      file.ReadArray<MappingSiteRecord>(offsetof(SiteFile, mapping_sites),
                                        head.mapping_site_count.load(),
                                        kMaxMappingSites);
  if (!records.ok()) return records.status();
  const uint64_t peak_number = head.mapped_peak_number.load();
  for (const MappingSiteRecord& record : *records) {
    if (record.node > profile->nodes.size()) {
      return file.Damaged("a mapping has no stack");
    }
    profile->mapping_sites.push_back(
        {static_cast<int>(record.node) - 1, record.stage,
         record.peak_number == peak_number ? record.at_peak_bytes
                                           : record.mapped_bytes});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SiteProfile> ReadSiteProfile(const std::string& path,
                                            uint64_t peak_number,
                                            uint64_t recent_peak_number) {
  RecordFileReader file(path);
  const auto head_bytes = std::make_unique<Head>();
  absl::Status status =
      file.ReadHead(kSiteMagic, "call sites", sizeof(Head), head_bytes->bytes);
  if (!status.ok()) return status;
  const SiteFile& head = head_bytes->file();
  absl::StatusOr<CallTree> tree = ReadCallTree(file, offsetof(SiteFile, tree));
  if (!tree.ok()) return tree.status();
  absl::StatusOr<std::vector<SiteRecord>> sites = file.ReadArray<SiteRecord>(
      offsetof(SiteFile, sites), head.site_count.load(), kMaxSites);
  if (!sites.ok()) return sites.status();
  absl::StatusOr<std::vector<TimePoint>> points =
      file.ReadArray<TimePoint>(offsetof(SiteFile, time_points),
                                head.time_point_count.load(), kMaxTimePoints);
  if (!points.ok()) return points.status();
  SiteProfile profile;
  profile.sampling_interval_bytes = head.sampling_interval_bytes;
  profile.is_incomplete = tree->is_incomplete || head.is_full.load() != 0;
  profile.modules = std::move(tree->modules);
  profile.nodes = std::move(tree->nodes);
  const bool has_own_peaks = head.sampling_interval_bytes == 0;
  if (has_own_peaks) {
    peak_number = head.peak_number.load();
    recent_peak_number = head.recent_peak_number.load();
  }
  status = AddSites(file, *sites, peak_number, recent_peak_number, &profile);
  if (!status.ok()) return status;
  status = AddMappingSites(file, head, &profile);
  if (!status.ok()) return status;
  for (const TimePoint& point : *points) {
    profile.timeline.push_back({point.time_ns, point.live_bytes, point.stage});
  }
  return profile;
}

}  // namespace footprint
