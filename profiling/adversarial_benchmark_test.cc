// What adversarial_benchmark needs, measured by the rule `memory_profile` and,
// under the user's own settings, directly.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "footprint/profiling/memory_profile.pb.h"
#include "footprint/profiling/memory_profile_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

constexpr int64_t kMebibyte = 1 << 20;

std::string Scratch(const std::string& name) {
  return testing::TempDir() + "/" + name;
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

MemoryProfile ReadProfile(const std::string& path) {
  const auto profile = ReadMemoryProfileFile(path);
  EXPECT_TRUE(profile.ok()) << profile.status();
  return profile.ok() ? *profile : MemoryProfile();
}

// The exit status; messages go to the scratch file err.
int RunBenchmarks(const std::string& settings, const std::string& arguments) {
  const std::string command = settings + " ./profiling/adversarial_benchmark " +
                              arguments + " >/dev/null 2>" + Scratch("err");
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class AdversarialBenchmarkTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    profile_ =
        ReadProfile("profiling/adversarial_benchmark_profile.profile.binpb");
  }

  // Of the loop, and EXACT.
  static int64_t Value(const std::string& name, MetricKind kind) {
    for (const BenchmarkMemory& benchmark : profile_.benchmarks()) {
      if (benchmark.name() != name) continue;
      for (const Metric& metric : benchmark.metrics()) {
        if (metric.kind() != kind) continue;
        EXPECT_EQ(metric.determinism(), EXACT) << name;
        return metric.value();
      }
    }
    ADD_FAILURE() << name << " has no " << MetricKind_Name(kind);
    return -1;
  }

  static MemoryProfile profile_;
};

MemoryProfile AdversarialBenchmarkTest::profile_;

TEST_F(AdversarialBenchmarkTest, NoneFailed) {
  EXPECT_EQ(profile_.failure().ByteSizeLong(), 0u)
      << profile_.failure().DebugString();
}

TEST_F(AdversarialBenchmarkTest, ASignalHandlerMayAllocate) {
  const std::string name = "BM_AllocateInSignalHandler";
  EXPECT_EQ(Value(name, PEAK_LIVE_USABLE_BYTES), 2 * kMebibyte);
  EXPECT_EQ(Value(name, ALLOCATION_COUNT), 1);
}

TEST_F(AdversarialBenchmarkTest, ALoadedLibraryIsCounted) {
  const std::string name = "BM_CallLoadedLibrary";
  EXPECT_EQ(Value(name, PEAK_LIVE_USABLE_BYTES), 4 * kMebibyte);
  EXPECT_EQ(Value(name, ALLOCATION_COUNT), 4);
  EXPECT_EQ(Value(name, PEAK_MAPPED_BYTES), kMebibyte);
}

TEST_F(AdversarialBenchmarkTest, WhatLoadingAllocatesIsCountedAndRepeats) {
  const int64_t peak_bytes = Value("BM_LoadLibrary", PEAK_LIVE_USABLE_BYTES);
  EXPECT_GE(peak_bytes, kMebibyte);
  // The loader's own books.
  EXPECT_LT(peak_bytes, kMebibyte + (64 << 10));
}

TEST_F(AdversarialBenchmarkTest, StaticObjectsAreLiveBeforeTheFirstBenchmark) {
  ASSERT_GT(profile_.benchmarks_size(), 0);
  const std::string first = profile_.benchmarks(0).name();
  EXPECT_GE(Value(first, PEAK_LIVE_ABSOLUTE_USABLE_BYTES),
            3 * kMebibyte + Value(first, PEAK_LIVE_USABLE_BYTES));
}

TEST_F(AdversarialBenchmarkTest, AHandlerAndAThrowFromNewAreCounted) {
  EXPECT_EQ(Value("BM_ThrowFromNew", PEAK_LIVE_USABLE_BYTES), 2 * kMebibyte);
  EXPECT_EQ(Value("BM_ThrowFromNew", NET_GROWTH_USABLE_BYTES), 0);
}

TEST_F(AdversarialBenchmarkTest, WhatIsRefusedIsNotCounted) {
  EXPECT_EQ(Value("BM_AskForBadAlignment", PEAK_LIVE_USABLE_BYTES), 0);
  EXPECT_EQ(Value("BM_AskForBadAlignment", ALLOCATION_COUNT), 0);
}

TEST_F(AdversarialBenchmarkTest, WhatAFixtureSetsUpIsOutsideTheLoop) {
  EXPECT_EQ(Value("BlockFixture/BM_HoldInFixture", PEAK_LIVE_USABLE_BYTES),
            kMebibyte);
}

TEST_F(AdversarialBenchmarkTest, ABatchIsMeasuredWhole) {
  EXPECT_EQ(Value("BM_RunBatch", PEAK_LIVE_USABLE_BYTES), kMebibyte);
  EXPECT_EQ(Value("BM_RunBatch", ALLOCATION_COUNT), 10);
}

TEST_F(AdversarialBenchmarkTest, FittedComplexityIsNoBenchmarkOfItsOwn) {
  int count = 0;
  for (const BenchmarkMemory& benchmark : profile_.benchmarks()) {
    if (benchmark.name().rfind("BM_FitComplexity", 0) == 0) ++count;
  }
  EXPECT_EQ(count, 3);
  for (const int64_t mebibytes : {1, 2, 4}) {
    const std::string bytes = std::to_string(mebibytes * kMebibyte);
    EXPECT_EQ(Value("BM_FitComplexity/" + bytes, PEAK_LIVE_USABLE_BYTES),
              mebibytes * kMebibyte);
  }
}

TEST_F(AdversarialBenchmarkTest, ANameMayHoldAnything) {
  EXPECT_EQ(Value("BM_<Odd>&\"Name\"::of|it,all", PEAK_LIVE_USABLE_BYTES),
            kMebibyte);
}

// Where such a loop ended is not known, so neither is what it needed.
TEST_F(AdversarialBenchmarkTest, ALoopThatIsLeftEarlySaysWhatToDo) {
  EXPECT_EQ(RunBenchmarks("FOOTPRINT_LEAVE_EARLY=1",
                          "--benchmark_filter='LeaveLoop|NoLoop|RunBatch' "
                          "--memory_profile_out=" +
                              Scratch("left_early")),
            1);
  const std::string messages = ReadText(Scratch("err"));
  for (const char* name : {"BM_LeaveLoopByBreak", "BM_LeaveLoopByReturn",
                           "BM_LeaveLoopInOneThread/threads:2"}) {
    EXPECT_THAT(messages,
                HasSubstr(std::string(name) +
                          ": error: its loop was left before its end (break, "
                          "return or an exception)"));
  }
  EXPECT_THAT(messages, HasSubstr("->Iterations(n)"));
  EXPECT_THAT(messages, HasSubstr("BM_NoLoop: error: it has no loop"));
  const MemoryProfile profile = ReadProfile(Scratch("left_early"));
  ASSERT_EQ(profile.benchmarks_size(), 1);
  EXPECT_EQ(profile.benchmarks(0).name(), "BM_RunBatch");
}

// Usable bytes are by size class, which no setting of the allocator changes;
// and what was set is part of the fingerprint.
class AllocatorSettingTest : public AdversarialBenchmarkTest,
                             public testing::WithParamInterface<const char*> {};

TEST_P(AllocatorSettingTest, ChangesNoPeak) {
  const std::string setting = GetParam();
  ASSERT_EQ(RunBenchmarks("MALLOC_CONF=" + setting,
                          "--memory_profile_out=" + Scratch("setting")),
            0)
      << ReadText(Scratch("err"));
  const MemoryProfile profile = ReadProfile(Scratch("setting"));
  EXPECT_THAT(profile.environment().allocator_options(), HasSubstr(setting));
  ASSERT_EQ(profile.benchmarks_size(), profile_.benchmarks_size());
  for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
    for (const Metric& metric : benchmark.metrics()) {
      if (metric.kind() != PEAK_LIVE_USABLE_BYTES) continue;
      // The loader's own books hold what the environment holds.
      if (benchmark.name() == "BM_LoadLibrary") continue;
      EXPECT_EQ(metric.value(), Value(benchmark.name(), PEAK_LIVE_USABLE_BYTES))
          << benchmark.name();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Settings, AllocatorSettingTest,
    testing::Values("tcache:false", "tcache_max:64", "narenas:1",
                    "percpu_arena:percpu", "junk:true", "zero:true",
                    "retain:false", "dirty_decay_ms:0,muzzy_decay_ms:0",
                    "background_thread:true", "no_such_setting:1"));

}  // namespace
}  // namespace footprint
