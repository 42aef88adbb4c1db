#include "footprint/base/testing/hex_bytes.h"

#include <string>

#include "gtest/gtest-spi.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(HexBytesTest, ReadsTwoDigitsAByte) {
  EXPECT_EQ(BytesOfHex("417Aff00"), std::string("Az\xff\0", 4));
  EXPECT_EQ(BytesOfHex(""), "");
}

TEST(HexBytesTest, FailsTheTestForAnythingElse) {
  EXPECT_NONFATAL_FAILURE(BytesOfHex("abc"), "abc");
  EXPECT_NONFATAL_FAILURE(BytesOfHex("xy"), "xy");
}

}  // namespace
}  // namespace footprint
