#include "footprint/base/text/wrap_text.h"

#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/types/optional.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::ResultOf;

std::vector<std::string> Lines(const std::string& text) {
  return absl::StrSplit(text, '\n');
}

TEST(WrapTextTest, BreaksAtBlanksAndIndentsTheRest) {
  EXPECT_EQ(WrapText("REJECT //a:b: peak live is 1,001 B", 20, 4),
            "REJECT //a:b: peak\n    live is 1,001 B");
  EXPECT_EQ(WrapText("", 20, 4), "");
  EXPECT_EQ(WrapText("exactly twenty chars", 20, 4), "exactly twenty chars");
  EXPECT_EQ(WrapText("exactly twenty chars", 19, 4),
            "exactly twenty\n    chars");
  EXPECT_EQ(WrapText("exactly twenty-1 chars", 20, 4),
            "exactly twenty-1\n    chars");
}

TEST(WrapTextTest, KeepsBlanksWithinALine) {
  EXPECT_EQ(WrapText("  peak live    12 B  max 20 B", 40, 4),
            "  peak live    12 B  max 20 B");
}

TEST(WrapTextTest, BreaksAWideWordAfterAMark) {
  EXPECT_EQ(WrapText("//trainer_manager/runtime:training", 20, 2),
            "//trainer_manager/\n  runtime:training");
}

TEST(WrapTextTest, AMarkNearTheBeginBreaksNoWord) {
  EXPECT_EQ(WrapText("abc:defghijklmnop", 10, 2), "abc:defghi\n  jklmnop");
}

TEST(WrapTextTest, AMarkBeforeANumberIsOutsideOfIt) {
  EXPECT_EQ(WrapText("aaaaaaaaaaaa/1bbbbbbbb", 14, 2),
            "aaaaaaaaaaaa/\n  1bbbbbbbb");
}

TEST(WrapTextTest, PartsNoNumber) {
  EXPECT_EQ(WrapText("aaaaaaaaaaaaaaaaaa123456", 20, 2),
            "aaaaaaaaaaaaaaaaaa\n  123456");
  EXPECT_EQ(WrapText("aaaaaaaaaaaaaaaa1,234,567", 20, 2),
            "aaaaaaaaaaaaaaaa\n  1,234,567");
}

TEST(WrapTextTest, LosesNothingAndIsNeverWider) {
  std::mt19937 random(3);
  const std::string characters = "ab/:_19 ,.\xc3\xa9";
  for (int i = 0; i < 2000; ++i) {
    std::string text = "x";
    for (int j = random() % 120; j > 0; --j) {
      const size_t at = random() % (characters.size() - 1);
      text += at == characters.size() - 2 ? "\xc3\xa9"
                                          : std::string(1, characters[at]);
    }
    const size_t width = 12 + random() % 40;
    const std::string wrapped = WrapText(text, width, random() % 4);
    EXPECT_THAT(Lines(wrapped),
                Each(ResultOf(DisplayWidth, testing::Le(width))))
        << text;
    EXPECT_EQ(absl::StrReplaceAll(wrapped, {{" ", ""}, {"\n", ""}}),
              absl::StrReplaceAll(text, {{" ", ""}}));
  }
}

TEST(WrapTextTest, CountsCodePoints) {
  EXPECT_EQ(DisplayWidth("\xc3\xa9\xc3\xa9"), 2U);
  EXPECT_EQ(
      WrapText("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9 \xc3\xa9\xc3\xa9\xc3\xa9", 8,
               0),
      "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9 \xc3\xa9\xc3\xa9\xc3\xa9");
}

TEST(ShortenMiddleTest, KeepsBothEnds) {
  EXPECT_EQ(ShortenMiddle("short", 10), "short");
  EXPECT_EQ(*ShortenMiddle("//trainer_manager/runtime:vgg16", 24),
            "//traine...runtime:vgg16");
  EXPECT_EQ(ShortenMiddle("//gates/deployments/tabular:linear_regression", 33),
            "//gates/...:linear_regression");
  EXPECT_EQ(DisplayWidth(*ShortenMiddle("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
                                        "abcdefgh\xc3\xa9\xc3\xa9",
                                        10)),
            10U);
  EXPECT_EQ(ShortenMiddle("abcdefghijklmnopqrstuvwxyz", 13), "abcde...vwxyz");
}

// This is the header's example.
TEST(ShortenMiddleTest, CutsBetweenWords) {
  EXPECT_EQ(ShortenMiddle("a/name/of/many/parts:last", 15), "a/name/...:last");
}

TEST(ShortenMiddleTest, OfTwoCutsThatReadAsWellTheFirst) {
  // "train/...es" has the same cost.
  EXPECT_EQ(ShortenMiddle("train/tables", 11), "tr...tables");
}

TEST(ShortenMiddleTest, LosesNoDigit) {
  // The part before the number is removed, though the number is in the middle.
  EXPECT_EQ(ShortenMiddle("abcdefghijkl12345mn", 14), "abcd...12345mn");
}

TEST(ShortenMiddleTest, RefusesWhereADigitWouldGo) {
  EXPECT_EQ(ShortenMiddle("ab1cd2ef3gh4ij5kl", 10), absl::nullopt);
  EXPECT_EQ(ShortenMiddle("abcdefghijkl", 6), absl::nullopt);
}

// ---- Commands, read back by a real shell ----

// Returns the words that a shell makes of a command, each in brackets.
std::string JoinWords(const std::string& command) {
  const std::string path = absl::StrCat(testing::TempDir(), "/command.sh");
  std::ofstream(path, std::ios::binary) << "printf '[%s]' " << command << "\n";
  FILE* const shell = popen(absl::StrCat("bash ", path).c_str(), "r");
  std::string words;
  char bytes[4096];
  for (size_t count; (count = fread(bytes, 1, sizeof(bytes), shell)) > 0;) {
    words.append(bytes, count);
  }
  EXPECT_EQ(pclose(shell), 0);
  return words;
}

TEST(WrapCommandTest, BreaksBetweenWords) {
  EXPECT_EQ(WrapCommand("bazel run //a:b -- --only=//c:d", 20, 2),
            "bazel run //a:b -- \\\n  --only=//c:d");
  EXPECT_EQ(WrapCommand("bazel run //a:b", 80, 2), "bazel run //a:b");
  EXPECT_EQ(WrapCommand("bazel run //a:b", 30, 2, 20), "bazel \\\n  run //a:b");
}

// Two columns are reserved for a blank and a backslash.
TEST(WrapCommandTest, BreaksAWideWordNoOftenerThanItMust) {
  EXPECT_EQ(WrapCommand("abcdefghijkl", 14, 2), "abcdefghijkl");
  EXPECT_EQ(WrapCommand("abcdefghijklm", 14, 2), "abcdefghijkl\\\nm");
  EXPECT_EQ(WrapCommand("abcdefghijklmnopqrst", 14, 2),
            "abcdefghijkl\\\nmnopqrst");
}

TEST(WrapCommandTest, AShellReadsTheSameWords) {
  const std::vector<std::string> commands = {
      "a 'b c d e f g h i j k l m n o p q r s t u v w x y z' e",
      "--reason=\"one two three four five six \\\" seven\" --only=//a:b",
      "--benchmark=$'BM_\\n\\t\\\"\\303\\251\\'abcdefghijklmnopqrstuvw'",
      "'it'\\''s a very long quoted word'\\''s end'",
      "--only=//a/very/long/label/that/needs/more/than/a/line:of_text",
      "$'\\001\\002\\003\\004\\005\\006\\007'",
  };
  for (const std::string& command : commands) {
    for (size_t width = 12; width < 60; ++width) {
      const std::string wrapped = WrapCommand(command, width, 4);
      EXPECT_THAT(Lines(wrapped),
                  Each(ResultOf(DisplayWidth, testing::Le(width))))
          << wrapped;
    }
    for (size_t width : {12, 13, 14, 17, 23, 40}) {
      EXPECT_EQ(JoinWords(WrapCommand(command, width, 4)), JoinWords(command))
          << width;
    }
  }
}

}  // namespace
}  // namespace footprint
