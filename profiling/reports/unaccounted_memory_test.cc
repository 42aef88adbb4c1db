// Tests what unaccounted_memory.h promises.

#include "footprint/profiling/reports/unaccounted_memory.h"

#include <limits>

#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int64_t kMB = 1'000'000;

// Like node: 160 MB resident, 40 of them from files, 4 from the agent.
MeasuredImage ImageWithHeap(int64_t peak_live_bytes) {
  MeasuredImage image;
  image.set_peak_live_bytes(peak_live_bytes);
  image.set_peak_resident_bytes(160 * kMB);
  ResidentParts* const parts = image.mutable_resident_at_peak();
  parts->set_resident_bytes(150 * kMB);
  parts->set_anonymous_bytes(106 * kMB);
  parts->set_agent_bytes(4 * kMB);
  return image;
}

TEST(UnaccountedMemoryTest, FilesAndTheAgentAreNotTheProgramsMemory) {
  const MeasuredImage image = ImageWithHeap(16 * kMB);
  EXPECT_EQ(PeakResidentBytes(image), 156 * kMB);
  // 10 MB were added after the last sample.
  EXPECT_EQ(PeakAnonymousBytes(image), 116 * kMB);
  EXPECT_EQ(BytesBeyondHeap(image), 100 * kMB);
}

TEST(UnaccountedMemoryTest, AHeapThatLeavesOutMoreThanHalfTellsTooLittle) {
  EXPECT_TRUE(HeapTellsTooLittle(ImageWithHeap(16 * kMB)));
  EXPECT_TRUE(HeapTellsTooLittle(ImageWithHeap(58 * kMB - 1)));
  EXPECT_FALSE(HeapTellsTooLittle(ImageWithHeap(58 * kMB)));
  // Live bytes that were never touched exceed the resident bytes.
  EXPECT_FALSE(HeapTellsTooLittle(ImageWithHeap(1000 * kMB)));
  EXPECT_EQ(BytesBeyondHeap(ImageWithHeap(1000 * kMB)), 0);
}

TEST(UnaccountedMemoryTest, AnAllocatorsFirstArenasNeedNoExplanation) {
  MeasuredImage image;
  image.set_peak_live_bytes(4096);
  image.set_peak_resident_bytes(16 * kMB + 4096);
  EXPECT_FALSE(HeapTellsTooLittle(image));
  image.set_peak_resident_bytes(16 * kMB + 4097);
  EXPECT_TRUE(HeapTellsTooLittle(image)) << "nobody saw a file's pages";
}

TEST(UnaccountedMemoryTest, NothingSeenAccusesNobody) {
  EXPECT_FALSE(HeapTellsTooLittle(MeasuredImage()));
  EXPECT_EQ(PeakResidentBytes(MeasuredImage()), 0);
}

TEST(UnaccountedMemoryTest, ADamagedRecordOverflowsNothing) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  MeasuredImage image = ImageWithHeap(kMost);
  image.set_peak_resident_bytes(kMost);
  image.mutable_resident_at_peak()->set_resident_bytes(kLeast);
  image.mutable_resident_at_peak()->set_anonymous_bytes(kMost);
  image.mutable_resident_at_peak()->set_agent_bytes(kLeast);
  EXPECT_EQ(PeakResidentBytes(image), kMost);
  EXPECT_FALSE(HeapTellsTooLittle(image));
}

}  // namespace
}  // namespace footprint
