// Tests what suspected_leaks.h promises.

#include "footprint/profiling/runs/suspected_leaks.h"

#include <vector>

#include "footprint/profiling/records/growth_profile.h"
#include "footprint/profiling/records/site_profile.h"
#include "footprint/profiling/runs/call_forest.h"
#include "footprint/profiling/runs/native_calls.h"
#include "footprint/profiling/symbols/symbolizer.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int kWindows = 16;
constexpr int64_t kSecondNs = 1'000'000'000;

// A process with some stacks, whose sites are followed for 16 s.
class SuspectedLeaksTest : public testing::Test {
 protected:
  SuspectedLeaksTest() {
    profile_.modules = {{"/no/such/program", "", 0, 0}};
    for (int i = 0; i < kWindows; ++i) {
      growth_.begin_time_ns.push_back(i * kSecondNs);
    }
    image_.set_peak_live_bytes(100'000);
  }

  // Adds a site of the stack with that number. From `first_window` on, it has
  // `step` more bytes in each window.
  void AddSite(int node, int first_window, double step) {
    while (static_cast<int>(profile_.nodes.size()) <= node) {
      profile_.nodes.push_back(
          {CallTree::kNone, 0, 0x1000 + 16 * profile_.nodes.size()});
    }
    SiteProfile::Site site;
    site.node = node;
    site.at_end.bytes = static_cast<int64_t>(step * kWindows);
    site.allocated.bytes = 1'000'000;
    site.sample_count = 1'000'000;
    profile_.sites.push_back(site);
    GrowthProfile::Site floors;
    floors.first_window = first_window;
    for (int i = 0; i < kWindows; ++i) {
      floors.floor_bytes.push_back(i < first_window ? 0 : step * (i + 1));
    }
    growth_.sites.push_back(floors);
  }

  void SetLeaks() {
    NativeCalls calls(profile_.modules, profile_.nodes, &symbolizer_, &forest_);
    SetSuspectedLeaks(profile_, growth_, &calls, &image_);
  }

  SiteProfile profile_;
  GrowthProfile growth_;
  Symbolizer symbolizer_;
  MeasuredRun run_;
  CallForest forest_{&run_};
  MeasuredImage image_;
};

TEST_F(SuspectedLeaksTest, WhatGrowsAllTheWhileIsSuspected) {
  AddSite(0, 0, 0);
  AddSite(1, 0, 1000);
  SetLeaks();
  ASSERT_EQ(image_.suspected_leaks_size(), 1);
  const SuspectedLeak& leak = image_.suspected_leaks(0);
  EXPECT_GE(leak.probability(), 0.75);
  EXPECT_EQ(leak.live_bytes(), 16'000);
  EXPECT_DOUBLE_EQ(leak.growth_bytes_per_s(), 1000);
  const uint32_t frame = run_.calls(static_cast<int>(leak.call()) - 1).frame();
  EXPECT_EQ(run_.frames(static_cast<int>(frame)).function(), "program+0x1010");
}

TEST_F(SuspectedLeaksTest, GrowthBelowAHundredthOfThePeakIsNone) {
  AddSite(0, 0, 60);
  SetLeaks();
  EXPECT_EQ(image_.suspected_leaks_size(), 0);
}

// Each thread's part may be too small to decide.
TEST_F(SuspectedLeaksTest, SitesOfAStackGrowTogether) {
  AddSite(0, 0, 60);
  AddSite(0, 5, 60);
  SetLeaks();
  ASSERT_EQ(image_.suspected_leaks_size(), 1);
  EXPECT_EQ(image_.suspected_leaks(0).live_bytes(), 1920);
  // The bytes grow from 60 to 1,920 since the first of the two sites began.
  EXPECT_DOUBLE_EQ(image_.suspected_leaks(0).growth_bytes_per_s(), 1860.0 / 15);
}

TEST_F(SuspectedLeaksTest, BytesBeforeTheRecordAreNoLeak) {
  AddSite(0, 0, 1000);
  profile_.sites[0].node = SiteProfile::kNone;
  AddSite(1, 0, 1000);
  profile_.nodes[1].module = 1;
  profile_.modules.push_back({"/tmp/memprof-1/agent.so", "", 0, 0});
  SetLeaks();
  EXPECT_EQ(image_.suspected_leaks_size(), 0) << "nor is the agent's own";
}

TEST_F(SuspectedLeaksTest, FewSamplesTellNothing) {
  AddSite(0, 0, 1000);
  profile_.sites[0].sample_count = 3;
  SetLeaks();
  EXPECT_EQ(image_.suspected_leaks_size(), 0);
}

TEST_F(SuspectedLeaksTest, TheSurestAndThenTheLargestStandFirst) {
  AddSite(0, 8, 2000);
  AddSite(1, 0, 1000);
  AddSite(2, 0, 3000);
  SetLeaks();
  ASSERT_EQ(image_.suspected_leaks_size(), 3);
  EXPECT_EQ(image_.suspected_leaks(0).live_bytes(), 48'000);
  EXPECT_EQ(image_.suspected_leaks(1).live_bytes(), 16'000);
  EXPECT_EQ(image_.suspected_leaks(2).live_bytes(), 32'000);
  EXPECT_LT(image_.suspected_leaks(2).probability(),
            image_.suspected_leaks(1).probability());
  EXPECT_DOUBLE_EQ(image_.suspected_leaks(2).growth_bytes_per_s(), 2000);
}

}  // namespace
}  // namespace footprint
