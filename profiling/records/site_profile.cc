#include "footprint/profiling/records/site_profile.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/read_write.h"
#include "footprint/profiling/records/site_record.h"

namespace footprint {
namespace {

using profiling_internal::CallNode;
using profiling_internal::kMaxCallNodes;
using profiling_internal::kMaxModules;
using profiling_internal::kMaxSites;
using profiling_internal::kMaxTimePoints;
using profiling_internal::kNoModule;
using profiling_internal::kSiteMagic;
using profiling_internal::ModuleRecord;
using profiling_internal::SiteFile;
using profiling_internal::SiteRecord;
using profiling_internal::TimePoint;

// What stands in front of the arrays.
constexpr size_t kHeadBytes = offsetof(SiteFile, time_points);

// An open file of sites: reads its head and its arrays.
class SiteFileReader {
 public:
  explicit SiteFileReader(const std::string& path)
      : path_(path), file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

  absl::Status ReadHead() {
    if (!file_.is_open()) return FileError(errno, path_, "cannot be opened");
    head_ = std::make_unique<Head>();
    absl::Status status = ReadFully(
        file_.get(), path_, 0, static_cast<int64_t>(kHeadBytes), head_->bytes);
    if (!status.ok()) return status;
    if (head().magic != kSiteMagic) {
      return absl::InvalidArgumentError(absl::StrCat(
          path_, ": no record of call sites by this version's agent"));
    }
    return absl::OkStatus();
  }

  const SiteFile& head() const {
    return *reinterpret_cast<const SiteFile*>(head_->bytes);
  }

  template <typename Entry>
  absl::StatusOr<std::vector<Entry>> ReadArray(size_t offset_bytes,
                                               uint32_t count,
                                               uint32_t capacity) const {
    if (count > capacity) return Damaged("an array is longer than it can be");
    std::vector<Entry> entries(count);
    absl::Status status =
        ReadFully(file_.get(), path_, static_cast<int64_t>(offset_bytes),
                  static_cast<int64_t>(count * sizeof(Entry)), entries.data());
    if (!status.ok()) return status;
    return entries;
  }

  absl::Status Damaged(absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(path_, " is damaged: ", what));
  }

 private:
  struct alignas(SiteFile) Head {
    char bytes[kHeadBytes];
  };

  const std::string path_;
  const FileDescriptor file_;
  std::unique_ptr<Head> head_;
};

SiteProfile::Module ToModule(const ModuleRecord& record) {
  SiteProfile::Module module;
  module.path =
      std::string(record.path, strnlen(record.path, sizeof(record.path)));
  const size_t size =
      std::min<size_t>(record.build_id_size, sizeof(record.build_id));
  module.build_id = absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(record.build_id), size));
  module.load_bias = record.load_bias;
  return module;
}

// Node 0 of the file stands for no call; ours are one less.
absl::Status AddNodes(const SiteFileReader& file,
                      const std::vector<CallNode>& records,
                      SiteProfile* profile) {
  for (size_t i = 1; i < records.size(); ++i) {
    const CallNode& record = records[i];
    if (record.parent >= i) return file.Damaged("a call is its own parent");
    SiteProfile::Node node;
    node.parent = static_cast<int>(record.parent) - 1;
    node.address = record.program_counter;
    if (record.module != kNoModule) {
      if (record.module >= profile->modules.size()) {
        return file.Damaged("a call lies in no module");
      }
      node.module = static_cast<int>(record.module);
      node.address -= profile->modules[record.module].load_bias;
    }
    profile->nodes.push_back(node);
  }
  return absl::OkStatus();
}

absl::Status AddSites(const SiteFileReader& file,
                      const std::vector<SiteRecord>& records,
                      uint64_t peak_number, SiteProfile* profile) {
  for (const SiteRecord& record : records) {
    if (record.node > profile->nodes.size()) {
      return file.Damaged("a site has no stack");
    }
    SiteProfile::Site site;
    site.node = static_cast<int>(record.node) - 1;
    site.thread = record.thread;
    site.stage = record.stage;
    site.at_end = {record.live_bytes, record.live_count, record.live_variance};
    // A site that has not changed since the peak has what it had there.
    site.at_peak =
        record.peak_number == peak_number
            ? SiteProfile::Figure{record.at_peak_bytes, record.at_peak_count,
                                  record.at_peak_variance}
            : site.at_end;
    site.allocated = {record.allocated_bytes, record.allocation_count,
                      record.allocated_variance};
    site.temporary_count = record.temporary_count;
    site.sample_count = record.sample_count;
    profile->sites.push_back(site);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SiteProfile> ReadSiteProfile(const std::string& path,
                                            uint64_t peak_number) {
  SiteFileReader file(path);
  absl::Status status = file.ReadHead();
  if (!status.ok()) return status;
  const SiteFile& head = file.head();
  SiteProfile profile;
  profile.sampling_interval_bytes = head.sampling_interval_bytes;
  profile.is_incomplete = head.is_full.load() != 0;
  absl::StatusOr<std::vector<ModuleRecord>> modules =
      file.ReadArray<ModuleRecord>(offsetof(SiteFile, modules),
                                   head.module_count.load(), kMaxModules);
  if (!modules.ok()) return modules.status();
  absl::StatusOr<std::vector<CallNode>> nodes = file.ReadArray<CallNode>(
      offsetof(SiteFile, nodes), head.node_count.load(), kMaxCallNodes);
  if (!nodes.ok()) return nodes.status();
  absl::StatusOr<std::vector<SiteRecord>> sites = file.ReadArray<SiteRecord>(
      offsetof(SiteFile, sites), head.site_count.load(), kMaxSites);
  if (!sites.ok()) return sites.status();
  absl::StatusOr<std::vector<TimePoint>> points =
      file.ReadArray<TimePoint>(offsetof(SiteFile, time_points),
                                head.time_point_count.load(), kMaxTimePoints);
  if (!points.ok()) return points.status();
  for (const ModuleRecord& record : *modules) {
    profile.modules.push_back(ToModule(record));
  }
  status = AddNodes(file, *nodes, &profile);
  if (!status.ok()) return status;
  const bool has_own_peaks = head.sampling_interval_bytes == 0;
  status =
      AddSites(file, *sites,
               has_own_peaks ? head.peak_number.load() : peak_number, &profile);
  if (!status.ok()) return status;
  for (const TimePoint& point : *points) {
    profile.timeline.push_back({point.time_ns, point.live_bytes, point.stage});
  }
  return profile;
}

}  // namespace footprint
