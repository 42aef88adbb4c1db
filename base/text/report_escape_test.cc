#include "footprint/base/text/report_escape.h"

#include <regex>
#include <string>

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(ReportEscapeTest, ProtoKeepsTextThatIsUtf8) {
  EXPECT_EQ(EscapeForProto("a\n\tb \xc3\xa9 <&>"), "a\n\tb \xc3\xa9 <&>");
  EXPECT_EQ(EscapeForProto("a\xff\x1b["), "a\\xff\\x1b[");
  // These are the first and last characters of several lengths.
  for (const std::string text : {"\xc2\xa1", "\xdf\xbf", "\xe0\xa0\x80",
                                 "\xef\xbf\xbd", "\xf0\x90\x80\x80"}) {
    EXPECT_EQ(EscapeForProto(text), text);
  }
}

TEST(ReportEscapeTest, PlainTextStaysAsItIs) {
  const std::string plain = "BM_Fit/rows:10 caf\xc3\xa9, 1.50 MiB";
  EXPECT_EQ(EscapeForTerminal(plain), plain);
  EXPECT_EQ(EscapeForXml(plain), plain);
}

TEST(ReportEscapeTest, SpecialCharactersLoseTheirMeaning) {
  EXPECT_EQ(EscapeForXml("<a&\"b\">"), "&lt;a&amp;&quot;b&quot;&gt;");
  EXPECT_EQ(EscapeForMarkdown("a|b <i> _x_"), "a\\|b &lt;i&gt; \\_x\\_");
}

TEST(ReportEscapeTest, ControlCharactersAreShown) {
  EXPECT_EQ(EscapeForTerminal("a\n\t\x1b[2J\x7f"), "a\\n\\t\\x1b[2J\\x7f");
  EXPECT_EQ(EscapeForXml("a\n\x01"), "a&#10;\\x01");
  EXPECT_EQ(EscapeForMarkdown("a\nb\x01"), "a<br>b\\\\x01");
}

// "BM_\u202eecil" would be read as "BM_lice".
TEST(ReportEscapeTest, CharactersThatTurnALineRoundAreShown) {
  EXPECT_EQ(EscapeForTerminal("BM_\u202ex"), "BM_\\xe2\\x80\\xaex");
  EXPECT_EQ(EscapeForXml("\u2066"), "\\xe2\\x81\\xa6");
  EXPECT_EQ(EscapeForMarkdown("a\u2028b"), "a\\\\xe2\\\\x80\\\\xa8b");
  EXPECT_EQ(EscapeForTerminal("\u061c\u200f"), "\\xd8\\x9c\\xe2\\x80\\x8f");
  // The neighbouring characters stay.
  EXPECT_EQ(EscapeForTerminal("\u2027\u2030\u206a"), "\u2027\u2030\u206a");
}

TEST(ReportEscapeTest, WhatIsNoUtf8IsShown) {
  // The bytes are stray, cut short, overlong, a surrogate, and beyond Unicode.
  EXPECT_EQ(EscapeForTerminal("\x80"), "\\x80");
  EXPECT_EQ(EscapeForTerminal("\xc3"), "\\xc3");
  EXPECT_EQ(EscapeForTerminal("\xc0\xaf"), "\\xc0\\xaf");
  EXPECT_EQ(EscapeForTerminal("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");
  EXPECT_EQ(EscapeForTerminal("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(EscapeForTerminal("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(EscapeForTerminal("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80");
  // These are U+FFFE and U+FFFF, and their neighbours.
  EXPECT_EQ(EscapeForXml("\xef\xbf\xbd"), "\xef\xbf\xbd");
  EXPECT_EQ(EscapeForXml("\xef\xbf\xbe"), "\\xef\\xbf\\xbe");
  EXPECT_EQ(EscapeForXml("\xef\xbf\xbf"), "\\xef\\xbf\\xbf");
  EXPECT_EQ(EscapeForXml("\xef\xbe\xbe"), "\xef\xbe\xbe");
}

TEST(ReportEscapeTest, ARegularExpressionMatchesTheTextOnly) {
  for (const auto syntax : {std::regex::ECMAScript, std::regex::extended}) {
    for (const char special : std::string(".^$|()[{*+?\\")) {
      const std::string text = std::string("a") + special + "b]}";
      const std::regex expression(EscapeForRegularExpression(text), syntax);
      EXPECT_TRUE(std::regex_match(text, expression)) << text;
      EXPECT_FALSE(std::regex_match("axb]}", expression)) << text;
      EXPECT_FALSE(std::regex_match("a", expression)) << text;
    }
  }
  EXPECT_EQ(EscapeForRegularExpression("BM_Fit/rows:10"), "BM_Fit/rows:10");
  EXPECT_EQ(EscapeForRegularExpression("\xff\n"), "\xff\n");
}

}  // namespace
}  // namespace footprint
