#include "footprint/gates/programs/suite_program.h"

#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

CommandFlags Parse(const std::vector<std::string>& arguments) {
  return ParseSuiteFlags(arguments, {"format"}, {"all"}, 1).value();
}

TEST(SuiteProgramTest, FlagsAreTheSuitesAndThePrograms) {
  const CommandFlags flags =
      Parse({"--manifest=m", "--update_target=//a:b", "--output=x",
             "--complete", "--help", "--format=json", "--all", "word"});
  for (const char* name : {"manifest", "update_target", "output", "complete",
                           "help", "format", "all"}) {
    EXPECT_TRUE(flags.Has(name)) << name;
  }
  EXPECT_THAT(flags.words(), SizeIs(1));
  EXPECT_THAT(ParseSuiteFlags({"--all"}, {}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ParseSuiteFlags({"word"}, {}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(SuiteProgramTest, TheSuiteSaysHowItIsJudged) {
  const EvaluationOptions without = SuiteEvaluationOptions(Parse({}));
  EXPECT_EQ(without.update_target, "//gates:update");
  EXPECT_FALSE(without.is_complete);
  const EvaluationOptions with = SuiteEvaluationOptions(
      Parse({"--update_target=//mine:update", "--complete"}));
  EXPECT_EQ(with.update_target, "//mine:update");
  EXPECT_TRUE(with.is_complete);
}

TEST(SuiteProgramTest, WithoutAManifestItNamesTheRuleThatGivesOne) {
  EXPECT_THAT(ReadSuite(Parse({})),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("memory_gate_suite")));
  EXPECT_THAT(JudgeSuite(Parse({})),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(SuiteProgramTest, JudgesWhatTheManifestNames) {
  const std::string manifest = testing::TempDir() + "/manifest";
  std::ofstream(manifest) << "profile\t/nowhere/x.profile.binpb\t//a:b\n";
  const absl::StatusOr<JudgedSuite> suite =
      JudgeSuite(Parse({"--manifest=" + manifest}));
  ASSERT_THAT(suite, IsOk());
  EXPECT_THAT(suite->input.problems, SizeIs(1));
  EXPECT_EQ(suite->verdict.decision(), BAD_CONFIGURATION);
}

}  // namespace
}  // namespace footprint
