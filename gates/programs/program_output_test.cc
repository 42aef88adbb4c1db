#include "footprint/gates/programs/program_output.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "absl/status/status.h"
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

TEST(ProgramOutputTest, AReportReplacesNoThresholdFile) {
  const std::string path = testing::TempDir() + "/limits.textproto";
  const std::string thresholds =
      "# proto-file: gates/judge/gate.proto\n"
      "# proto-message: footprint.ThresholdFile\n";
  std::ofstream(path) << thresholds;
  EXPECT_THAT(WriteReport(path, "report"),
              StatusIs(absl::StatusCode::kAlreadyExists));
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), thresholds);
  EXPECT_THAT(WriteReport(path + ".sarif", "report"), IsOk());
  EXPECT_THAT(WriteReport(path + ".sarif", "newer"), IsOk());
  // Tools with one flag for both kinds of output do this.
  EXPECT_THAT(WriteReport("/dev/null", "report"), IsOk());
}

TEST(ProgramOutputTest, AFileHasNoColourAnd80Columns) {
  testing::internal::CaptureStdout();
  const ReportOptions options = OptionsOfTerminal();
  EXPECT_THAT(WriteStandardOutput("text"), IsOk());
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "text");
  EXPECT_FALSE(options.has_colour);
  EXPECT_EQ(options.width, 80U);
}

// Replaces standard output by a terminal while it lives.
class Terminal {
 public:
  Terminal() : before_(dup(STDOUT_FILENO)) {
    terminal_ = posix_openpt(O_RDWR | O_NOCTTY);
    EXPECT_EQ(grantpt(terminal_) | unlockpt(terminal_), 0);
    const int other_end = open(ptsname(terminal_), O_RDWR | O_NOCTTY);
    EXPECT_EQ(dup2(other_end, STDOUT_FILENO), STDOUT_FILENO);
    close(other_end);
  }
  ~Terminal() {
    dup2(before_, STDOUT_FILENO);
    close(before_);
    close(terminal_);
  }
  void SetWidth(unsigned short columns) const {
    const winsize size = {24, columns, 0, 0};
    EXPECT_EQ(ioctl(terminal_, TIOCSWINSZ, &size), 0);
  }

 private:
  const int before_;
  int terminal_;
};

TEST(ProgramOutputTest, ATerminalsWidthIsTakenWithinBounds) {
  setenv("TERM", "xterm", 1);
  unsetenv("NO_COLOR");
  const Terminal terminal;
  for (const auto& [columns, width] : std::map<unsigned short, size_t>{
           {0, 80}, {20, 60}, {132, 132}, {500, 160}}) {
    terminal.SetWidth(columns);
    EXPECT_EQ(OptionsOfTerminal().width, width);
  }
  EXPECT_TRUE(OptionsOfTerminal().has_colour);
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(OptionsOfTerminal().has_colour);
  unsetenv("NO_COLOR");
}

TEST(ProgramOutputTest, EachLineOfAMistakeNamesTheProgram) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(Complain("gate", "one\ntwo"), 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "gate: one\ngate: two\n");
}

}  // namespace
}  // namespace footprint
