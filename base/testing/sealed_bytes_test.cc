#include "footprint/base/testing/sealed_bytes.h"

#include <string>

#include "gtest/gtest.h"

namespace footprint {
namespace {

// The value is the check value in catalogues of CRCs.
TEST(SealedBytesTest, ChecksumIsTheKnownOne) {
  EXPECT_EQ(Crc32("123456789"), 0xCBF43926u);
}

TEST(SealedBytesTest, EndsWithVersionMarkAndChecksum) {
  const std::string bytes = SealedBytes("\x12\x01x", 15);
  ASSERT_EQ(bytes.size(), 3u + 4u + 6u);
  EXPECT_EQ(bytes.substr(0, 9), "\x12\x01x\x08\x01\x78\x01\x85\x01");
}

}  // namespace
}  // namespace footprint
