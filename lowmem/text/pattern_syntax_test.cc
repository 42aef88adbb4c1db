#include "footprint/lowmem/text/pattern_syntax.h"

#include "absl/status/status.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

TEST(PatternSyntaxTest, LeavesWhatBothUnderstand) {
  for (const char* pattern :
       {"", "a+b*?", "(?<!x)(?i:ab|c){2,3}", "[a-z\\]^-]", "\\p{L}\\x{41}\\.",
        "[^\\r\\n\\p{L}]?", "a{b}", "x{", "\xc3\xa9+", "(?<n>a)(?:m)", "[]a]",
        "a++b?+"}) {
    EXPECT_THAT(ToPcre2Pattern(pattern), IsOkAndHolds(pattern));
  }
}

TEST(PatternSyntaxTest, NamesClasses) {
  EXPECT_THAT(ToPcre2Pattern("\\s\\S"),
              IsOkAndHolds("[\\t-\\r\\x{85}\\p{Z}][^\\t-\\r\\x{85}\\p{Z}]"));
  EXPECT_THAT(ToPcre2Pattern("\\h[\\h-]\\v\\u00e9"),
              IsOkAndHolds("[0-9A-Fa-f][0-9A-Fa-f\\-]\\x0b\\x{00e9}"));
  EXPECT_THAT(ToPcre2Pattern("[[:punct:]-x]"),
              IsOkAndHolds("[\\p{P}\\p{S}\\-x]"));
  EXPECT_THAT(ToPcre2Pattern("\\p{Alpha}"), IsOkAndHolds("\\p{Alphabetic}"));
  EXPECT_THAT(ToPcre2Pattern("(?m).(?mi:a)"), IsOkAndHolds("(?s).(?si:a)"));
}

TEST(PatternSyntaxTest, WritesSetsOfSetsAsExpressions) {
  EXPECT_THAT(ToPcre2Pattern("[a-c&&[^b]]+"),
              IsOkAndHolds("(?:(?=[a-c])(?:[^b]))+"));
  EXPECT_THAT(ToPcre2Pattern("[a[bc]]"), IsOkAndHolds("(?:[bc]|[a])"));
  // The hyphen makes no range with the "a".
  EXPECT_THAT(ToPcre2Pattern("[a[b]-z]"), IsOkAndHolds("(?:[b]|[a\\-z])"));
  EXPECT_THAT(ToPcre2Pattern("[^a\\D]"),
              IsOkAndHolds("(?:(?!(?:[^\\p{Nd}]|[a]))(?s:.))"));
  EXPECT_THAT(ToPcre2Pattern("[^\\d]"), IsOkAndHolds("[^\\p{Nd}]"));
}

// A plus after an interval is a second repetition, not a possessive one.
TEST(PatternSyntaxTest, RepeatsIntervals) {
  EXPECT_THAT(ToPcre2Pattern("a\\p{N}{1,3}+|b"),
              IsOkAndHolds("a(?:\\p{N}{1,3})+|b"));
  EXPECT_THAT(ToPcre2Pattern("(a[bc]){2}+"), IsOkAndHolds("(?:(a[bc]){2})+"));
  EXPECT_THAT(ToPcre2Pattern("x{,2}y"), IsOkAndHolds("x{0,2}y"));
}

TEST(PatternSyntaxTest, RefusesASetWithoutAnEnd) {
  for (const char* pattern : {"ab[c", "[", "[a&&[b]", "[^", "[\\", "["}) {
    const auto translated = ToPcre2Pattern(pattern);
    EXPECT_THAT(translated, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(translated.status().message(), HasSubstr("does not end"));
  }
  EXPECT_THAT(ToPcre2Pattern("[[:vowel:]]").status().message(),
              HasSubstr("no class has the name \"vowel\""));
  EXPECT_THAT(ToPcre2Pattern(std::string(100, '[')).status().message(),
              HasSubstr("too many sets"));
}

}  // namespace
}  // namespace footprint
