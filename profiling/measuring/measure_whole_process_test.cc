// Tests what measure_whole_process.h promises.

#include "footprint/profiling/measuring/measure_whole_process.h"

#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/machine/memory_group.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/profile_merge.h"
#include "footprint/profiling/schema/whole_process_name.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr int64_t kHeldBytes = int64_t{48} << 20;
// The bytes of a small program, its libraries and its stack.
constexpr int64_t kMostOtherBytes = int64_t{8} << 20;

MemoryMeasurement Measure(const std::string& how) {
  ProgramMeasurement measurement;
  measurement.label = "//profiling/measuring:holding_test_program";
  measurement.executable = "profiling/measuring/holding_test_program";
  measurement.arguments = {how};
  absl::StatusOr<MemoryMeasurement> measured =
      MeasureWholeProcess(measurement, "held");
  EXPECT_THAT(measured, IsOk());
  return measured.ok() ? *measured : MemoryMeasurement();
}

int64_t FindPeak(const MemoryMeasurement& measured) {
  for (const BenchmarkMemory& benchmark : measured.profile.benchmarks()) {
    for (const Metric& metric : benchmark.metrics()) {
      if (metric.kind() == PEAK_RESIDENT_BYTES) return metric.value();
    }
  }
  return -1;
}

// Returns -1 if there is no such phase.
int64_t FindPhasePeak(const MemoryMeasurement& measured,
                      const std::string& name) {
  for (const BenchmarkMemory& benchmark : measured.profile.benchmarks()) {
    for (const Phase& phase : benchmark.phases()) {
      if (phase.name() == name) return phase.metrics(0).value();
    }
  }
  return -1;
}

TEST(MeasureWholeProcessTest, AProgramThatHoldsNothingNeedsLittle) {
  const int64_t peak_bytes = FindPeak(Measure("nothing"));
  EXPECT_GT(peak_bytes, 500'000);
  EXPECT_LT(peak_bytes, kMostOtherBytes);
}

TEST(MeasureWholeProcessTest, WhateverHoldsTheMemoryItIsSeen) {
  for (const char* how : {"static", "mapped", "child"}) {
    const int64_t peak_bytes = FindPeak(Measure(how));
    EXPECT_GE(peak_bytes, kHeldBytes) << how;
    EXPECT_LE(peak_bytes, kHeldBytes + kMostOtherBytes) << how;
  }
}

TEST(MeasureWholeProcessTest, FiguresHaveANameAndSamples) {
  const MemoryMeasurement measured = Measure("mapped");
  ASSERT_THAT(measured.profile.benchmarks(), SizeIs(1));
  EXPECT_EQ(measured.profile.label(),
            "//profiling/measuring:holding_test_program");
  EXPECT_EQ(measured.profile.benchmarks(0).name(), WholeProcessName("held"));
  for (const Metric& metric : measured.profile.benchmarks(0).metrics()) {
    EXPECT_EQ(metric.determinism(), STATISTICAL);
  }
  ASSERT_THAT(measured.samples.benchmarks(), SizeIs(1));
  EXPECT_EQ(measured.samples.benchmarks(0).name(), WholeProcessName("held"));
  EXPECT_THAT(measured.samples.benchmarks(0).metrics(0).values(), SizeIs(3));
  EXPECT_FALSE(measured.samples.kernel().empty());
  EXPECT_FALSE(measured.samples.cpu_model().empty());
}

TEST(MeasureWholeProcessTest, AGroupHasFiguresOrItIsSaidWhyThereIsNone) {
  const MemoryMeasurement measured = Measure("mapped");
  std::string remarks;
  for (const Remark& remark : measured.profile.remarks()) {
    remarks += remark.text();
  }
  const int64_t group_bytes = FindPhasePeak(measured, kControlGroupPhase);
  const auto group = MemoryGroup::Create();
  if (!group.ok() || group->peak_bytes() < 0) {
    EXPECT_EQ(group_bytes, -1);
    EXPECT_THAT(remarks, HasSubstr("no control group: "));
  } else {
    EXPECT_GE(group_bytes, kHeldBytes);
  }
}

TEST(MeasureWholeProcessTest, ThePartsExplainTheWhole) {
  const MemoryMeasurement measured = Measure("mapped");
  const int64_t peak_bytes = FindPeak(measured);
  EXPECT_GE(FindPhasePeak(measured, kHeapAndMappingsPart), kHeldBytes);
  EXPECT_GT(FindPhasePeak(measured, kImagePart), 500'000);
  EXPECT_GT(FindPhasePeak(measured, kStacksPart), 0);
  EXPECT_EQ(FindPhasePeak(measured, kOtherProcessesPart), 0);
  EXPECT_LE(std::abs(FindPhasePeak(measured, kUnexplainedPart)),
            peak_bytes / 1000);
  EXPECT_GE(FindPhasePeak(Measure("static"), kImagePart), kHeldBytes);
}

TEST(MeasureWholeProcessTest, ThePartsAddUp) {
  const MemoryMeasurement measured = Measure("child");
  int64_t sum_bytes = 0;
  for (const Phase& phase : measured.profile.benchmarks(0).phases()) {
    if (absl::StartsWith(phase.name(), "part: ") &&
        phase.name() != kUnexplainedPart) {
      sum_bytes += phase.metrics(0).value();
    }
  }
  EXPECT_EQ(FindPhasePeak(measured, kUnexplainedPart),
            std::abs(FindPeak(measured) - sum_bytes));
}

TEST(MeasureWholeProcessTest, ABenchmarkProgramThatRanNothingIsAFailure) {
  const MemoryProfile profile = Measure("ran:0").profile;
  ASSERT_TRUE(profile.has_failure());
  EXPECT_EQ(profile.failure().kind(), ProducerFailure::BENCHMARKS_FAILED);
  EXPECT_THAT(profile.failure().detail(),
              HasSubstr("no benchmark ran with the arguments ran:0;"));
}

// A parser refuses a whole profile for one text that is not UTF-8.
TEST(MeasureWholeProcessTest, ArgumentsMayBeAnyBytes) {
  for (const char* how : {"ran:0\xe9", "ran:3\xe9"}) {
    MemoryProfile read;
    EXPECT_TRUE(read.ParseFromString(Measure(how).profile.SerializeAsString()))
        << how;
  }
}

TEST(MeasureWholeProcessTest, TheArgumentsAreSaid) {
  const MemoryProfile profile = Measure("ran:3").profile;
  ASSERT_FALSE(profile.has_failure());
  std::string remarks;
  for (const Remark& remark : profile.remarks()) remarks += remark.text();
  EXPECT_THAT(remarks, HasSubstr("measured with the arguments ran:3; "
                                 "benchmarks that ran: 3"));
}

TEST(MeasureWholeProcessTest, AProcessThatOutlivesTheProgramIsSaid) {
  EXPECT_EQ(FindPhasePeak(Measure("child"), kOutlivedPhase), -1);
  const MemoryMeasurement measured = Measure("daemon");
  EXPECT_GT(FindPhasePeak(measured, kOutlivedPhase), 0);
  std::string remarks;
  for (const Remark& remark : measured.profile.remarks()) {
    remarks += remark.text();
  }
  EXPECT_THAT(remarks, HasSubstr("killed: holding_test_p"));
}

TEST(MeasureWholeProcessTest, WhatNoProcessMapsIsSeenByTheGroup) {
  if (!MemoryGroup::Create().ok()) {
    GTEST_SKIP() << "NOT TESTED: no control group can be made";
  }
  const int64_t peak_bytes = FindPeak(Measure("in flight"));
  EXPECT_GE(peak_bytes, kHeldBytes);
  EXPECT_LE(peak_bytes, kHeldBytes + kMostOtherBytes);
}

TEST(MeasureWholeProcessTest, UntouchedAddressSpaceIsSaid) {
  EXPECT_GE(FindPhasePeak(Measure("reserve"), kUntouchedPhase),
            int64_t{1} << 40);
  // Unused static data of the program also counts.
  EXPECT_LT(FindPhasePeak(Measure("mapped"), kUntouchedPhase),
            kHeldBytes + kMostOtherBytes);
}

TEST(MeasureWholeProcessTest, ItRunsWithoutAVariableOfOurs) {
  EXPECT_FALSE(Measure("environment").profile.has_failure());
}

TEST(MeasureWholeProcessTest, ARunThatFailsIsAFailure) {
  const MemoryProfile profile = Measure("fail").profile;
  ASSERT_TRUE(profile.has_failure());
  EXPECT_EQ(profile.failure().kind(), ProducerFailure::EXITED);
  EXPECT_EQ(profile.failure().exit_status(), 7);
  EXPECT_THAT(profile.failure().detail(), HasSubstr("whole process"));
}

TEST(MeasureWholeProcessTest, BadMeasurementsAreRefused) {
  ProgramMeasurement measurement;
  measurement.label = "no label";
  EXPECT_EQ(MeasureWholeProcess(measurement, "x").status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace footprint
