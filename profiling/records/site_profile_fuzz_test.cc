// Reads arbitrary entries in an agent's files of sites and of their growth. The
// indices of the result must be in range.

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/base/testing/memory_file.h"
#include "footprint/profiling/records/file_patches.h"
#include "footprint/profiling/records/growth_profile.h"
#include "footprint/profiling/records/growth_record.h"
#include "footprint/profiling/records/site_profile.h"
#include "footprint/profiling/records/site_record.h"

namespace footprint {
namespace {

using profiling_internal::GrowthFile;
using profiling_internal::kGrowthMagic;
using profiling_internal::kSiteMagic;
using profiling_internal::SiteFile;

void RequireRight(const SiteProfile& profile) {
  const int node_count = static_cast<int>(profile.nodes.size());
  for (const SiteProfile::Site& site : profile.sites) {
    Require(site.node >= SiteProfile::kNone && site.node < node_count,
            "a site has a stack");
  }
  for (const SiteProfile::MappingSite& site : profile.mapping_sites) {
    Require(site.node >= SiteProfile::kNone && site.node < node_count,
            "a mapping has a stack");
  }
  for (int i = 0; i < node_count; ++i) {
    const SiteProfile::Node& node = profile.nodes[static_cast<size_t>(i)];
    Require(node.parent >= SiteProfile::kNone && node.parent < i,
            "a call comes after its parent");
    Require(node.module < static_cast<int>(profile.modules.size()),
            "a call lies in a module");
  }
}

void ReadAnyFiles(absl::string_view input) {
  const std::vector<FilePatch> patches = ParsePatches(input);
  const MemoryFile sites("");
  BeginFile(kSiteMagic, sizeof(SiteFile), sites);
  ApplyPatches(patches, /*first_part=*/0,
               {8, offsetof(SiteFile, time_points), offsetof(SiteFile, tree),
                offsetof(SiteFile, tree.modules),
                offsetof(SiteFile, tree.nodes), offsetof(SiteFile, sites)},
               sites);
  ApplyPatches(patches, /*first_part=*/8, {offsetof(SiteFile, mapping_sites)},
               sites);
  const absl::StatusOr<SiteProfile> profile =
      ReadSiteProfile(sites.path(), /*peak_number=*/1);
  if (!profile.ok()) return RequireRefusal(profile.status());
  RequireRight(*profile);
  const MemoryFile growth("");
  BeginFile(kGrowthMagic, sizeof(GrowthFile), growth);
  ApplyPatches(patches, /*first_part=*/6, {8, offsetof(GrowthFile, sites)},
               growth);
  const absl::StatusOr<GrowthProfile> grown =
      ReadGrowthProfile(growth.path(), *profile);
  if (!grown.ok()) return RequireRefusal(grown.status());
  Require(grown->sites.size() == profile->sites.size(), "each site has one");
  for (const GrowthProfile::Site& site : grown->sites) {
    Require(site.floor_bytes.empty() ||
                site.floor_bytes.size() == grown->begin_time_ns.size(),
            "each window has a floor");
  }
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ReadAnyFiles)

}  // namespace footprint
