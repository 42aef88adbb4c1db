#include "footprint/lowmem/text/text_pattern.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Returns the parts, with matches in brackets.
std::vector<std::string> Cut(const TextPattern& pattern,
                             absl::string_view text) {
  const auto parts = pattern.Cut(text);
  EXPECT_THAT(parts, IsOk());
  std::vector<std::string> texts;
  for (const TextPart& part : *parts) {
    texts.push_back(part.is_match ? absl::StrCat("[", part.text, "]")
                                  : std::string(part.text));
  }
  return texts;
}

TEST(TextPatternTest, CutsWithoutAGap) {
  const auto pattern = TextPattern::Compile(R"(\p{L}+|\s+(?!\S))");
  ASSERT_THAT(pattern, IsOk());
  EXPECT_THAT(Cut(*pattern, "1\xc3\xa9t\xc3\xa9  2 "),
              ElementsAre("1", "[\xc3\xa9t\xc3\xa9]", "[ ]", " 2", "[ ]"));
  EXPECT_THAT(Cut(*pattern, ""), IsEmpty());
  EXPECT_THAT(Cut(*pattern, "123"), ElementsAre("123"));
}

// PCRE2 counts U+180E as whitespace; Unicode has not done so since 2013.
TEST(TextPatternTest, HasUnicodesWhitespace) {
  for (const char* pattern : {R"(\s)", R"([\s])", R"([^\S])"}) {
    const auto space = TextPattern::Compile(pattern);
    ASSERT_THAT(space, IsOk());
    EXPECT_THAT(Cut(*space, "a\xe1\xa0\x8e\xc2\x85\xc2\xa0"),
                ElementsAre("a\xe1\xa0\x8e", "[\xc2\x85]", "[\xc2\xa0]"))
        << pattern;
  }
  const auto other = TextPattern::Compile(R"(\S+|\\s)");
  ASSERT_THAT(other, IsOk());
  EXPECT_THAT(Cut(*other, "a\xe1\xa0\x8e b"),
              ElementsAre("[a\xe1\xa0\x8e]", " ", "[b]"));
}

// Like Oniguruma, ignores an empty match right after another match.
TEST(TextPatternTest, CutsWhereNothingMatches) {
  const auto pattern = TextPattern::Compile("x*");
  ASSERT_THAT(pattern, IsOk());
  EXPECT_THAT(Cut(*pattern, "axx\xc3\xa9"),
              ElementsAre("[]", "a", "[xx]", "\xc3\xa9", "[]"));
  const auto thousands = TextPattern::Compile(R"((?=(\d{3})+(?!\d)))");
  ASSERT_THAT(thousands, IsOk());
  EXPECT_THAT(Cut(*thousands, "1234567a"),
              ElementsAre("1", "[]", "234", "[]", "567a"));
}

TEST(TextPatternTest, BeginsAndEndsLines) {
  const auto pattern = TextPattern::Compile("^a|c$");
  ASSERT_THAT(pattern, IsOk());
  EXPECT_THAT(Cut(*pattern, "abac\nabc"),
              ElementsAre("[a]", "ba", "[c]", "\n", "[a]", "b", "[c]"));
}

TEST(TextPatternTest, TakesALiteralAsItStands) {
  EXPECT_THAT(Cut(TextPattern::Literal(".."), "a...b"),
              ElementsAre("a", "[..]", ".b"));
  EXPECT_THAT(Cut(TextPattern::Literal(""), "a"), ElementsAre("a"));
}

TEST(TextPatternTest, SaysWhatIsNoPattern) {
  const auto pattern = TextPattern::Compile("a(b");
  EXPECT_THAT(pattern, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(pattern.status().message(), HasSubstr("byte 3"));
}

TEST(TextPatternTest, EndsWhereAPatternWouldNot) {
  const auto pattern = TextPattern::Compile("(a|aa)+\\z");
  ASSERT_THAT(pattern, IsOk());
  EXPECT_THAT(pattern->Cut(std::string(64, 'a') + "c"),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

}  // namespace
}  // namespace footprint
