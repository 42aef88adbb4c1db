#include "footprint/memo/product/planned_sizes.h"

#include <fstream>
#include <map>
#include <string>

#include "footprint/memo/memo_core.h"
#include "footprint/memo/schedule/memo_trace_file.h"
#include "gtest/gtest.h"

namespace footprint::memo_internal {
namespace {

constexpr int64_t kMebibyte = 1 << 20;

TEST(PlannedSizesTest, WhatIsKnownBestComesFirst) {
  const std::string path = testing::TempDir() + "/model";
  std::ofstream(path) << std::string(50, 'w');
  MemoStatistics statistics;
  statistics.name = "model";
  const auto describe = [&](std::map<std::string, LoadedSize> known = {}) {
    return DescribeValue(statistics, known, false);
  };
  EXPECT_EQ(describe().source, SizeSource::kUnknown);
  EXPECT_EQ(describe().bytes, 0);
  statistics.source_path = path;
  EXPECT_EQ(describe().source, SizeSource::kGuessed);
  EXPECT_EQ(describe().bytes, 50);
  statistics.source_path.clear();
  statistics.name = path;
  EXPECT_EQ(describe().bytes, 50);
  statistics.bytes_source = BytesSource::kDoubtful;
  statistics.peak_bytes = 60;
  EXPECT_EQ(describe().source, SizeSource::kGuessed);
  EXPECT_EQ(describe().bytes, 60);
  statistics.declared_bytes = 70;
  EXPECT_EQ(describe().source, SizeSource::kDeclared);
  EXPECT_EQ(describe().bytes, 70);
  statistics.bytes_source = BytesSource::kMeasured;
  EXPECT_EQ(describe().source, SizeSource::kMeasured);
  EXPECT_EQ(describe().bytes, 60);
  LoadedSize size;
  size.bytes = 80;
  EXPECT_EQ(describe({{path, size}}).bytes, 80);
}

TEST(PlannedSizesTest, WhatWasRememberedInDoubtStandsBelowADeclaration) {
  LoadedSize size;
  size.bytes = 80;
  size.source = SizeSource::kGuessed;
  MemoStatistics statistics;
  statistics.name = "model";
  const auto describe = [&] {
    return DescribeValue(statistics, {{"model", size}}, false);
  };
  EXPECT_EQ(describe().bytes, 80);
  EXPECT_EQ(describe().source, SizeSource::kGuessed);
  statistics.declared_bytes = 70;
  size.held_bytes = 5;
  EXPECT_EQ(describe().bytes, 75);
  EXPECT_EQ(describe().source, SizeSource::kDeclared);
  statistics.bytes_source = BytesSource::kMeasured;
  statistics.peak_bytes = 60;
  EXPECT_EQ(describe().bytes, 65);
  EXPECT_EQ(describe().source, SizeSource::kMeasured);
  size.source = SizeSource::kMeasured;
  EXPECT_EQ(describe().bytes, 85);
}

TEST(PlannedSizesTest, ATimeAloneIsNoSize) {
  LoadedSize time;
  time.load_nanoseconds = 5;
  time.source = SizeSource::kUnknown;
  MemoStatistics statistics;
  statistics.name = "model";
  statistics.declared_bytes = 70;
  const PlannedValue value =
      DescribeValue(statistics, {{"model", time}}, false);
  EXPECT_EQ(value.bytes, 70);
  EXPECT_EQ(value.source, SizeSource::kDeclared);
}

TEST(PlannedSizesTest, ATimeIsRememberedOrOfThisProcess) {
  MemoStatistics statistics;
  statistics.name = "model";
  EXPECT_EQ(ComputeLoadNanoseconds(statistics, {}), 0);
  statistics.load_nanoseconds = 60;
  statistics.failed_load_count = 1;
  EXPECT_EQ(ComputeLoadNanoseconds(statistics, {}), 0);
  statistics.load_count = 2;
  EXPECT_EQ(ComputeLoadNanoseconds(statistics, {}), 20);
  LoadedSize known;
  EXPECT_EQ(ComputeLoadNanoseconds(statistics, {{"model", known}}), 20);
  known.load_nanoseconds = 7;
  EXPECT_EQ(ComputeLoadNanoseconds(statistics, {{"model", known}}), 7);
}

TEST(PlannedSizesTest, AFolderIsNoGuess) {
  MemoStatistics statistics;
  statistics.name = testing::TempDir();
  EXPECT_EQ(DescribeValue(statistics, {}, false).source, SizeSource::kUnknown);
}

TEST(PlannedSizesTest, ResidentBytesWhereTheyAreKnown) {
  LoadedSize size;
  size.bytes = 112 * kMebibyte;
  size.load_peak_bytes = 312 * kMebibyte;
  MemoStatistics statistics;
  statistics.name = "x";
  EXPECT_EQ(DescribeValue(statistics, {{"x", size}}, true).bytes,
            112 * kMebibyte);
  statistics.declared_bytes = 90 * kMebibyte;
  EXPECT_EQ(DescribeValue(statistics, {{"x", size}}, true).bytes,
            90 * kMebibyte);
  EXPECT_EQ(DescribeValue(statistics, {{"x", size}}, false).bytes,
            112 * kMebibyte);
  size.resident_bytes = 100 * kMebibyte;
  const PlannedValue value = DescribeValue(statistics, {{"x", size}}, true);
  EXPECT_EQ(value.bytes, 100 * kMebibyte);
  EXPECT_EQ(value.load_peak_bytes, 300 * kMebibyte);
  EXPECT_EQ(DescribeValue(statistics, {{"x", size}}, false).load_peak_bytes,
            312 * kMebibyte);
  statistics.live_bytes = 5;
  EXPECT_EQ(ComputeLoadedBytes(statistics, true), 5);
  statistics.resident_bytes = 4;
  EXPECT_EQ(ComputeLoadedBytes(statistics, true), 4);
  EXPECT_EQ(ComputeLoadedBytes(statistics, false), 5);
}

TEST(PlannedSizesTest, WhatPassesIsTakenForNothingIfItIsLittle) {
  EXPECT_EQ(ComputePassingBytes(0, 100), 0);
  EXPECT_EQ(ComputePassingBytes(100 * kMebibyte + 1000, 100 * kMebibyte), 0);
  EXPECT_EQ(ComputePassingBytes(101 * kMebibyte, 100 * kMebibyte), 0);
  EXPECT_EQ(ComputePassingBytes(102 * kMebibyte, 100 * kMebibyte),
            2 * kMebibyte);
  // The meter may itself add a few bytes, which would be much for a small
  // value.
  constexpr int64_t kMeterBytes = 128 << 10;
  EXPECT_EQ(ComputePassingBytes(kMeterBytes, 0), 0);
  EXPECT_EQ(ComputePassingBytes(kMeterBytes + 1, 0), kMeterBytes + 1);
}

TEST(PlannedSizesTest, AHundredthIsNotFar) {
  EXPECT_FALSE(IsFarFrom(1010, 1000));
  EXPECT_FALSE(IsFarFrom(990, 1000));
  EXPECT_TRUE(IsFarFrom(1011, 1000));
  EXPECT_TRUE(IsFarFrom(989, 1000));
}

}  // namespace
}  // namespace footprint::memo_internal
