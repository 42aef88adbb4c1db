#include "footprint/gates/programs/program_output.h"

#include <cstdlib>
#include <fstream>
#include <string>

#include "footprint/base/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(ProgramOutputTest, PathsAreTheCallers) {
  setenv("BUILD_WORKING_DIRECTORY", "/home/me", 1);
  EXPECT_EQ(PathOfCaller("x.json"), "/home/me/x.json");
  EXPECT_EQ(PathOfCaller("/tmp/x.json"), "/tmp/x.json");
  EXPECT_EQ(PathOfCaller(""), "");
  unsetenv("BUILD_WORKING_DIRECTORY");
  EXPECT_EQ(PathOfCaller("x.json"), "x.json");
}

TEST(ProgramOutputTest, WritesToTheFileOrSaysWhyNot) {
  const std::string path = testing::TempDir() + "/output.txt";
  EXPECT_EQ(FinishProgram("gate", "text\n", path, 1), 1);
  std::ifstream file(path);
  std::string word;
  file >> word;
  EXPECT_EQ(word, "text");
  testing::internal::CaptureStderr();
  EXPECT_EQ(FinishProgram("gate", "text\n", "/nowhere/x", 0), 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr().substr(0, 16),
            "gate: /nowhere/x");
}

TEST(ProgramOutputTest, AFileHasNoColourAnd80Columns) {
  testing::internal::CaptureStdout();
  const ReportOptions options = OptionsOfTerminal();
  EXPECT_THAT(WriteStandardOutput("text"), IsOk());
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "text");
  EXPECT_FALSE(options.has_colour);
  EXPECT_EQ(options.width, 80U);
}

TEST(ProgramOutputTest, EachLineOfAMistakeNamesTheProgram) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(Complain("gate", "one\ntwo"), 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "gate: one\ngate: two\n");
}

}  // namespace
}  // namespace footprint
