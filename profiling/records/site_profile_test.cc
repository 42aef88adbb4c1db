#include "footprint/profiling/records/site_profile.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/records/site_record.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using profiling_internal::CallNode;
using profiling_internal::kMaxSites;
using profiling_internal::kNoModule;
using profiling_internal::kSiteMagic;
using profiling_internal::MappingSiteRecord;
using profiling_internal::ModuleRecord;
using profiling_internal::SiteFile;
using profiling_internal::SiteRecord;
using profiling_internal::TimePoint;

// Tests a sparse file of sites with one module, three nodes, two sites and a
// point.
class SiteProfileTest : public testing::Test {
 protected:
  SiteProfileTest()
      : path_(testing::TempDir() + "/x.sites"),
        file_(open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600)) {
    EXPECT_EQ(ftruncate(file_, sizeof(SiteFile)), 0);
    Set(offsetof(SiteFile, magic), kSiteMagic);
    Set(offsetof(SiteFile, tree.module_count), uint32_t{1});
    Set(offsetof(SiteFile, tree.node_count), uint32_t{3});
    Set(offsetof(SiteFile, site_count), uint32_t{2});
    Set(offsetof(SiteFile, time_point_count), uint32_t{1});
    ModuleRecord module = {};
    module.load_bias = 0x1000;
    module.build_id_size = 2;
    module.build_id[0] = 0xab;
    module.build_id[1] = 0x0c;
    std::strcpy(module.path, "/lib/libx.so");
    Set(offsetof(SiteFile, tree.modules), module);
    SetNode(1, {0x1234, 0, 0});
    SetNode(2, {0x99, 1, kNoModule});
    SiteRecord site = {};
    site.node = 2;
    site.thread = 5;
    site.peak_number = 3;
    site.at_peak_bytes = 700;
    site.live_bytes = 100;
    site.allocated_bytes = 900;
    SetSite(1, site);
    Set(offsetof(SiteFile, time_points), TimePoint{11, 22, 1, 0});
  }
  ~SiteProfileTest() override { close(file_); }

  template <typename T>
  void Set(size_t offset, const T& value) {
    ASSERT_EQ(pwrite(file_, &value, sizeof(value), static_cast<off_t>(offset)),
              static_cast<ssize_t>(sizeof(value)));
  }
  void SetNode(size_t i, const CallNode& node) {
    Set(offsetof(SiteFile, tree.nodes) + i * sizeof(node), node);
  }
  void SetMappingSite(size_t i, const MappingSiteRecord& site) {
    Set(offsetof(SiteFile, mapping_sites) + i * sizeof(site), site);
  }
  void SetSite(size_t i, const SiteRecord& site) {
    Set(offsetof(SiteFile, sites) + i * sizeof(site), site);
  }

  const std::string path_;
  const int file_;
};

TEST_F(SiteProfileTest, IsWhatTheFileHolds) {
  Set(offsetof(SiteFile, sampling_interval_bytes), int64_t{4096});
  const auto profile = ReadSiteProfile(path_, /*peak_number=*/3);
  ASSERT_THAT(profile, IsOk());
  EXPECT_EQ(profile->sampling_interval_bytes, 4096);
  ASSERT_EQ(profile->modules.size(), 1u);
  EXPECT_EQ(profile->modules[0].path, "/lib/libx.so");
  EXPECT_EQ(profile->modules[0].build_id, "ab0c");
  ASSERT_EQ(profile->nodes.size(), 2u);
  EXPECT_EQ(profile->nodes[0].address, 0x234u);
  EXPECT_EQ(profile->nodes[0].parent, SiteProfile::kNone);
  EXPECT_EQ(profile->nodes[1].address, 0x99u);
  EXPECT_EQ(profile->nodes[1].module, SiteProfile::kNone);
  EXPECT_EQ(profile->nodes[1].parent, 0);
  ASSERT_EQ(profile->sites.size(), 2u);
  EXPECT_EQ(profile->sites[0].node, SiteProfile::kNone);
  EXPECT_EQ(profile->sites[1].node, 1);
  EXPECT_EQ(profile->sites[1].thread, 5u);
  EXPECT_EQ(profile->sites[1].at_peak.bytes, 700);
  EXPECT_EQ(profile->sites[1].at_end.bytes, 100);
  ASSERT_EQ(profile->timeline.size(), 1u);
  EXPECT_EQ(profile->timeline[0].live_bytes, 22);
}

// The figures at the peak of a site that has not changed since are its live
// ones.
TEST_F(SiteProfileTest, FiguresAtThePeakAreKeptOnlyWhereTheyChanged) {
  Set(offsetof(SiteFile, sampling_interval_bytes), int64_t{4096});
  const auto profile = ReadSiteProfile(path_, /*peak_number=*/4);
  ASSERT_THAT(profile, IsOk());
  EXPECT_EQ(profile->sites[1].at_peak.bytes, 100);
}

TEST_F(SiteProfileTest, WithoutSamplingThePeakIsTheSites) {
  Set(offsetof(SiteFile, peak_number), uint64_t{3});
  const auto profile = ReadSiteProfile(path_, /*peak_number=*/4);
  ASSERT_THAT(profile, IsOk());
  EXPECT_EQ(profile->sites[1].at_peak.bytes, 700);
}

// The second site has not changed since the peak of mapped bytes.
TEST_F(SiteProfileTest, MappingsHaveTheirOwnPeak) {
  Set(offsetof(SiteFile, mapping_site_count), uint32_t{2});
  Set(offsetof(SiteFile, mapped_peak_number), uint64_t{6});
  SetMappingSite(0, {2, 1, /*peak_number=*/6, /*mapped_bytes=*/4096,
                     /*at_peak_bytes=*/8192});
  SetMappingSite(1, {0, 0, /*peak_number=*/5, /*mapped_bytes=*/12288,
                     /*at_peak_bytes=*/0});
  const auto profile = ReadSiteProfile(path_, /*peak_number=*/3);
  ASSERT_THAT(profile, IsOk());
  ASSERT_EQ(profile->mapping_sites.size(), 2u);
  EXPECT_EQ(profile->mapping_sites[0].node, 1);
  EXPECT_EQ(profile->mapping_sites[0].stage, 1u);
  EXPECT_EQ(profile->mapping_sites[0].at_peak_bytes, 8192);
  EXPECT_EQ(profile->mapping_sites[1].node, SiteProfile::kNone);
  EXPECT_EQ(profile->mapping_sites[1].at_peak_bytes, 12288);
}

TEST_F(SiteProfileTest, IndicesThatLeadNowhereAreRefused) {
  const auto expect_damaged = [&](absl::string_view what) {
    EXPECT_THAT(
        ReadSiteProfile(path_, 0),
        StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr(what)));
  };
  SetNode(2, {0x99, 2, kNoModule});
  expect_damaged("its own parent");
  SetNode(2, {0x99, 1, kNoModule});
  SiteRecord site = {};
  site.node = 9;
  SetSite(1, site);
  expect_damaged("no stack");
  site.node = 2;
  SetSite(1, site);
  Set(offsetof(SiteFile, mapping_site_count), uint32_t{1});
  SetMappingSite(0, {9, 0, 0, 0, 0});
  expect_damaged("a mapping has no stack");
  Set(offsetof(SiteFile, mapping_site_count), uint32_t{0});
  Set(offsetof(SiteFile, site_count), kMaxSites + 1);
  expect_damaged("longer than it can be");
  Set(offsetof(SiteFile, magic), uint64_t{1});
  expect_damaged("this version");
}

TEST_F(SiteProfileTest, AFileThatWasCutShortIsRefused) {
  ASSERT_EQ(ftruncate(file_, 5000), 0);
  EXPECT_THAT(ReadSiteProfile(path_, 0), StatusIs(absl::StatusCode::kDataLoss));
  ASSERT_EQ(ftruncate(file_, 5), 0);
  EXPECT_THAT(ReadSiteProfile(path_, 0), StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace footprint
