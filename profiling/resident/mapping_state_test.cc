#include "footprint/profiling/resident/mapping_state.h"

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/heap/published_mappings.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using profiling_internal::kMappingsMagic;
using profiling_internal::kMaxProgramRanges;
using profiling_internal::PublishedMappings;

std::unique_ptr<PublishedMappings> Published() {
  auto published = std::make_unique<PublishedMappings>();
  published->magic = kMappingsMagic;
  published->generation = 8;
  published->range_count = 2;
  published->live_bytes = 123;
  published->ranges[0] = {0x1000, 0x3000};
  published->ranges[1] = {0x8000, 0x9000};
  published->agent_ranges[3].begin = 0xa000;
  published->agent_ranges[3].end = 0xc000;
  // The end of this range is not stored yet.
  published->agent_ranges[4].begin = 0xd000;
  return published;
}

// Writes it to a file of this test.
std::string WriteToString(const PublishedMappings& published) {
  std::string path = absl::StrCat(
      testing::TempDir(), "/",
      testing::UnitTest::GetInstance()->current_test_info()->name());
  EXPECT_THAT(
      ReplaceFile(
          path, {reinterpret_cast<const char*>(&published), sizeof(published)},
          ToDisk::kNoFsync),
      IsOk());
  return path;
}

TEST(MappingStateTest, ReadsRangesAndLiveBytes) {
  const absl::StatusOr<MappingState> state =
      ReadMappingState(WriteToString(*Published()));
  ASSERT_THAT(state.status(), IsOk());
  ASSERT_EQ(state->ranges.mapped.size(), 2u);
  EXPECT_EQ(state->ranges.mapped[0].begin, 0x1000u);
  EXPECT_EQ(state->ranges.mapped[1].end, 0x9000u);
  ASSERT_EQ(state->ranges.agent.size(), 1u);
  EXPECT_EQ(state->ranges.agent[0].begin, 0xa000u);
  EXPECT_EQ(state->ranges.agent[0].end, 0xc000u);
  EXPECT_EQ(state->live_bytes, 123);
  EXPECT_FALSE(state->is_cut);
}

TEST(MappingStateTest, WaitsForTheEndOfAChange) {
  auto published = Published();
  published->generation = 9;
  EXPECT_THAT(ReadMappingState(WriteToString(*published)).status(),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST(MappingStateTest, RefusesAnotherVersionAndOneCutShort) {
  auto published = Published();
  published->magic ^= 1;
  EXPECT_THAT(ReadMappingState(WriteToString(*published)).status(),
              StatusIs(absl::StatusCode::kInvalidArgument));
  const std::string path = WriteToString(*Published());
  ASSERT_THAT(ReplaceFile(path, "MappingState", ToDisk::kNoFsync), IsOk());
  EXPECT_THAT(ReadMappingState(path).status(),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(MappingStateTest, RefusesMoreRangesThanThereIsRoomFor) {
  auto published = Published();
  published->range_count = kMaxProgramRanges + 1;
  EXPECT_THAT(ReadMappingState(WriteToString(*published)).status(),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace footprint
