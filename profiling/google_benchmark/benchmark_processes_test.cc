#include "footprint/profiling/google_benchmark/benchmark_processes.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(BenchmarkProcessesTest, EachBenchmarkHasAGroupOfItsOwn) {
  const std::vector<BenchmarkGroup> groups =
      GroupBenchmarks({"BM_A/1", "BM_B", "BM_A/1"}, nullptr);
  ASSERT_THAT(groups, SizeIs(2));
  EXPECT_THAT(groups[0].names, ElementsAre("BM_A/1", "BM_A/1"));
  EXPECT_THAT(groups[1].names, ElementsAre("BM_B"));
  EXPECT_EQ(groups[0].argument, "");
}

TEST(BenchmarkProcessesTest, ThoseThatShareAProcessAreOneGroup) {
  const std::vector<BenchmarkGroup> groups = GroupBenchmarks(
      {"P/1", "BM_A", "P/2", "Q/1"}, [](const std::string& name) {
        return absl::StartsWith(name, "BM_") ? ""
                                             : "--product=" + name.substr(0, 1);
      });
  ASSERT_THAT(groups, SizeIs(3));
  EXPECT_THAT(groups[0].names, ElementsAre("P/1", "P/2"));
  EXPECT_EQ(groups[0].argument, "--product=P");
  EXPECT_THAT(groups[1].names, ElementsAre("BM_A"));
  EXPECT_THAT(groups[2].names, ElementsAre("Q/1"));
  EXPECT_THAT(GroupBenchmarks({}, nullptr), IsEmpty());
}

TEST(BenchmarkProcessesTest, AFilterSelectsTheOnlyName) {
  EXPECT_THAT(CommandLineOfGroup({"program", "--benchmark_filter=A|B",
                                  "--own=1", "--memory_profile_out", "p",
                                  "--memory_samples_out=s", "--", "--own=2"},
                                 {{"BM_A<int>/x:1.5/$"}, ""}, "p.part"),
              ElementsAre("program", "--own=1",
                          "--benchmark_filter=^BM_A<int>/x:1\\.5/\\$$",
                          "--memory_profile_out=p.part",
                          "--memory_one_process=part", "--", "--own=2"));
}

TEST(BenchmarkProcessesTest, AnArgumentSelectsThoseThatShare) {
  EXPECT_THAT(
      CommandLineOfGroup({"program", "--benchmark_filter=A|B"},
                         {{"P/1", "P/2"}, "--product=P"}, "p"),
      ElementsAre("program", "--benchmark_filter=A|B", "--product=P",
                  "--memory_profile_out=p", "--memory_one_process=part"));
}

TEST(BenchmarkProcessesTest, WhatIsNoUtf8IsEscaped) {
  EXPECT_EQ(AsUtf8(""), "");
  EXPECT_EQ(AsUtf8("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\n"),
            "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\n");
  EXPECT_EQ(AsUtf8("caf\xe9/1"), "caf\\xe9/1");
  EXPECT_EQ(AsUtf8("\xc3"), "\\xc3");
  EXPECT_EQ(AsUtf8("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(AsUtf8("\xc0\x80\xe0\x80\x80"), "\\xc0\\x80\\xe0\\x80\\x80");
}

TEST(BenchmarkProcessesTest, KnowsHowItWasCalled) {
  const std::vector<std::string> arguments = CommandLine();
  ASSERT_FALSE(arguments.empty());
  EXPECT_TRUE(absl::EndsWith(arguments[0], "benchmark_processes_test"));
}

}  // namespace
}  // namespace footprint
