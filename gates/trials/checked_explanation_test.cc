#include "footprint/gates/trials/checked_explanation.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

TrialExplanation Explanation() {
  TrialExplanation explanation;
  explanation.set_heap_peak_bytes(24 << 20);
  explanation.set_peak_stage("fit");
  Attribution* const site = explanation.add_peak_sites();
  site->set_site("fit.py:12 fit");
  site->set_live_bytes(1 << 20);
  BenchmarkMemory* const benchmark =
      explanation.mutable_profile()->add_benchmarks();
  benchmark->set_name("fit");
  benchmark->add_phases()->set_parent(-1);
  return explanation;
}

absl::Status FindRefusal(const TrialExplanation& explanation) {
  return CheckedExplanation(explanation.SerializeAsString()).status();
}

TEST(CheckedExplanationTest, GoodOneIsTheSame) {
  const auto checked = CheckedExplanation(Explanation().SerializeAsString());
  ASSERT_THAT(checked, IsOk());
  EXPECT_EQ(checked->SerializeAsString(), Explanation().SerializeAsString());
}

TEST(CheckedExplanationTest, UnknownFieldsAreDropped) {
  // Field 1000 as a varint.
  const auto checked = CheckedExplanation(
      absl::StrCat(Explanation().SerializeAsString(), "\xc0\x3e\x01"));
  ASSERT_THAT(checked, IsOk());
  EXPECT_EQ(checked->SerializeAsString(), Explanation().SerializeAsString());
}

TEST(CheckedExplanationTest, NonsenseIsRefused) {
  EXPECT_THAT(CheckedExplanation("\xff\xff"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(CheckedExplanationTest, TooMuchIsRefused) {
  EXPECT_THAT(
      CheckedExplanation(std::string(kMostExplanationBytes + 1, '\0')),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("more than")));
  TrialExplanation many = Explanation();
  for (int i = 0; i < 20; ++i) *many.add_peak_sites() = many.peak_sites(0);
  EXPECT_THAT(FindRefusal(many), StatusIs(absl::StatusCode::kInvalidArgument));
  many = Explanation();
  for (int i = 0; i < 10001; ++i) {
    many.mutable_profile()->mutable_benchmarks(0)->add_metrics();
  }
  EXPECT_THAT(FindRefusal(many), StatusIs(absl::StatusCode::kInvalidArgument,
                                          HasSubstr("10001 of metrics")));
}

TEST(CheckedExplanationTest, TextsAreShortAndPlain) {
  TrialExplanation lie = Explanation();
  lie.set_peak_stage(std::string(kMostTextBytes + 1, 'x'));
  EXPECT_THAT(FindRefusal(lie), StatusIs(absl::StatusCode::kInvalidArgument,
                                         HasSubstr("peak_stage")));
  lie = Explanation();
  lie.mutable_peak_sites(0)->set_site("\x1b[2J");
  EXPECT_THAT(FindRefusal(lie), StatusIs(absl::StatusCode::kInvalidArgument,
                                         HasSubstr("control characters")));
}

TEST(CheckedExplanationTest, NoPeakIsBelowZero) {
  TrialExplanation lie = Explanation();
  lie.set_heap_peak_bytes(-1);
  EXPECT_THAT(FindRefusal(lie), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace footprint
