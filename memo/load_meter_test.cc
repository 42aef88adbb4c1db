#include "footprint/memo/load_meter.h"

#include <cstdint>
#include <memory>
#include <thread>

#include "gtest/gtest.h"

namespace footprint::memo_internal {
namespace {

// A size class of jemalloc, so that as many bytes are usable.
constexpr int64_t kBlockBytes = 16 << 20;

std::unique_ptr<char[]> MakeBlock() {
  return std::make_unique<char[]>(kBlockBytes);
}

TEST(LoadMeterTest, MeasuresWhatIsLeftToTheByte) {
  LoadMeter meter;
  const std::unique_ptr<char[]> left = MakeBlock();
  MakeBlock();  // Freed at once, hence not left.
  const LoadedBytes loaded = meter.Stop();
  EXPECT_TRUE(loaded.is_measured);
  EXPECT_EQ(loaded.bytes, kBlockBytes);
  EXPECT_EQ(loaded.cross_check, CrossCheck::kAgrees);
}

TEST(LoadMeterTest, WhatIsFreedCountsBelowZero) {
  std::unique_ptr<char[]> block = MakeBlock();
  LoadMeter meter;
  block.reset();
  EXPECT_EQ(meter.Stop().bytes, -kBlockBytes);
}

TEST(LoadMeterTest, TakesTheExcludedOffBothFigures) {
  LoadMeter meter;
  const std::unique_ptr<char[]> mine = MakeBlock();
  const std::unique_ptr<char[]> others = MakeBlock();
  const LoadedBytes loaded = meter.Stop(kBlockBytes);
  EXPECT_EQ(loaded.bytes, kBlockBytes);
  EXPECT_EQ(loaded.cross_check, CrossCheck::kAgrees);
}

TEST(LoadMeterTest, FlagsWhatAnotherThreadAllocates) {
  std::unique_ptr<char[]> block;
  LoadMeter meter;
  std::thread([&] { block = MakeBlock(); }).join();
  const LoadedBytes loaded = meter.Stop();
  EXPECT_LT(loaded.bytes, kBlockBytes / 2);
  EXPECT_GT(loaded.process_bytes, kBlockBytes / 2);
  EXPECT_EQ(loaded.cross_check, CrossCheck::kDiffers);
}

TEST(LoadMeterTest, NeitherOfTwoAtOnceIsCompared) {
  LoadMeter outer;
  LoadMeter inner;
  const std::unique_ptr<char[]> block = MakeBlock();
  const LoadedBytes inside = inner.Stop();
  const LoadedBytes outside = outer.Stop();
  EXPECT_EQ(inside.bytes, kBlockBytes);
  EXPECT_EQ(outside.bytes, kBlockBytes);
  EXPECT_EQ(inside.cross_check, CrossCheck::kNotPossible);
  EXPECT_EQ(outside.cross_check, CrossCheck::kNotPossible);
}

TEST(LoadMeterTest, OneThatWasNotStoppedIsInNobodysWay) {
  { LoadMeter forgotten; }
  LoadMeter meter;
  const std::unique_ptr<char[]> block = MakeBlock();
  EXPECT_EQ(meter.Stop().cross_check, CrossCheck::kAgrees);
}

}  // namespace
}  // namespace footprint::memo_internal
