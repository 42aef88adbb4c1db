#include "footprint/base/files/sha256.h"

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// These are the examples of FIPS 180 and of NIST's test vectors.
TEST(Sha256Test, GivesThePublishedHashes) {
  EXPECT_EQ(Sha256Hex(""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(
      Sha256Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256Hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256Test, GivesItsBytesToo) {
  Sha256 hash;
  hash.Add("abc");
  const std::string bytes = hash.Finish();
  EXPECT_EQ(absl::BytesToHexString(bytes),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  // Nothing is written beyond the last byte.
  EXPECT_EQ(bytes.c_str()[32], '\0');
}

// The sizes cover the ends of blocks and of the padding.
TEST(Sha256Test, PiecesGiveTheHashOfTheWhole) {
  std::string text;
  for (int i = 0; i < 200; ++i) text.push_back(static_cast<char>(i * 7));
  for (size_t size = 0; size <= text.size(); ++size) {
    const absl::string_view whole = absl::string_view(text).substr(0, size);
    const std::string expected = Sha256Hex(whole);
    for (const size_t piece : {1, 3, 55, 63, 64, 65}) {
      Sha256 hash;
      for (size_t i = 0; i < size; i += piece) {
        hash.Add(whole.substr(i, piece));
      }
      EXPECT_EQ(hash.FinishHex(), expected) << size << " by " << piece;
    }
  }
}

TEST(Sha256Test, KnowsAHashByItsForm) {
  const std::string hash = Sha256Hex("");
  EXPECT_TRUE(IsSha256Hex(hash));
  EXPECT_FALSE(IsSha256Hex(hash.substr(1)));
  EXPECT_FALSE(IsSha256Hex(hash + "0"));
  EXPECT_FALSE(IsSha256Hex("E" + hash.substr(1)));
  EXPECT_FALSE(IsSha256Hex("../" + hash.substr(3)));
  EXPECT_FALSE(IsSha256Hex(""));
}

}  // namespace
}  // namespace footprint
