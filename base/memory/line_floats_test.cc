#include "footprint/base/memory/line_floats.h"

#include <algorithm>
#include <cstdint>

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(LineFloatsTest, BeginAtALine) {
  for (const int64_t count : {1, 16, 17, 1000}) {
    const LineFloats floats = AllocateLineFloats(count);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(floats.get()) % kLineBytes, 0u);
    std::fill_n(floats.get(), count, 1.0f);
    EXPECT_EQ(floats[count - 1], 1.0f);
  }
}

TEST(LineFloatsTest, TakeWholeLines) {
  EXPECT_EQ(LineFloatBytes(0), 0);
  EXPECT_EQ(LineFloatBytes(1), 64);
  EXPECT_EQ(LineFloatBytes(16), 64);
  EXPECT_EQ(LineFloatBytes(17), 128);
}

}  // namespace
}  // namespace footprint
