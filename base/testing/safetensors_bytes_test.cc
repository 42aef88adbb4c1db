#include "footprint/base/testing/safetensors_bytes.h"

#include <string>

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(SafetensorsBytesTest, LengthHeaderAndZerosFollowEachOther) {
  EXPECT_EQ(SafetensorsBytes("{}\x03"),
            std::string("\x08\0\0\0\0\0\0\0{}      \0\0\0", 19));
}

TEST(SafetensorsBytesTest, TheLowestByteOfTheLengthIsFirst) {
  const std::string file = SafetensorsBytes(std::string(264, 'x') + '\0');
  EXPECT_EQ(file.substr(0, 9), std::string("\x08\x01\0\0\0\0\0\0x", 9));
  EXPECT_EQ(file.size(), 8u + 264u);
}

TEST(SafetensorsBytesTest, TheCountIsOfNoSign) {
  EXPECT_EQ(SafetensorsBytes("\xff").size(), 8u + 255u);
  EXPECT_EQ(SafetensorsBytes(""), "");
}

}  // namespace
}  // namespace footprint
