#include "footprint/gates/judge/posix_quote.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace footprint {
namespace {

std::string ReadBack(const std::string& word) {
  const std::string output = testing::TempDir() + "/output";
  // The shell of std::system is the oracle. The dot keeps trailing newlines.
  const std::string command =
      "printf %s. " + PosixQuote(word) + " >" + PosixQuote(output);
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  std::ifstream file(output);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(PosixQuoteTest, TheShellOfSystemReadsQuotedWordsBack) {
  std::mt19937 random(9);
  const std::string characters =
      "aZ0 '\"\\$`*?<>&|;,:()[]{}#~!\n\t=7-\x01\x1b\x7f\xff\xc3\xa9";
  for (int round = 0; round < 200; ++round) {
    std::string word;
    for (int i = random() % 12; i > 0; --i) {
      word += characters[random() % characters.size()];
    }
    EXPECT_EQ(ReadBack(word), word + ".");
  }
}

// Git allows a branch of this name.
TEST(PosixQuoteTest, ANameThatWouldRunACommandIsAWord) {
  for (const std::string marks : {"\xe2\x80\xae", "\x01", "\n", ""}) {
    const std::string file = testing::TempDir() + "/pwned";
    const std::string word = "x" + marks + "';touch${IFS}" + file + ";#";
    EXPECT_EQ(ReadBack(word), word + ".");
    EXPECT_FALSE(std::ifstream(file).good());
  }
}

}  // namespace
}  // namespace footprint
