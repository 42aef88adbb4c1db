#include "footprint/base/text/utf8.h"

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(Utf8Test, TakesEachLength) {
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_TRUE(IsUtf8("conv1.weight"));
  EXPECT_TRUE(IsUtf8("\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80"));
  EXPECT_EQ(Utf8SequenceLength("a"), 1u);
  EXPECT_EQ(Utf8SequenceLength("\xc3\xbc"), 2u);
  EXPECT_EQ(Utf8SequenceLength("\xe2\x82\xac"), 3u);
  EXPECT_EQ(Utf8SequenceLength("\xf0\x9f\x98\x80"), 4u);
  EXPECT_EQ(Utf8SequenceLength(""), 0u);
}

TEST(Utf8Test, RefusesWhatIsNotWellFormed) {
  for (const char* text :
       {"\xff", "a\xc3", "\xc3(", "\x80", "\xc0\x80", "\xe0\x80\x80",
        "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xe2\x82"}) {
    EXPECT_FALSE(IsUtf8(text)) << text;
  }
}

}  // namespace
}  // namespace footprint
