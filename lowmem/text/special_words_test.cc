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

// Texts with the ids of words; -1: text.
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
}

}  // namespace
}  // namespace footprint
