#include "footprint/lowmem/text/special_words.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// Returns the parts with the ids of their words; -1 stands for text.
std::vector<std::pair<std::string, int>> Cut(const SpecialWords& words,
                                             absl::string_view text) {
  std::vector<std::pair<std::string, int>> parts;
  for (const SpecialWords::Part& part : words.Cut(text)) {
    parts.emplace_back(std::string(part.text),
                       part.word == nullptr ? -1 : part.word->id);
  }
  return parts;
}

TEST(SpecialWordsTest, TakesTheLongestAtEachPlace) {
  SpecialWords words;
  EXPECT_TRUE(words.empty());
  words.Add({"<a>", 1});
  words.Add({"<a>b", 2});
  words.Add({"<", 3});
  words.Add({"", 4});
  EXPECT_THAT(Cut(words, "x<a>b<a><y"),
              ElementsAre(Pair("x", -1), Pair("<a>b", 2), Pair("<a>", 1),
                          Pair("<", 3), Pair("y", -1)));
  EXPECT_THAT(Cut(words, ""), IsEmpty());
}

TEST(SpecialWordsTest, TakesWhitespaceWithIt) {
  SpecialWords words;
  SpecialWord word = {"<m>", 1};
  word.takes_left = true;
  words.Add(word);
  word = {"<r>", 2};
  word.takes_right = true;
  words.Add(word);
  EXPECT_THAT(Cut(words, "a  <m> b <r> \nc"),
              ElementsAre(Pair("a", -1), Pair("  <m>", 1), Pair(" b ", -1),
                          Pair("<r> \n", 2), Pair("c", -1)));
}

TEST(SpecialWordsTest, LeavesASingleWordWithinAnother) {
  SpecialWords words;
  SpecialWord word = {"cat", 1};
  word.is_single = true;
  words.Add(word);
  EXPECT_THAT(Cut(words, "cat concat cats cat."),
              ElementsAre(Pair("cat", 1), Pair(" concat cats ", -1),
                          Pair("cat", 1), Pair(".", -1)));
  // A dash, which takes three bytes, is not a letter; an accented letter is
  // one.
  EXPECT_THAT(Cut(words,
                  "\xe2\x80\x94"
                  "cat\xc3\xa9 \xe2\x80\x94"
                  "cat\xe2\x80\x94"),
              ElementsAre(Pair("\xe2\x80\x94"
                               "cat\xc3\xa9 \xe2\x80\x94",
                               -1),
                          Pair("cat", 1), Pair("\xe2\x80\x94", -1)));
}

// A shorter word does not match where a longer one would have to stand alone.
TEST(SpecialWordsTest, TakesNoShorterWordInstead) {
  SpecialWords words;
  SpecialWord word = {"cats", 1};
  word.is_single = true;
  words.Add(word);
  words.Add({"cat", 2});
  EXPECT_THAT(Cut(words, "catsy cat"),
              ElementsAre(Pair("catsy ", -1), Pair("cat", 2)));
}

// U+3000 and U+00A0 are whitespace as well. Whitespace goes to one word only.
TEST(SpecialWordsTest, TakesWhitespaceOfAnyKindOnce) {
  SpecialWords words;
  SpecialWord word = {"<m>", 1};
  word.takes_left = true;
  word.takes_right = true;
  words.Add(word);
  word.content = "\n";
  word.id = 2;
  words.Add(word);
  word.content = " ";
  word.id = 3;
  word.takes_left = false;
  words.Add(word);
  EXPECT_THAT(Cut(words, "a\xe3\x80\x80<m>\xc2\xa0 \nb"),
              ElementsAre(Pair("a", -1), Pair("\xe3\x80\x80<m>\xc2\xa0 \n", 1),
                          Pair(" \n", 3), Pair("b", -1)));
  EXPECT_THAT(Cut(words, "<m>\n"), ElementsAre(Pair("<m>\n", 1)));
}

}  // namespace
}  // namespace footprint
