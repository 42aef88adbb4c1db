#include "footprint/base/testing/fuzzed_safetensors.h"

#include <string>

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(FuzzedSafetensorsTest, LengthHeaderAndZerosFollowEachOther) {
  EXPECT_EQ(FuzzedSafetensors("{}\x03"),
            std::string("\x08\0\0\0\0\0\0\0{}      \0\0\0", 19));
}

TEST(FuzzedSafetensorsTest, TheLowestByteOfTheLengthIsFirst) {
  const std::string file = FuzzedSafetensors(std::string(264, 'x') + '\0');
  EXPECT_EQ(file.substr(0, 9), std::string("\x08\x01\0\0\0\0\0\0x", 9));
  EXPECT_EQ(file.size(), 8u + 264u);
}

TEST(FuzzedSafetensorsTest, TheCountIsOfNoSign) {
  EXPECT_EQ(FuzzedSafetensors("\xff").size(), 8u + 255u);
  EXPECT_EQ(FuzzedSafetensors(""), "");
}

}  // namespace
}  // namespace footprint
