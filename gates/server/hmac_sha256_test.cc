#include "footprint/gates/server/hmac_sha256.h"

#include <string>

#include "absl/status/status.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// The cases of RFC 4231, section 4, computed by Python's hmac.
TEST(HmacSha256Test, SignsAsTheStandardSays) {
  EXPECT_EQ(HmacSha256Hex(std::string(20, '\x0b'), "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(HmacSha256Hex("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(HmacSha256Hex(std::string(20, '\xaa'), std::string(50, '\xdd')),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  EXPECT_EQ(
      HmacSha256Hex(std::string(131, '\xaa'),
                    "Test Using Larger Than Block-Size Key - Hash Key First"),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(HmacSha256Test, KeysUpToABlockAreTakenAsTheyAre) {
  EXPECT_EQ(HmacSha256Hex("", ""),
            "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
  EXPECT_EQ(HmacSha256Hex(std::string(64, 'k'), "x"),
            "f91c4c403625fb06910ef93999265bbd2d62baeaec6ff36455498cc124fe3e66");
  EXPECT_EQ(HmacSha256Hex(std::string(65, 'k'), "x"),
            "75092ca3ee2b307470c227697b42b3e65376aa3bae98fb5a1f7b7536daa9588a");
  EXPECT_EQ(HmacSha256Hex(std::string("a\0b", 3), "x"),
            "758acf85d010dbd67262388f811fe5ac923b76ed1301265a66fce397586291b4");
}

TEST(HmacSha256Test, OnlyTheWholeSignatureOfThisTextAndKeyHolds) {
  const std::string signature = HmacSha256Hex("Jefe", "text");
  EXPECT_TRUE(HasHmacSha256("Jefe", "text", signature));
  EXPECT_FALSE(HasHmacSha256("Jefe", "texts", signature));
  EXPECT_FALSE(HasHmacSha256("jefe", "text", signature));
  EXPECT_FALSE(HasHmacSha256("Jefe", "text", ""));
  EXPECT_FALSE(HasHmacSha256("Jefe", "text", signature.substr(0, 63)));
  EXPECT_FALSE(HasHmacSha256("Jefe", "text", signature + "0"));
  for (size_t i = 0; i < signature.size(); ++i) {
    std::string other = signature;
    other[i] = other[i] == '0' ? '1' : '0';
    EXPECT_FALSE(HasHmacSha256("Jefe", "text", other)) << i;
  }
}

TEST(HmacSha256Test, KeysAreReadWithoutTheirLastLineFeed) {
  EXPECT_THAT(ReadSigningKey(WriteTestFile("key", " sixteen  bytes!\n")),
              IsOkAndHolds(" sixteen  bytes!"));
  EXPECT_THAT(ReadSigningKey(WriteTestFile("short", "fifteen bytes!! \n")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       testing::AllOf(testing::HasSubstr("short: "),
                                      testing::HasSubstr("at least 16"))));
  EXPECT_THAT(ReadSigningKey(TestPath("missing")),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace footprint
