#include "footprint/gates/judge/threshold_exceptions.h"

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::IsEmpty;

std::string Rule(const std::string& selector, const std::string& rule) {
  return absl::StrCat("threshold { selector { ", selector,
                      " } metric: PEAK_LIVE_USABLE_BYTES ", rule, " }\n");
}

ThresholdSource Source(const std::string& text) {
  ThresholdSource source = ParseThresholdFile("t", text);
  EXPECT_THAT(source.problems, IsEmpty()) << text;
  return source;
}

class ThresholdExceptionsTest : public testing::Test {
 protected:
  ThresholdExceptionsTest() {
    profile_.set_label("//a:b");
    profile_.mutable_environment()->set_compiler("gcc");
    benchmark_.set_name("BM_X/rows:10");
    benchmark_.add_arguments()->set_name("rows");
    benchmark_.mutable_arguments(0)->set_value("10");
  }

  // Returns "FILE:NUMBER" of the threshold that judges in place of this one; ""
  // if it judges itself.
  std::string JudgingFor(size_t source, int number,
                         const std::string& phase = "") const {
    const ThresholdExceptions exceptions(sources_);
    const auto judging =
        exceptions.Find(source, number, profile_, benchmark_, phase);
    return judging.has_value()
               ? absl::StrCat(judging->source, ":", judging->number)
               : "";
  }

  MemoryProfile profile_;
  BenchmarkMemory benchmark_;
  std::vector<ThresholdSource> sources_;
};

TEST_F(ThresholdExceptionsTest, TheMostParticularJudges) {
  sources_ = {Source(Rule("label: '*'", "max_bytes: 1") +
                     Rule("label: '*' benchmark: 'BM_*'", "max_bytes: 2") +
                     Rule("label: '//a:*' benchmark: 'BM_X*'", "max_bytes: 3") +
                     Rule("label: '//c:d'", "max_bytes: 4"))};
  EXPECT_TRUE(ThresholdExceptions(sources_).HasExceptions(0, 0));
  EXPECT_FALSE(ThresholdExceptions(sources_).HasExceptions(0, 2));
  EXPECT_EQ(ThresholdExceptions(sources_).DescribeLocation({0, 1}), "t:2");
  EXPECT_EQ(JudgingFor(0, 0), "0:2");
  EXPECT_EQ(JudgingFor(0, 1), "0:2");
  EXPECT_EQ(JudgingFor(0, 2), "");
  EXPECT_EQ(JudgingFor(0, 3), "");
  benchmark_.set_name("BM_Y");
  EXPECT_EQ(JudgingFor(0, 0), "0:1");
  profile_.set_label("//c:d");
  // Neither selector names a part of what the other names.
  EXPECT_NE(JudgingFor(0, 0), "");
  EXPECT_EQ(JudgingFor(0, 1), "");
  EXPECT_EQ(JudgingFor(0, 3), "");
}

TEST_F(ThresholdExceptionsTest, TheOrderInTheFileDoesNotCount) {
  sources_ = {Source(Rule("label: '//a:*' benchmark: 'BM_X*'", "max_bytes: 3") +
                     Rule("label: '*' benchmark: 'BM_*'", "max_bytes: 2") +
                     Rule("label: '*'", "max_bytes: 1"))};
  EXPECT_EQ(JudgingFor(0, 2), "0:0");
  EXPECT_EQ(JudgingFor(0, 1), "0:0");
}

TEST_F(ThresholdExceptionsTest, AStarInOnePartIsEnough) {
  const std::string name = " benchmark: 'BM_X/rows:10'";
  sources_ = {Source(Rule("label: '//a:*'" + name, "max_bytes: 1") +
                     Rule("label: '//a:b'" + name, "max_bytes: 2"))};
  EXPECT_EQ(JudgingFor(0, 0), "0:1");
  sources_ = {
      Source(Rule("label: '//a:b' phase: 'f*'" + name, "max_bytes: 1") +
             Rule("label: '//a:b' phase: 'fit'" + name, "max_bytes: 2"))};
  EXPECT_EQ(JudgingFor(0, 0, "fit"), "0:1");
}

TEST_F(ThresholdExceptionsTest, ArgumentsAndPhasesCount) {
  sources_ = {
      Source(Rule("label: '//a:b'", "max_bytes: 1") +
             Rule("label: '//a:b' arguments { name: 'rows' value: '10' }",
                  "max_bytes: 2") +
             Rule("label: '//a:b' phase: '*'", "max_bytes: 3") +
             Rule("label: '//a:b' phase: 'fit'", "max_bytes: 4"))};
  EXPECT_EQ(JudgingFor(0, 0), "0:1");
  EXPECT_EQ(JudgingFor(0, 2, "fit"), "0:3");
  EXPECT_EQ(JudgingFor(0, 2, "load"), "");
  benchmark_.mutable_arguments(0)->set_value("11");
  EXPECT_EQ(JudgingFor(0, 0), "");
}

TEST_F(ThresholdExceptionsTest, OtherSortsGetAlong) {
  for (const char* other :
       {"min_bytes: 2", "max_bytes: 2 budget { share: 0.9 confidence: 0.9 }",
        "scaling { argument: 'rows' max_exponent: 1 }"}) {
    sources_ = {Source(Rule("label: '*'", "max_bytes: 1") +
                       Rule("label: '//a:b'", other))};
    EXPECT_EQ(JudgingFor(0, 0), "") << other;
  }
  sources_ = {Source(Rule("label: '*'", "max_bytes: 1") +
                     Rule("label: '//a:b'", "max_bytes: 9 min_bytes: 2"))};
  EXPECT_EQ(JudgingFor(0, 0), "0:1");
  sources_[0].file.mutable_threshold(1)->set_metric(ALLOCATION_COUNT);
  EXPECT_EQ(JudgingFor(0, 0), "");
  // A family is judged as a whole, so it has no exceptions.
  sources_ = {Source(
      Rule("label: '*'", "scaling { argument: 'rows' max_exponent: 1 }") +
      Rule("label: '//a:b'", "scaling { argument: 'rows' max_exponent: 2 }"))};
  EXPECT_EQ(JudgingFor(0, 0), "");
}

TEST_F(ThresholdExceptionsTest, FilesOfOtherEnvironmentsDoNotCount) {
  sources_ = {
      Source(Rule("label: '*'", "max_bytes: 1")),
      Source("environment { compiler: 'clang' }\n" +
             Rule("label: '//a:b'", "max_bytes: 2") +
             Rule("label: '//a:b' benchmark: 'BM_X*'", "max_bytes: 3"))};
  EXPECT_EQ(JudgingFor(0, 0), "");
  // A more particular threshold of the same file overrides it.
  EXPECT_EQ(JudgingFor(1, 0), "1:1");
  sources_.push_back(
      Source(Rule("label: '//a:b' benchmark: 'BM_X/rows:10'", "max_bytes: 4")));
  EXPECT_EQ(JudgingFor(1, 0), "1:1");
  EXPECT_EQ(JudgingFor(1, 1), "");
  sources_.pop_back();
  sources_[1].file.mutable_environment()->set_compiler("gcc");
  EXPECT_EQ(JudgingFor(0, 0), "1:1");
}

}  // namespace
}  // namespace footprint
