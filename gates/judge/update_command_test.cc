#include "footprint/gates/judge/update_command.h"

#include <cstdio>
#include <fstream>
#include <random>
#include <string>

#include "footprint/base/text/report_escape.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(UpdateCommandTest, NamesOneBenchmark) {
  const UpdateCommand command{"//gates:update"};
  EXPECT_EQ(command.ToAccept("//a:b", "BM_X/rows:1", true),
            "bazel run //gates:update -- --allow_increase --reason=\"...\" "
            "--only=//a:b --benchmark=BM_X/rows:1");
  EXPECT_EQ(command.ToAccept("//a:b", "BM_X<int, 2>", false),
            "bazel run //gates:update -- --only=//a:b "
            "--benchmark='BM_X<int, 2>'");
  EXPECT_EQ(command.ToAdd("//a:b", "BM_X"),
            "bazel run //gates:update -- --add --only=//a:b --benchmark=BM_X");
  EXPECT_EQ(command.ToBless("//a:b", "t/a.new.textproto"),
            "bazel run //gates:update -- --environment=t/a.new.textproto "
            "--only=//a:b");
}

TEST(UpdateCommandTest, ANameWithAStarNamesItselfOnly) {
  const UpdateCommand command{"//gates:update"};
  EXPECT_EQ(command.ToAdd("//a:b", "BM_F<int*>"),
            "bazel run //gates:update -- --add --only=//a:b "
            "--benchmark='BM_F<int\\*>'");
  EXPECT_EQ(command.ToBless("//a:*", "t"),
            "bazel run //gates:update -- --environment=t --only='//a:\\*'");
}

TEST(UpdateCommandTest, NamesEveryBenchmarkByNone) {
  const UpdateCommand command{"//gates:update"};
  EXPECT_EQ(command.ToAccept("//a:*", "", false),
            "bazel run //gates:update -- --only='//a:*'");
}

// The command must work when it is copied from a report, which shows no newline
// inside a line.
TEST(UpdateCommandTest, ACommandIsOneLineOfWhatATerminalShows) {
  EXPECT_EQ(ShellQuote("BM_A\nB\t'\\\x01"
                       "7\xff"),
            "$'BM_A\\nB\\t\\'\\\\\\0017\\377'");
  EXPECT_EQ(ShellQuote("BM_\xc3\xa9 x"), "'BM_\xc3\xa9 x'");
}

// The oracle is the shell itself.
TEST(UpdateCommandTest, AShellReadsQuotedWordsBack) {
  std::mt19937 random(9);
  const std::string characters =
      "aZ0 '\"\\$`*?<>&|;,:()[]{}#~!\n\t=7\x01\x7f\xff\xc3\xa9";
  const std::string script = testing::TempDir() + "/script";
  for (int round = 0; round < 200; ++round) {
    std::string word;
    for (int i = random() % 12; i > 0; --i) {
      word += characters[random() % characters.size()];
    }
    EXPECT_EQ(EscapeForTerminal(ShellQuote(word)), ShellQuote(word));
    // The dot keeps trailing newlines.
    const std::string command = "printf %s " + ShellQuote(word) + ".";
    std::ofstream(script) << command;
    FILE* pipe = popen(("bash " + script).c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    std::string read;
    for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) {
      read += static_cast<char>(c);
    }
    EXPECT_EQ(pclose(pipe), 0) << command;
    EXPECT_EQ(read, word + ".");
  }
}

}  // namespace
}  // namespace footprint
