#include "footprint/base/testing/safetensors_bytes.h"

#include <string>

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(SafetensorsBytesTest, LengthHeaderAndZerosFollowEachOther) {
  EXPECT_EQ(SafetensorsBytes("{}\x03"),
            std::string("\x02\0\0\0\0\0\0\0{}\0\0\0", 13));
}

TEST(SafetensorsBytesTest, TheLowestByteOfTheLengthIsFirst) {
  const std::string file = SafetensorsBytes(std::string(258, ' ') + '\0');
  EXPECT_EQ(file.substr(0, 8), std::string("\x02\x01\0\0\0\0\0\0", 8));
  EXPECT_EQ(file.size(), 8u + 258u);
}

TEST(SafetensorsBytesTest, TheCountIsOfNoSign) {
  EXPECT_EQ(SafetensorsBytes("\xff").size(), 8u + 255u);
  EXPECT_EQ(SafetensorsBytes(""), "");
}

}  // namespace
}  // namespace footprint
