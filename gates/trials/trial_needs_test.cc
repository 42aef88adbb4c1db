#include "footprint/gates/trials/trial_needs.h"

#include <cstdint>
#include <filesystem>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/bundles/bundle.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int64_t kMiB = 1 << 20;

class TrialNeedsTest : public testing::Test {
 protected:
  TrialNeeds Compute() const { return ComputeTrialNeeds(request_, manifest_); }

  TrialRequest request_;
  BundleManifest manifest_;
};

// A run may take twice the budget and 64 MiB, and the program that tries 64 MiB
// more.
TEST_F(TrialNeedsTest, MemoryIsThatOfTheLargestRun) {
  request_.set_is_unexplained(true);
  request_.set_budget_bytes(100 * kMiB);
  EXPECT_EQ(Compute().memory_bytes, (2 * 100 + 64 + 64) * kMiB);
  request_.set_budget_bytes(1000 * kMiB);
  EXPECT_EQ(Compute().memory_bytes, (2 * 1000 + 64 + 64) * kMiB);
  request_.set_is_unexplained(false);
  EXPECT_EQ(Compute().memory_bytes, (2 * 1000 + 64 + 256 + 64) * kMiB);
  // A small program's profile is read by a process that may take 1 GiB.
  request_.set_budget_bytes(10 * kMiB);
  EXPECT_EQ(Compute().memory_bytes, (1024 + 64) * kMiB);
}

TEST_F(TrialNeedsTest, ASmallProgramNeedsWhatUnpackingNeeds) {
  request_.set_is_unexplained(true);
  request_.set_budget_bytes(1);
  EXPECT_EQ(Compute().memory_bytes, 256 * kMiB);
}

TEST_F(TrialNeedsTest, TimeIsThatOfAllRuns) {
  request_.set_is_unexplained(true);
  request_.set_time_limit_seconds(100);
  manifest_.set_time_limit_seconds(10);
  const int64_t unpacking = 900;
  EXPECT_EQ(Compute().seconds, unpacking + 3 * 10);
  request_.set_is_unexplained(false);
  const int64_t explained = Compute().seconds;
  EXPECT_GT(explained, unpacking + 7 * 10);
  request_.add_threshold_paths("models.textproto");
  EXPECT_EQ(Compute().seconds, explained + 10);
  manifest_.clear_time_limit_seconds();
  EXPECT_EQ(Compute().seconds, explained + 10 + 8 * (100 - 10));
}

TEST_F(TrialNeedsTest, NoBudgetOverflows) {
  for (const int64_t budget_bytes : {INT64_MAX, INT64_MAX / 2}) {
    request_.set_budget_bytes(budget_bytes);
    EXPECT_GE(Compute().memory_bytes, int64_t{1} << 50);
    EXPECT_LE(Compute().memory_bytes, int64_t{1} << 51);
  }
}

TEST_F(TrialNeedsTest, AnUnknownDeviceNeedsNoRun) {
  manifest_.set_device("unknown");
  EXPECT_EQ(Compute().memory_bytes, 256 * kMiB);
}

TEST_F(TrialNeedsTest, ReadsTheManifestOfABundle) {
  std::filesystem::create_directories(TestPath("folder"));
  WriteTestFile("folder/run.sh", "#!/bin/sh\n");
  WriteTestFile("folder/bundle.textproto",
                "schema_version: 1 kind: NATIVE_PROGRAM entry: \"run.sh\" "
                "budget_bytes: 1073741824 time_limit_seconds: 7");
  const std::string path = TestPath("needs.bundle");
  ASSERT_THAT(MakeBundle(TestPath("folder"), path), IsOk());
  request_.set_bundle_path(path);
  absl::StatusOr<TrialNeeds> needs = FindTrialNeeds(request_, {});
  ASSERT_THAT(needs, IsOk());
  EXPECT_EQ(needs->memory_bytes, (2 * 1024 + 64 + 256 + 64) * kMiB);
  EXPECT_THAT(FindTrialNeeds(request_, [] { return true; }),
              StatusIs(absl::StatusCode::kCancelled));
  // The trial will refuse a bundle above the request's own limit.
  request_.set_most_archive_bytes(100);
  needs = FindTrialNeeds(request_, {});
  ASSERT_THAT(needs, IsOk());
  EXPECT_EQ(needs->memory_bytes, 256 * kMiB);
  request_.clear_most_archive_bytes();
  request_.set_bundle_path(WriteTestFile("bad.bundle", "no archive"));
  needs = FindTrialNeeds(request_, {});
  ASSERT_THAT(needs, IsOk());
  EXPECT_EQ(needs->memory_bytes, 256 * kMiB);
  request_.set_bundle_path(TestPath("none"));
  EXPECT_THAT(FindTrialNeeds(request_, {}),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace footprint
