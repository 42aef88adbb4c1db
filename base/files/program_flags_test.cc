#include "footprint/base/files/program_flags.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
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
  for (const char* wrong :
       {"--count=x", "--count=99999999999", "--cuont=3", "--helpx"}) {
    EXPECT_EXIT(Parse({"program", wrong}), testing::ExitedWithCode(2), "ERROR")
        << wrong;
    EXPECT_EXIT(Parse({"program", wrong}, 7), testing::ExitedWithCode(7),
                "ERROR.*\n.*program_flags_test --help lists the flags\n$");
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

std::string WorkingFolder() {
  char folder[4096];
  return getcwd(folder, sizeof(folder)) == nullptr ? "" : folder;
}

TEST(ProgramFlagsTest, PathsAreTheCallersWhereBazelRanTheProgram) {
  const std::string caller = testing::TempDir() + "/caller";
  const std::string runfiles =
      testing::TempDir() + "/program_flags_test.runfiles";
  const std::string others = testing::TempDir() + "/script.runfiles";
  for (const std::string& folder :
       {caller, runfiles, runfiles + "/main", others, others + "/main"}) {
    ASSERT_EQ(mkdir(folder.c_str(), 0777), 0) << folder;
  }
  ASSERT_EQ(chdir(caller.c_str()), 0);
  const std::string callers_folder = WorkingFolder();
  ASSERT_EQ(chdir((runfiles + "/main").c_str()), 0);
  const std::string bazels_folder = WorkingFolder();
  Parse({"program"});
  EXPECT_EQ(WorkingFolder(), bazels_folder);
  ASSERT_EQ(setenv("BUILD_WORKING_DIRECTORY", caller.c_str(), 1), 0);
  Parse({"program"});
  EXPECT_EQ(WorkingFolder(), callers_folder);
  // Here Bazel started a script, which calls this program with its own paths.
  ASSERT_EQ(chdir((others + "/main").c_str()), 0);
  const std::string scripts_folder = WorkingFolder();
  Parse({"program"});
  EXPECT_EQ(WorkingFolder(), scripts_folder);
  ASSERT_EQ(unsetenv("BUILD_WORKING_DIRECTORY"), 0);
}

}  // namespace
}  // namespace footprint
