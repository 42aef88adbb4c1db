#include "footprint/gates/server/label_pattern.h"

#include <string>

#include "absl/status/status.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

TEST(LabelPatternTest, AStarMatchesAnyText) {
  EXPECT_TRUE(LabelMatches("//team_a:fit-*", "//team_a:fit-small"));
  EXPECT_TRUE(LabelMatches("team_a-*", "team_a-"));
  EXPECT_TRUE(LabelMatches("*", "anything"));
  EXPECT_FALSE(LabelMatches("/...", "//team_a:fit")) << "a slash is missing";
  EXPECT_TRUE(LabelMatches("//a:b", "//a:b"));
  EXPECT_FALSE(LabelMatches("//a:b", "//a:bc"));
  EXPECT_FALSE(LabelMatches("//a:b", ""));
  EXPECT_TRUE(LabelMatches("//a:\\*", "//a:*"));
  EXPECT_FALSE(LabelMatches("//a:\\*", "//a:b"));
}

TEST(LabelPatternTest, DotsMatchPackagesBelow) {
  for (const char* label : {"//team_a", "//team_a:fit", "//team_a/b:fit",
                            "//team_a/b/c", "//team_a/...:x"}) {
    EXPECT_TRUE(LabelMatches("//team_a/...", label)) << label;
  }
  for (const char* label :
       {"", "//team_ab:fit", "//team:fit", "/team_a:fit", "team_a:fit",
        "//x//team_a:fit", "//bundle:team_a/fit"}) {
    EXPECT_FALSE(LabelMatches("//team_a/...", label)) << label;
  }
  EXPECT_TRUE(LabelMatches("//*_a/...", "//team_a/b:fit"));
  EXPECT_TRUE(LabelMatches("//...", "//team_a:fit"));
  EXPECT_FALSE(LabelMatches("//...", "team_a"));
  EXPECT_FALSE(LabelMatches("//a...", "//a/b"));
}

TEST(LabelPatternTest, APatternIsAPartOfALine) {
  for (const char* valid :
       {"//...", "//a/...", "*", "\\*", "gr\xc3\xb6\xc3\x9f"}) {
    EXPECT_THAT(CheckLabelPattern(valid), IsOk()) << valid;
  }
  EXPECT_THAT(CheckLabelPattern(std::string(256, 'a')), IsOk());
  for (const std::string& wrong :
       {std::string(), std::string("a b"), std::string("a,b"),
        std::string("a\tb"), std::string("a\n"), std::string("a\\b"),
        std::string("a\\"), std::string("\xff"), std::string("a\0b", 3),
        std::string(257, 'a'), std::string("/...")}) {
    EXPECT_THAT(CheckLabelPattern(wrong),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("write for example //team_a/...")))
        << wrong;
  }
}

}  // namespace
}  // namespace footprint
