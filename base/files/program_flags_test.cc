#include "footprint/base/files/program_flags.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

ABSL_FLAG(int32_t, count, 3, "a number");

namespace footprint {
namespace {

using testing::ElementsAre;

std::vector<std::string> Parse(std::vector<std::string> arguments,
                               int wrong_flag_exit_code = 2) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(&argument[0]);
  const std::vector<char*> left = ParseProgramFlags(
      static_cast<int>(argv.size()), argv.data(), wrong_flag_exit_code);
  return {left.begin(), left.end()};
}

TEST(ProgramFlagsTest, LeavesTheOtherArguments) {
  EXPECT_THAT(Parse({"program", "a", "--count=5", "b"}),
              ElementsAre("program", "a", "b"));
  EXPECT_EQ(absl::GetFlag(FLAGS_count), 5);
}

TEST(ProgramFlagsDeathTest, EndsAsToldWhereAFlagIsWrong) {
  for (const char* wrong : {"--count=x", "--count=99999999999", "--cuont=3"}) {
    EXPECT_EXIT(Parse({"program", wrong}), testing::ExitedWithCode(2), "ERROR")
        << wrong;
    EXPECT_EXIT(Parse({"program", wrong}, 7), testing::ExitedWithCode(7),
                "ERROR");
  }
}

TEST(ProgramFlagsDeathTest, EndsWithNoughtAfterHelp) {
  for (const char* help : {"--help", "--helpfull", "--version"}) {
    EXPECT_EXIT(Parse({"program", help}), testing::ExitedWithCode(0), "")
        << help;
  }
}

void AskForHelpOnAFullDisk() {
  dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
  Parse({"program", "--help"});
}

TEST(ProgramFlagsDeathTest, HelpThatIsLostIsAnError) {
  EXPECT_EXIT(AskForHelpOnAFullDisk(), testing::ExitedWithCode(1),
              "results are lost");
}

void ParseAndExit(int code) {
  Parse({"program"});
  exit(code);
}

TEST(ProgramFlagsDeathTest, LeavesLaterExitCodesAlone) {
  EXPECT_EXIT(ParseAndExit(7), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace footprint
