#include "footprint/lowmem/text/unicode_text.h"

#include <cstdint>
#include <initializer_list>
#include <string>

#include "absl/strings/string_view.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

TEST(CheckUtf8Test, SaysWhichByteBeginsNoCharacter) {
  EXPECT_THAT(CheckUtf8(""), IsOk());
  EXPECT_THAT(CheckUtf8("a\xc3\xa9\xf0\x9f\x98\x80"), IsOk());
  for (const char* bad : {"ab\x80", "ab\xc3", "ab\xed\xa0\x80", "ab\xc0\xaf",
                          "ab\xf4\x90\x80\x80", "ab\xff"}) {
    EXPECT_THAT(CheckUtf8(bad).message(), HasSubstr("byte 2 ")) << bad;
  }
}

TEST(TakeCharacterTest, TakesOneAfterTheOther) {
  absl::string_view text = "a\xc3\xa9\xf0\x9f\x98\x80";
  EXPECT_EQ(TakeCharacter(&text), 'a');
  EXPECT_EQ(TakeCharacter(&text), 0xe9);
  EXPECT_EQ(TakeCharacter(&text), 0x1f600);
  EXPECT_TRUE(text.empty());
  text = "\xff\x41";
  EXPECT_EQ(TakeCharacter(&text), 0xfffd);
  EXPECT_EQ(TakeCharacter(&text), 'A');
  std::string made;
  for (const int32_t character :
       std::initializer_list<int32_t>{0x41, 0xe9, 0x1f600}) {
    AppendCharacter(character, &made);
  }
  EXPECT_EQ(made, "A\xc3\xa9\xf0\x9f\x98\x80");
}

TEST(TakeGraphemeTest, TakesWhatBelongsTogether) {
  absl::string_view text = "ae\xcc\x81\r\n\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa";
  EXPECT_EQ(TakeGrapheme(&text), "a");
  EXPECT_EQ(TakeGrapheme(&text), "e\xcc\x81");
  EXPECT_EQ(TakeGrapheme(&text), "\r\n");
  EXPECT_EQ(TakeGrapheme(&text), "\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa");
  EXPECT_TRUE(text.empty());
}

TEST(CharacterClassTest, AreUnicodes) {
  for (const int32_t space : std::initializer_list<int32_t>{
           ' ', '\t', '\n', 0x85, 0xa0, 0x2028, 0x3000}) {
    EXPECT_TRUE(IsWhitespace(space)) << space;
  }
  for (const int32_t other :
       std::initializer_list<int32_t>{'a', 0x180e, 0x200b}) {
    EXPECT_FALSE(IsWhitespace(other)) << other;
  }
  for (const int32_t sign : std::initializer_list<int32_t>{
           '!', '/', ':', '@', '[', '`', '{', '~', '$', 0x2014, 0x3001, 0xbf}) {
    EXPECT_TRUE(IsPunctuation(sign)) << sign;
  }
  for (const int32_t other :
       std::initializer_list<int32_t>{'a', '0', ' ', 0x20ac, 0xd7}) {
    EXPECT_FALSE(IsPunctuation(other)) << other;
  }
  for (const int32_t control :
       std::initializer_list<int32_t>{0, 7, 0x7f, 0xad, 0x200d, 0xe000}) {
    EXPECT_TRUE(IsControl(control)) << control;
  }
  for (const int32_t other :
       std::initializer_list<int32_t>{'\t', '\n', '\r', ' ', 'a'}) {
    EXPECT_FALSE(IsControl(other)) << other;
  }
  EXPECT_TRUE(IsNonspacingMark(0x301));
  EXPECT_FALSE(IsNonspacingMark('a'));
  for (const int32_t mark :
       std::initializer_list<int32_t>{0x301, 0x93f, 0x20dd}) {
    EXPECT_TRUE(IsMark(mark)) << mark;
  }
  EXPECT_FALSE(IsMark('a'));
  EXPECT_FALSE(IsNonspacingMark(0x93f));
  EXPECT_TRUE(IsNumber('7'));
  EXPECT_TRUE(IsNumber(0x2167));
  EXPECT_FALSE(IsNumber('x'));
  EXPECT_TRUE(IsCjkIdeograph(0x4e00));
  EXPECT_TRUE(IsCjkIdeograph(0x2f800));
  EXPECT_FALSE(IsCjkIdeograph(0x3042));
  EXPECT_FALSE(IsCjkIdeograph(0xa000));
}

TEST(ToLowerCaseTest, LowersEachCharacter) {
  EXPECT_EQ(ToLowerCase("ABC \xc3\x9c"), "abc \xc3\xbc");
  EXPECT_EQ(ToLowerCase("\xc4\xb0x"), "i\xcc\x87x");
}

TEST(ToNormalFormTest, ComposesAndDecomposes) {
  EXPECT_EQ(ToNormalForm(NormalForm::kNfc, "e\xcc\x81"), "\xc3\xa9");
  EXPECT_EQ(ToNormalForm(NormalForm::kNfd, "\xc3\xa9"), "e\xcc\x81");
  EXPECT_EQ(ToNormalForm(NormalForm::kNfkc, "\xef\xac\x81"), "fi");
  EXPECT_EQ(ToNormalForm(NormalForm::kNfkd, "\xc2\xbd"),
            "1\xe2\x81\x84"
            "2");
  EXPECT_EQ(ToNormalForm(NormalForm::kNfc, std::string("a\0b", 3)),
            std::string("a\0b", 3));
}

TEST(UnicodeTextTest, TellsWhatWordsAreMadeOf) {
  for (const int32_t letter : {0x61, 0x5f, 0x37, 0xe9, 0x4f60, 0x301, 0x93f,
                               0x2167, 0x203f, 0x200d, 0x24b6, 0x1f170}) {
    EXPECT_TRUE(IsWordCharacter(letter)) << letter;
  }
  for (const int32_t other :
       {0x20, 0x2d, 0xb2, 0xa0, 0x2014, 0x1f600, 0x2581}) {
    EXPECT_FALSE(IsWordCharacter(other)) << other;
  }
}

}  // namespace
}  // namespace footprint
