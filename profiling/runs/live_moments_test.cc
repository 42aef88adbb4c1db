#include "footprint/profiling/runs/live_moments.h"

#include <cstdint>
#include <limits>
#include <vector>

#include "footprint/profiling/records/growth_profile.h"
#include "footprint/profiling/records/site_profile.h"
#include "footprint/profiling/runs/call_forest.h"
#include "footprint/profiling/runs/native_calls.h"
#include "footprint/profiling/symbols/symbolizer.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

class LiveMomentsTest : public testing::Test {
 protected:
  LiveMomentsTest() {
    profile_.modules = {{"/no/such/program", "", 0, 0}};
    for (int i = 0; i < 3; ++i) {
      profile_.nodes.push_back({CallTree::kNone, 0, 0x1000ull + 16 * i});
    }
    growth_.begin_time_ns = {10, 20, 30};
  }

  void AddSite(int node, const std::vector<double>& begin_bytes) {
    profile_.sites.emplace_back();
    profile_.sites.back().node = node;
    growth_.sites.emplace_back();
    growth_.sites.back().begin_bytes = begin_bytes;
  }

  void Set() {
    NativeCalls calls(profile_.modules, profile_.nodes, &symbolizer_, &forest_);
    SetMoments(profile_, growth_, &calls, &image_);
  }

  // Returns the bytes at a moment of the stack whose innermost function this
  // is.
  int64_t BytesOf(int moment, const std::string& function) const {
    const LiveMoment& each = image_.moments(moment);
    int64_t bytes = 0;
    for (int i = 0; i < each.calls_size(); ++i) {
      const uint32_t call = each.calls(i);
      const std::string name =
          call == 0
              ? ""
              : run_.frames(static_cast<int>(
                                run_.calls(static_cast<int>(call) - 1).frame()))
                    .function();
      if (name == function) bytes += each.bytes(i);
    }
    return bytes;
  }

  SiteProfile profile_;
  GrowthProfile growth_;
  Symbolizer symbolizer_;
  MeasuredRun run_;
  CallForest forest_{&run_};
  MeasuredImage image_;
};

TEST_F(LiveMomentsTest, EachMomentHasWhatWasLiveThen) {
  AddSite(0, {0, 100, 50});
  AddSite(1, {1, 0, 0});
  Set();
  ASSERT_EQ(image_.moments_size(), 3);
  EXPECT_EQ(image_.moments(1).time_ns(), 20);
  EXPECT_EQ(BytesOf(0, "program+0x1000"), 0);
  EXPECT_EQ(BytesOf(1, "program+0x1000"), 100);
  EXPECT_EQ(BytesOf(2, "program+0x1000"), 50);
  EXPECT_EQ(BytesOf(0, "program+0x1010"), 1);
  EXPECT_EQ(image_.moments(1).calls_size(), 1) << "nothing of who has nothing";
}

TEST_F(LiveMomentsTest, SitesOfOneStackAreOne) {
  AddSite(0, {0, 100, 50});
  AddSite(0, {0, 10, 5});
  Set();
  EXPECT_EQ(BytesOf(1, "program+0x1000"), 110);
  EXPECT_EQ(image_.moments(1).calls_size(), 1);
}

TEST_F(LiveMomentsTest, WhatHasNoStackIsOfNoCall) {
  AddSite(SiteProfile::kNone, {7, 7, 7});
  Set();
  EXPECT_EQ(BytesOf(0, ""), 7);
}

TEST_F(LiveMomentsTest, SitesThatWereNotFollowedHaveNothing) {
  AddSite(0, {});
  Set();
  EXPECT_EQ(image_.moments_size(), 3);
  EXPECT_EQ(image_.moments(2).calls_size(), 0);
}

TEST_F(LiveMomentsTest, DamageGivesNoFigure) {
  AddSite(0, {-5, std::numeric_limits<double>::quiet_NaN(), 1e300});
  Set();
  for (const LiveMoment& moment : image_.moments()) {
    EXPECT_EQ(moment.calls_size(), 0);
  }
  growth_.begin_time_ns = {10, 5, 30};
  image_.clear_moments();
  Set();
  EXPECT_EQ(image_.moments_size(), 1);
}

}  // namespace
}  // namespace footprint
