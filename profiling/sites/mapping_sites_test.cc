#include "footprint/profiling/sites/mapping_sites.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "footprint/profiling/records/site_record.h"
#include "footprint/profiling/sites/growing_file.h"
#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

class MappingSitesTest : public testing::Test {
 protected:
  MappingSitesTest()
      : folder_(open(testing::TempDir().c_str(), O_PATH | O_DIRECTORY)),
        sites_(static_cast<SiteFile*>(
            file_.Create(folder_, "x.sites", sizeof(SiteFile), 4096))) {
    EXPECT_NE(sites_, nullptr);
    EXPECT_TRUE(mappings_.Begin(&file_, sites_));
  }
  ~MappingSitesTest() override {
    mappings_.End();
    file_.Close();
    unlinkat(folder_, "x.sites", 0);
    close(folder_);
  }

  // Returns what the mappings of a node had at the peak, as a reader sees it.
  int64_t AtPeak(uint32_t node) const {
    const uint64_t peak = sites_->mapped_peak_number;
    int64_t sum_bytes = 0;
    for (uint32_t i = 0; i < sites_->mapping_site_count; ++i) {
      const MappingSiteRecord& site = sites_->mapping_sites[i];
      if (site.node != node) continue;
      sum_bytes +=
          site.peak_number == peak ? site.at_peak_bytes : site.mapped_bytes;
    }
    return sum_bytes;
  }

  const int folder_;
  GrowingFile file_;
  SiteFile* const sites_;
  MappingSites mappings_;
};

TEST_F(MappingSitesTest, ThePeakIsThatOfAllMappingsTogether) {
  EXPECT_TRUE(mappings_.Map(0x10000, 0x5000, /*node=*/1, /*stage=*/0));
  EXPECT_TRUE(mappings_.Map(0x20000, 0x2000, /*node=*/2, /*stage=*/0));
  EXPECT_TRUE(mappings_.Unmap(0x10000, 0x5000));
  EXPECT_TRUE(mappings_.Map(0x30000, 0x4000, /*node=*/2, /*stage=*/0));
  EXPECT_EQ(AtPeak(1), 0x5000);
  EXPECT_EQ(AtPeak(2), 0x2000);
  EXPECT_TRUE(mappings_.Map(0x40000, 0x2000, /*node=*/3, /*stage=*/0));
  EXPECT_EQ(AtPeak(1), 0);
  EXPECT_EQ(AtPeak(2), 0x6000);
  EXPECT_EQ(AtPeak(3), 0x2000);
}

TEST_F(MappingSitesTest, AMappingReplacesAnother) {
  EXPECT_TRUE(mappings_.Map(0x10000, 0x5000, /*node=*/1, /*stage=*/0));
  EXPECT_TRUE(mappings_.Map(0x11000, 0x5000, /*node=*/2, /*stage=*/0));
  EXPECT_EQ(AtPeak(1), 0x1000);
  EXPECT_EQ(AtPeak(2), 0x5000);
}

TEST_F(MappingSitesTest, StagesAreApart) {
  EXPECT_TRUE(mappings_.Map(0x10000, 0x1000, /*node=*/1, /*stage=*/0));
  EXPECT_TRUE(mappings_.Map(0x20000, 0x1000, /*node=*/1, /*stage=*/4));
  EXPECT_TRUE(mappings_.Map(0x30000, 0x1000, /*node=*/1, /*stage=*/4));
  ASSERT_EQ(sites_->mapping_site_count, 3u);
  EXPECT_EQ(sites_->mapping_sites[2].stage, 4u);
  EXPECT_EQ(sites_->mapping_sites[2].mapped_bytes, 0x2000);
}

// The child of a fork has its parent's mappings, whose calls are in the
// parent's file.
TEST_F(MappingSitesTest, ANewFileBeginsWithMappingsWithoutCalls) {
  EXPECT_TRUE(mappings_.Map(0x10000, 0x5000, /*node=*/1, /*stage=*/0));
  mappings_.End();
  GrowingFile file;
  auto* const sites = static_cast<SiteFile*>(
      file.Create(folder_, "y.sites", sizeof(SiteFile), 4096));
  ASSERT_NE(sites, nullptr);
  ASSERT_TRUE(mappings_.Begin(&file, sites));
  EXPECT_EQ(sites->mapping_sites[0].mapped_bytes, 0x5000);
  EXPECT_EQ(sites->mapping_sites[0].node, 0u);
  EXPECT_TRUE(mappings_.Unmap(0x10000, 0x4000));
  EXPECT_EQ(sites->mapping_sites[0].mapped_bytes, 0x1000);
  EXPECT_EQ(sites->mapping_sites[0].at_peak_bytes, 0x5000);
  mappings_.End();
  file.Close();
  unlinkat(folder_, "y.sites", 0);
}

TEST_F(MappingSitesTest, WithoutRoomForASiteTheCallsAreUnknown) {
  for (uint32_t node = 1; node < kMaxMappingSites; ++node) {
    ASSERT_TRUE(mappings_.Map(0x10000, 0x1000, node, /*stage=*/0));
  }
  EXPECT_FALSE(mappings_.Map(0x10000, 0x2000, kMaxMappingSites, /*stage=*/0));
  EXPECT_EQ(sites_->mapping_site_count, kMaxMappingSites);
  EXPECT_EQ(sites_->mapping_sites[0].mapped_bytes, 0x2000);
  EXPECT_TRUE(mappings_.Unmap(0x10000, 0x2000));
  EXPECT_EQ(sites_->mapping_sites[0].mapped_bytes, 0);
}

}  // namespace
}  // namespace footprint::profiling_internal
