// What checksum.h promises.

#include "footprint/base/files/checksum.h"

#include <string>

#include "gtest/gtest.h"

namespace footprint {
namespace tabular {
namespace {

TEST(ChecksumTest, GivesThePublishedValues) {
  EXPECT_EQ(Checksum(""), 0xcbf29ce484222325u);
  EXPECT_EQ(Checksum("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(Checksum("foobar"), 0x85944171f73967e8u);
}

TEST(ChecksumTest, GoesOnWhereAnotherEnded) {
  EXPECT_EQ(Checksum("bar", Checksum("foo")), Checksum("foobar"));
}

TEST(ChecksumTest, NoticesEveryFlippedBit) {
  const std::string original(24, 'x');
  for (size_t bit = 0; bit < 8 * original.size(); ++bit) {
    std::string damaged = original;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_NE(Checksum(damaged), Checksum(original)) << "bit " << bit;
  }
}

}  // namespace
}  // namespace tabular
}  // namespace footprint
