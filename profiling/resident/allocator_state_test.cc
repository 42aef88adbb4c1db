#include "footprint/profiling/resident/allocator_state.h"

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using profiling_internal::kAllocatorMagic;
using profiling_internal::kMaxAllocatorRanges;
using profiling_internal::PublishedAllocator;

std::unique_ptr<PublishedAllocator> Published() {
  auto published = std::make_unique<PublishedAllocator>();
  published->magic = kAllocatorMagic;
  published->generation = 8;
  published->range_count = 2;
  published->books.live_bytes = 123;
  published->ranges[0] = {0x1000, 0x3000};
  published->ranges[1] = {0x8000, 0x9000};
  published->agent_ranges[3].begin = 0xa000;
  published->agent_ranges[3].end = 0xc000;
  // This one is not stored to its end.
  published->agent_ranges[4].begin = 0xd000;
  return published;
}

// Writes it to a file of the test's own.
std::string FileOf(const PublishedAllocator& published) {
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

TEST(AllocatorStateTest, ReadsRangesAndBooks) {
  const absl::StatusOr<AllocatorState> state =
      ReadAllocatorState(FileOf(*Published()));
  ASSERT_THAT(state.status(), IsOk());
  ASSERT_EQ(state->ranges.allocator.size(), 2u);
  EXPECT_EQ(state->ranges.allocator[0].begin, 0x1000u);
  EXPECT_EQ(state->ranges.allocator[1].end, 0x9000u);
  ASSERT_EQ(state->ranges.agent.size(), 1u);
  EXPECT_EQ(state->ranges.agent[0].begin, 0xa000u);
  EXPECT_EQ(state->ranges.agent[0].end, 0xc000u);
  EXPECT_EQ(state->books.live_bytes, 123);
  EXPECT_FALSE(state->is_cut);
}

TEST(AllocatorStateTest, WaitsForTheEndOfAChange) {
  auto published = Published();
  published->generation = 9;
  EXPECT_THAT(ReadAllocatorState(FileOf(*published)).status(),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST(AllocatorStateTest, RefusesAnotherVersionAndOneCutShort) {
  auto published = Published();
  published->magic ^= 1;
  EXPECT_THAT(ReadAllocatorState(FileOf(*published)).status(),
              StatusIs(absl::StatusCode::kInvalidArgument));
  const std::string path = FileOf(*Published());
  ASSERT_THAT(ReplaceFile(path, "AllocatorState", ToDisk::kNoFsync), IsOk());
  EXPECT_THAT(ReadAllocatorState(path).status(),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(AllocatorStateTest, RefusesMoreRangesThanThereIsRoomFor) {
  auto published = Published();
  published->range_count = kMaxAllocatorRanges + 1;
  EXPECT_THAT(ReadAllocatorState(FileOf(*published)).status(),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace footprint
