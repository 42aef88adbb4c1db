#include "footprint/profiling/google_benchmark/measured_peak.h"

#include <cstdint>
#include <optional>

#include "benchmark/benchmark.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// Has the form of the release that is not installed here.
struct Result {
  int64_t num_allocs = 0;
  int64_t max_bytes_used = 0;
};
struct RunWithPointer {
  const Result* memory_result = nullptr;
};
struct RunWithValue {
  Result memory_result;
};

TEST(MeasuredPeakTest, APointerIsNullWhereNothingWasMeasured) {
  RunWithPointer run;
  EXPECT_EQ(MeasuredPeakBytes(run.memory_result), std::nullopt);
  const Result result = {1, 100};
  run.memory_result = &result;
  EXPECT_EQ(MeasuredPeakBytes(run.memory_result), 100);
}

TEST(MeasuredPeakTest, AValueHasZerosWhereNothingWasMeasured) {
  RunWithValue run;
  EXPECT_EQ(MeasuredPeakBytes(run.memory_result), std::nullopt);
  run.memory_result = {1, 0};
  EXPECT_EQ(MeasuredPeakBytes(run.memory_result), 0);
  run.memory_result = {0, 100};
  EXPECT_EQ(MeasuredPeakBytes(run.memory_result), 100);
}

TEST(MeasuredPeakTest, TheInstalledReleaseIsOneOfThem) {
  const benchmark::BenchmarkReporter::Run run;
  EXPECT_EQ(MeasuredPeakBytes(run.memory_result), std::nullopt);
}

}  // namespace
}  // namespace footprint
