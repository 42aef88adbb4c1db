#include "footprint/profiling/sites/site_growth.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/records/growth_profile.h"
#include "footprint/profiling/records/site_profile.h"
#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

constexpr int64_t kWindowNs = 1'000'000;

class SiteGrowthTest : public testing::Test {
 protected:
  SiteGrowthTest()
      : folder_(open(testing::TempDir().c_str(), O_PATH | O_DIRECTORY)) {
    unlink(Path().c_str());
    growth_.Begin(folder_, "x.growth", /*now_ns=*/0);
  }
  ~SiteGrowthTest() override {
    growth_.Close();
    unlink(Path().c_str());
    close(folder_);
  }

  static std::string Path() { return testing::TempDir() + "/x.growth"; }

  GrowthProfile Read(const std::vector<int64_t>& live_bytes) {
    SiteProfile profile;
    for (int64_t bytes : live_bytes) {
      profile.sites.emplace_back();
      profile.sites.back().at_end.bytes = bytes;
    }
    const absl::StatusOr<GrowthProfile> growth =
        ReadGrowthProfile(Path(), profile);
    EXPECT_THAT(growth, IsOk());
    return growth.ok() ? *growth : GrowthProfile();
  }

  const int folder_;
  SiteGrowth growth_;
};

// Computes the floors from the whole history, which it keeps.
class NaiveGrowth {
 public:
  void Change(int64_t live_bytes_before, int64_t live_bytes_after) {
    NextWindows();
    floors_.back() = std::min(floors_.back(), live_bytes_after);
    (void)live_bytes_before;
    live_bytes_ = live_bytes_after;
  }
  void BeginWindow() { ++window_count_; }

  // Returns the floors of windows that each consist of `small_windows` small
  // ones.
  std::vector<double> Floors(size_t small_windows) {
    NextWindows();
    std::vector<double> floors;
    for (size_t i = 0; i < floors_.size(); i += small_windows) {
      const size_t end = std::min(i + small_windows, floors_.size());
      floors.push_back(static_cast<double>(*std::min_element(
          floors_.begin() + static_cast<std::ptrdiff_t>(i),
          floors_.begin() + static_cast<std::ptrdiff_t>(end))));
    }
    return floors;
  }

  // Returns the live bytes at the start of each of those windows.
  std::vector<double> Begins(size_t small_windows) {
    NextWindows();
    std::vector<double> begins;
    for (size_t i = 0; i < begins_.size(); i += small_windows) {
      begins.push_back(static_cast<double>(begins_[i]));
    }
    return begins;
  }

 private:
  void NextWindows() {
    while (floors_.size() < window_count_) {
      floors_.push_back(live_bytes_);
      begins_.push_back(live_bytes_);
    }
  }

  std::vector<int64_t> floors_ = {0};
  std::vector<int64_t> begins_ = {0};
  size_t window_count_ = 1;
  int64_t live_bytes_ = 0;
};

TEST_F(SiteGrowthTest, FloorsAreTheLeastOfEachWindow) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    unlink(Path().c_str());
    growth_.Begin(folder_, "x.growth", 0);
    RandomSequence random(seed);
    std::vector<NaiveGrowth> naive(3);
    std::vector<int64_t> live(3);
    size_t windows = 1;
    const size_t all_windows = 1 + random.Below(200);
    while (windows < all_windows) {
      const size_t site = random.Below(3);
      const auto after = static_cast<int64_t>(random.Below(1000)) + 1;
      // Site 2 changes rarely, so it stays unchanged for many windows.
      if (site != 2 || random.Below(50) == 0) {
        growth_.Change(static_cast<uint32_t>(site), live[site], after);
        naive[site].Change(live[site], after);
        live[site] = after;
      }
      if (random.Below(4) == 0) {
        growth_.Advance(static_cast<int64_t>(windows) * kWindowNs, kWindowNs);
        for (NaiveGrowth& each : naive) each.BeginWindow();
        ++windows;
      }
    }
    size_t small_windows = 1;
    while (24 * small_windows < windows) small_windows *= 2;
    const GrowthProfile growth = Read(live);
    for (size_t site = 0; site < 3; ++site) {
      if (live[site] == 0) continue;
      EXPECT_EQ(growth.sites[site].floor_bytes,
                naive[site].Floors(small_windows))
          << "seed " << seed << ", site " << site;
      EXPECT_EQ(growth.sites[site].begin_bytes,
                naive[site].Begins(small_windows))
          << "seed " << seed << ", site " << site;
    }
    EXPECT_EQ(growth.begin_time_ns.size(),
              (windows + small_windows - 1) / small_windows);
    for (size_t i = 0; i < growth.begin_time_ns.size(); ++i) {
      EXPECT_EQ(growth.begin_time_ns[i],
                static_cast<int64_t>(i * small_windows) * kWindowNs);
    }
  }
}

TEST_F(SiteGrowthTest, TellsWhenASiteBegan) {
  for (int i = 0; i < 9; ++i) growth_.Advance(i, kWindowNs);
  growth_.Change(1, 0, 100);
  const GrowthProfile growth = Read({0, 100, 0});
  EXPECT_TRUE(growth.sites[0].floor_bytes.empty());
  EXPECT_TRUE(growth.sites[2].floor_bytes.empty());
  EXPECT_EQ(growth.sites[1].first_window, 9);
  EXPECT_EQ(growth.sites[1].floor_bytes, std::vector<double>(10, 0));
}

TEST_F(SiteGrowthTest, AFileOfAnotherKindIsRefused) {
  const int file = open(Path().c_str(), O_WRONLY);
  const uint64_t other = 5;
  ASSERT_EQ(pwrite(file, &other, sizeof(other), 0), 8);
  close(file);
  EXPECT_THAT(ReadGrowthProfile(Path(), {}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(SiteGrowthTest, WithoutAFileNothingIsFollowed) {
  growth_.Begin(folder_, "no/such/folder", 0);
  growth_.Change(1, 0, 5);
  growth_.Advance(1, kWindowNs);
}

}  // namespace
}  // namespace footprint::profiling_internal
