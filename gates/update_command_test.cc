#include "footprint/gates/update_command.h"

#include <cstdio>
#include <random>
#include <string>

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

// The oracle is the shell itself.
TEST(UpdateCommandTest, AShellReadsQuotedWordsBack) {
  std::mt19937 random(9);
  const std::string characters = "aZ0 '\"\\$`*?<>&|;,:()[]{}#~!\n\t=";
  for (int round = 0; round < 50; ++round) {
    std::string word;
    for (int i = random() % 12; i > 0; --i) {
      word += characters[random() % characters.size()];
    }
    // The dot keeps trailing newlines.
    const std::string command = "printf %s " + ShellQuote(word) + ".";
    FILE* pipe = popen(command.c_str(), "r");
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
