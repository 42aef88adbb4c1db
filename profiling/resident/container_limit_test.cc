#include "footprint/profiling/resident/container_limit.h"

#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;

SharedOnce Seen() {
  SharedOnce seen;
  seen.anonymous_bytes = 60 * kMebibyte;
  seen.file_bytes = 28 * kMebibyte;
  seen.swapped_bytes = 4 * kMebibyte;
  seen.page_table_bytes = 1 * kMebibyte;
  seen.kernel_stack_bytes = 1 * kMebibyte;
  seen.resident_sum_bytes = 120 * kMebibyte;
  return seen;
}

TEST(ContainerLimitTest, AddsTheKernelsShareAndATwentieth) {
  const ContainerLimit limit =
      RecommendContainerLimit(Seen(), Seen(), 126 * kMebibyte, 0);
  // One process had 6 MiB more than the samples of all together.
  EXPECT_EQ(limit.resident_bytes, (88 + 6 + 4) * kMebibyte);
  EXPECT_EQ(limit.kernel_bytes, 2 * kMebibyte);
  EXPECT_EQ(limit.margin_bytes, 5 * kMebibyte);
  EXPECT_EQ(limit.bytes, 105 * kMebibyte);
}

// Ten forks have the same pages.
TEST(ContainerLimitTest, WhatIsSharedDoesNotGrowWithTheSum) {
  SharedOnce seen = Seen();
  seen.resident_sum_bytes = 1200 * kMebibyte;
  EXPECT_EQ(
      RecommendContainerLimit(seen, seen, 120 * kMebibyte, 0).resident_bytes,
      92 * kMebibyte);
}

TEST(ContainerLimitTest, FilesInMemoryThatNobodyHasMappedCount) {
  SharedOnce seen = Seen();
  seen.memory_file_bytes = 60 * kMebibyte;
  const ContainerLimit limit = RecommendContainerLimit(seen, seen, 0, 0);
  EXPECT_EQ(limit.memory_file_bytes, 60 * kMebibyte);
  EXPECT_EQ(limit.resident_bytes, 92 * kMebibyte);
  EXPECT_GE(limit.bytes, (92 + 60 + 2) * kMebibyte);
}

// A process had all of it mapped, and was no larger than that.
TEST(ContainerLimitTest, AFileInMemoryThatWasMappedOnceCountsOnce) {
  SharedOnce seen;
  seen.anonymous_bytes = 2 * kMebibyte;
  seen.memory_file_bytes = 50 * kMebibyte;
  seen.resident_sum_bytes = 2 * kMebibyte;
  EXPECT_EQ(RecommendContainerLimit(seen, seen, 52 * kMebibyte, 0).bytes,
            55 * kMebibyte);
}

TEST(ContainerLimitTest, MappedFilesAreToldBesideIt) {
  SharedOnce seen = Seen();
  seen.file_bytes += 100 * kMebibyte;
  seen.droppable_bytes = 100 * kMebibyte;
  const ContainerLimit limit = RecommendContainerLimit(seen, seen, 0, 0);
  EXPECT_EQ(limit.bytes, RecommendContainerLimit(Seen(), Seen(), 0, 0).bytes);
  EXPECT_EQ(limit.mapped_file_bytes, 105 * kMebibyte);
}

TEST(ContainerLimitTest, HasRoomForFilesAsSmallAsItsMargin) {
  SharedOnce seen = Seen();
  seen.droppable_bytes = 4 * kMebibyte;
  const ContainerLimit limit = RecommendContainerLimit(seen, seen, 0, 0);
  EXPECT_EQ(limit.bytes, 99 * kMebibyte);
  EXPECT_EQ(limit.mapped_file_bytes, 0);
}

// The program closes a mapped file, and then has more of its own than before.
TEST(ContainerLimitTest, TheLimitIsThatOfTheMomentWhenMostWasHeld) {
  SharedOnce seen = Seen();
  seen.anonymous_bytes = 10 * kMebibyte;
  seen.file_bytes += 100 * kMebibyte;
  seen.droppable_bytes = 100 * kMebibyte;
  const ContainerLimit limit = RecommendContainerLimit(seen, Seen(), 0, 0);
  EXPECT_EQ(limit.resident_bytes, 92 * kMebibyte);
  EXPECT_EQ(limit.bytes, 99 * kMebibyte);
  EXPECT_EQ(limit.mapped_file_bytes, (152 - 99) * kMebibyte);
}

TEST(ContainerLimitTest, IsWholeMebibytesUpwards) {
  SharedOnce seen = Seen();
  // The sum is 92 and 2 MiB, and its twentieth is a whole number of bytes.
  seen.kernel_stack_bytes += 6 * kMebibyte;
  EXPECT_EQ(RecommendContainerLimit(seen, seen, 0, 0).bytes, 105 * kMebibyte);
  seen.anonymous_bytes += 1;
  EXPECT_EQ(RecommendContainerLimit(seen, seen, 0, 0).bytes, 106 * kMebibyte);
}

TEST(ContainerLimitTest, TakesNothingOffForAPeakBelowWhatWasSeen) {
  EXPECT_EQ(RecommendContainerLimit(Seen(), Seen(), 0, 0).resident_bytes,
            92 * kMebibyte);
}

TEST(ContainerLimitTest, HasRoomForHeapsThatNoLookSaw) {
  EXPECT_EQ(RecommendContainerLimit(Seen(), Seen(), 0, 100 * kMebibyte)
                .resident_bytes,
            (28 + 100 + 4) * kMebibyte);
}

TEST(ContainerLimitTest, RecommendsNothingWhereNothingWasSeen) {
  EXPECT_EQ(RecommendContainerLimit({}, {}, 126 * kMebibyte, 0).bytes, 0);
}

TEST(PeakHeapSumTest, AddsWhatIsLiveAtOnce) {
  const std::vector<HeapOverTime> heaps = {
      {0, 100, {{0, 10}, {50, 90}, {60, 20}}, 1000},
      {40, 58, {{40, 5}, {55, 70}}, 1000},
  };
  // At time 55 they have 90 and 70.
  EXPECT_EQ(PeakHeapSumBytes(heaps), 160);
}

TEST(PeakHeapSumTest, AProcessThatHasEndedHasNothing) {
  const std::vector<HeapOverTime> heaps = {
      {0, 50, {{0, 100}}, 1000},
      {50, 80, {{50, 100}}, 1000},
  };
  EXPECT_EQ(PeakHeapSumBytes(heaps), 100);
  EXPECT_EQ(PeakHeapSumBytes({heaps[1], heaps[0]}), 100);
}

TEST(PeakHeapSumTest, CountsNoMoreThanWasEverResident) {
  EXPECT_EQ(PeakHeapSumBytes({{0, 9, {{0, 5000}}, 300}}), 300);
  EXPECT_EQ(PeakHeapSumBytes({{0, 9, {{0, -5}}, 300}}), 0);
  EXPECT_EQ(PeakHeapSumBytes({}), 0);
}

}  // namespace
}  // namespace footprint
