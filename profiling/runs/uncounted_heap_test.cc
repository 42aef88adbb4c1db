#include "footprint/profiling/runs/uncounted_heap.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;

MeasuredImage MakeImage(const char* allocator, int64_t peak_live_bytes) {
  MeasuredImage image;
  image.set_allocator(allocator);
  image.set_peak_live_bytes(peak_live_bytes);
  return image;
}

TEST(UncountedHeapTest, WhatPassesTheAgentIsCounted) {
  EXPECT_TRUE(IsCounted(MakeImage("glibc 2.36", 1000)));
  EXPECT_TRUE(IsCounted(MakeImage("libjemalloc.so.2", 1000)));
}

TEST(UncountedHeapTest, AnOperatorNewOfItsOwnMayHideBlocks) {
  MeasuredImage image = MakeImage("libjemalloc.so.2", 1000);
  image.set_has_foreign_new(true);
  EXPECT_FALSE(IsCounted(image));
  EXPECT_THAT(DescribeUncountedHeap(image),
              HasSubstr("has an operator new of its own"));
}

TEST(UncountedHeapTest, AnAllocatorInFrontOfTheAgentIsNamed) {
  const MeasuredImage image = MakeImage("private in libjemalloc.so.2", 1000);
  EXPECT_FALSE(IsCounted(image));
  EXPECT_THAT(DescribeUncountedHeap(image),
              HasSubstr("(private in libjemalloc.so.2)"));
}

TEST(UncountedHeapTest, AnAllocatorThatTellsNoSizesIsNamed) {
  MeasuredImage image = MakeImage("libbump.so, which tells no sizes", 0);
  image.set_has_foreign_new(true);
  EXPECT_FALSE(IsCounted(image));
  EXPECT_THAT(DescribeUncountedHeap(image),
              HasSubstr("does not report block sizes, so its blocks are not "
                        "counted (libbump.so)"));
}

TEST(UncountedHeapTest, NothingAllocatedIsNotCounted) {
  const MeasuredImage image = MakeImage("glibc 2.36", 0);
  EXPECT_FALSE(IsCounted(image));
  EXPECT_THAT(DescribeUncountedHeap(image),
              HasSubstr("allocated nothing by malloc"));
}

}  // namespace
}  // namespace footprint
