#include "footprint/gates/reports/verdict_selection.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/reports/example_verdict.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::vector<std::string>& Labels() {
  static const auto* const labels =
      new std::vector<std::string>{"//a:b", "//c:d", "//e:f"};
  return *labels;
}

TEST(VerdictSelectionTest, DecidesByThePart) {
  Verdict verdict = ExampleVerdict();
  verdict.add_remarks()->set_label("//a:b");
  const absl::StatusOr<Verdict> rejected =
      OnlyDeployments(verdict, "//a:*", Labels());
  ASSERT_THAT(rejected, IsOk());
  EXPECT_EQ(rejected->decision(), REJECT);
  EXPECT_EQ(rejected->judgements_size(), 2);
  EXPECT_EQ(rejected->problems_size(), 0);
  EXPECT_EQ(rejected->remarks_size(), 1);
  const absl::StatusOr<Verdict> warned =
      OnlyDeployments(verdict, "//c:d", Labels());
  EXPECT_EQ(warned->decision(), ACCEPT);
  EXPECT_EQ(warned->judgements_size(), 1);
  EXPECT_EQ(warned->remarks_size(), 0);
  EXPECT_EQ(OnlyDeployments(verdict, "//e:f", Labels())->decision(),
            PRODUCER_FAILED);
  EXPECT_EQ(OnlyDeployments(verdict, "*", Labels())->SerializeAsString(),
            verdict.SerializeAsString());
}

TEST(VerdictSelectionTest, AProblemOfAThresholdFileStays) {
  Verdict verdict = ExampleVerdict();
  Problem* const problem = verdict.add_problems();
  problem->set_decision(BAD_CONFIGURATION);
  problem->set_location("t.textproto:4");
  EXPECT_EQ(OnlyDeployments(verdict, "//c:d", Labels())->decision(),
            BAD_CONFIGURATION);
}

TEST(VerdictSelectionTest, NothingIsNoAcceptance) {
  const absl::Status nothing =
      OnlyDeployments(ExampleVerdict(), "//a:bb", Labels()).status();
  EXPECT_TRUE(absl::IsInvalidArgument(nothing));
  EXPECT_THAT(std::string(nothing.message()),
              AllOf(HasSubstr("--only=//a:bb"), HasSubstr("did you mean")));
  EXPECT_THAT(OnlyDeployments(ExampleVerdict(), "//a\\b", Labels()),
              testing::Not(IsOk()));
  EXPECT_THAT(OnlyDeployments(Verdict(), "*", {}), testing::Not(IsOk()));
}

}  // namespace
}  // namespace footprint
