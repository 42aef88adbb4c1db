#include "footprint/lowmem/text/byte_alphabet.h"

#include <set>
#include <string>

#include "footprint/lowmem/text/unicode_text.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(ByteAlphabetTest, IsGpt2s) {
  EXPECT_EQ(FromByteAlphabet("\xc4\xa0world"), " world");
  EXPECT_EQ(FromByteAlphabet("\xc4\x8a"), "\n");
  EXPECT_EQ(FromByteAlphabet("\xc3\xa9"), "\xe9");
  EXPECT_EQ(FromByteAlphabet("\xc4\x80"), std::string(1, '\0'));
  EXPECT_EQ(FromByteAlphabet("\xc5\x83"), "\xad");
  EXPECT_FALSE(FromByteAlphabet(" ").has_value());
  EXPECT_FALSE(FromByteAlphabet("\xe4\xbd\xa0").has_value());
  EXPECT_FALSE(FromByteAlphabet("\xc5\x84").has_value());
}

TEST(ByteAlphabetTest, HasEachByteOnce) {
  std::set<std::string> bytes;
  for (int character = 0; character < 0x200; ++character) {
    std::string word;
    AppendCharacter(character, &word);
    const auto byte = FromByteAlphabet(word);
    if (!byte.has_value()) continue;
    EXPECT_EQ(byte->size(), 1u);
    EXPECT_TRUE(bytes.insert(*byte).second) << character;
  }
  EXPECT_EQ(bytes.size(), 256u);
}

TEST(ByteAlphabetTest, WritesAnyByte) {
  EXPECT_EQ(ToByteAlphabet(" a\n"),
            "\xc4\xa0"
            "a\xc4\x8a");
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(FromByteAlphabet(ToByteAlphabet(all)), all);
}

}  // namespace
}  // namespace footprint
