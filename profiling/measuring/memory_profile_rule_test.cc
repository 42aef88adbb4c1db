// Tests files that the rule `memory_profile` made of programs that behave on
// demand.

#include <csignal>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/memory_profile_file.h"
#include "footprint/profiling/schema/metric_reading.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Returns a path in the runfiles of this test.
std::string MakePath(const std::string& what) {
  return absl::StrCat("profiling/measuring/test_", what,
                      "_profile.profile.binpb");
}

MemoryProfile MakeProfile(const std::string& what) {
  absl::StatusOr<MemoryProfile> profile = ReadMemoryProfileFile(MakePath(what));
  EXPECT_THAT(profile, IsOk());
  return profile.ok() ? *profile : MemoryProfile();
}

std::string ReadBytes(const std::string& what) {
  std::ifstream file(MakePath(what), std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::map<std::string, std::string> ReadArguments(const std::string& what) {
  const MemoryProfile profile = MakeProfile(what);
  std::map<std::string, std::string> arguments;
  if (profile.benchmarks().empty()) return arguments;
  for (const Argument& argument : profile.benchmarks(0).arguments()) {
    arguments[argument.name()] = argument.value();
  }
  return arguments;
}

TEST(MemoryProfileRuleTest, MarksExactWhatRepeated) {
  const MemoryProfile profile = MakeProfile("good");
  EXPECT_EQ(profile.label(), "//profiling/measuring:measured_test_program");
  EXPECT_EQ(profile.process_count(), 3);
  ASSERT_EQ(profile.benchmarks_size(), 1);
  ASSERT_EQ(profile.benchmarks(0).metrics_size(), 1);
  EXPECT_EQ(profile.benchmarks(0).metrics(0).kind(), PEAK_LIVE_USABLE_BYTES);
  EXPECT_EQ(profile.benchmarks(0).metrics(0).determinism(), EXACT);
  EXPECT_EQ(profile.benchmarks(0).metrics(0).value(), 114688);
  EXPECT_THAT(profile.benchmarks(0).unrepeated(), IsEmpty());
}

TEST(MemoryProfileRuleTest, TwoMeasurementsGiveTheSameBytes) {
  EXPECT_FALSE(ReadBytes("good").empty());
  EXPECT_EQ(ReadBytes("good"), ReadBytes("good_again"));
}

TEST(MemoryProfileRuleTest, NamesWhatDidNotRepeat) {
  const MemoryProfile profile = MakeProfile("vary");
  EXPECT_EQ(profile.process_count(), 4);
  ASSERT_EQ(profile.benchmarks_size(), 1);
  EXPECT_EQ(profile.benchmarks(0).metrics_size(), 1);
  EXPECT_THAT(profile.benchmarks(0).unrepeated(),
              ElementsAre(ALLOCATED_USABLE_BYTES));
}

TEST(MemoryProfileRuleTest, RecordsFailures) {
  const ProducerFailure crash = MakeProfile("crash").failure();
  EXPECT_EQ(crash.kind(), ProducerFailure::SIGNALLED);
  EXPECT_EQ(crash.signal_number(), SIGSEGV);
  const ProducerFailure exit = MakeProfile("exit3").failure();
  EXPECT_EQ(exit.kind(), ProducerFailure::EXITED);
  EXPECT_EQ(exit.exit_status(), 3);
  EXPECT_EQ(exit.standard_error_tail(), "cannot open ? the model\n");
  EXPECT_EQ(MakeProfile("no_profile").failure().kind(),
            ProducerFailure::WROTE_NO_PROFILE);
  const ProducerFailure hang = MakeProfile("hang").failure();
  EXPECT_EQ(hang.kind(), ProducerFailure::TIMED_OUT);
  EXPECT_EQ(hang.time_limit_seconds(), 1);
}

TEST(MemoryProfileRuleTest, DataIsFoundUnderItsName) {
  EXPECT_EQ(ReadArguments("read")["content"], "feature,target\n1,2\n");
  EXPECT_EQ(ReadArguments("renamed_data")["content"], "feature,target\n1,2\n");
}

// The program sees its own data, and nothing of the host.
TEST(MemoryProfileRuleTest, TheProgramSeesItsDataOnly) {
  std::map<std::string, std::string> seen = ReadArguments("describe");
  EXPECT_EQ(seen["argv[0]"], "measured_test_program");
  EXPECT_EQ(seen["folder"], "profiling ");
  EXPECT_EQ(seen["files"], "0 1 2 ");
  EXPECT_EQ(seen["environment"],
            "PATH=/usr/bin:/bin LANG=C TZ=UTC FOOTPRINT_PADDING ");
}

const Metric* FindMetric(const MemoryProfile& profile, MetricKind kind) {
  return profile.benchmarks().empty()
             ? nullptr
             : FindMetric(profile.benchmarks(0).metrics(), kind);
}

TEST(MemoryProfileRuleTest, AProgramIsMeasuredAsItIs) {
  const MemoryProfile profile = MakeProfile("plain_hold");
  ASSERT_EQ(profile.benchmarks_size(), 1);
  EXPECT_EQ(profile.label(), "//profiling/measuring:plain_test_program");
  EXPECT_EQ(profile.process_count(), 3);
  EXPECT_EQ(profile.benchmarks(0).name(),
            "plain_test_program/bytes:1000000/do:hold");
  const Metric* const peak = FindMetric(profile, PEAK_LIVE_USABLE_BYTES);
  ASSERT_NE(peak, nullptr);
  // Debian 12's interpreter repeats to the byte; 3.14 does not.
  if (profile.environment().interpreter().rfind("CPython 3.11", 0) == 0) {
    EXPECT_EQ(peak->determinism(), EXACT);
    EXPECT_THAT(profile.benchmarks(0).unrepeated(), IsEmpty());
  }
  EXPECT_GT(peak->value(), 1000000);
  EXPECT_LT(peak->value(), 8000000);
  EXPECT_EQ(FindMetric(profile, PEAK_RESIDENT_BYTES)->determinism(),
            STATISTICAL);
  EXPECT_THAT(profile.environment().allocator(), StartsWith("glibc 2."));
  EXPECT_THAT(profile.environment().loaded_modules(), HasSubstr("libz.so.1."));
  EXPECT_THAT(profile.remarks(0).text(), HasSubstr("PYTHONHASHSEED=0"));
}

TEST(MemoryProfileRuleTest, ThatAProgramVariesIsSeenAndTheHighestKept) {
  const Metric* const peak =
      FindMetric(MakeProfile("plain_vary"), PEAK_LIVE_USABLE_BYTES);
  ASSERT_NE(peak, nullptr);
  EXPECT_EQ(peak->determinism(), STATISTICAL);
  EXPECT_GT(peak->value(), 1000000);
}

TEST(MemoryProfileRuleTest, ThreadsThatMayOverlapMakeABoundedPeak) {
  const MemoryProfile profile = MakeProfile("plain_threads");
  ASSERT_NE(FindMetric(profile, PEAK_LIVE_USABLE_BYTES), nullptr);
  EXPECT_NE(FindMetric(profile, PEAK_LIVE_USABLE_BYTES)->determinism(), EXACT);
}

TEST(MemoryProfileRuleTest, ThePeakIsTheLargestProcess) {
  const MemoryProfile profile = MakeProfile("plain_fork");
  ASSERT_NE(FindMetric(profile, PEAK_LIVE_USABLE_BYTES), nullptr);
  const int64_t peak = FindMetric(profile, PEAK_LIVE_USABLE_BYTES)->value();
  EXPECT_GT(peak, 3000000);
  EXPECT_GT(FindMetric(profile, SUM_THREAD_PEAK_USABLE_BYTES)->value(),
            peak + 1000000);
}

TEST(MemoryProfileRuleTest, AProgramFindsItsData) {
  EXPECT_FALSE(MakeProfile("plain_read").has_failure());
}

TEST(MemoryProfileRuleTest, AProgramThatFailsOrCannotBeMeasuredIsAFailure) {
  const ProducerFailure failed = MakeProfile("plain_exit3").failure();
  EXPECT_EQ(failed.kind(), ProducerFailure::EXITED);
  EXPECT_EQ(failed.exit_status(), 1);
  EXPECT_THAT(failed.standard_error_tail(), HasSubstr("no luck"));
  EXPECT_EQ(MakeProfile("plain_kill").failure().kind(),
            ProducerFailure::EXITED);
  EXPECT_EQ(MakeProfile("plain_kill").failure().exit_status(), 137);
  EXPECT_THAT(MakeProfile("plain_static").failure().standard_error_tail(),
              HasSubstr("linked statically"));
}

}  // namespace
}  // namespace footprint
