#include "footprint/base/memory/alignment.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(AlignUpTest, IsTheNextMultiple) {
  EXPECT_EQ(AlignUp(0, 64), 0);
  EXPECT_EQ(AlignUp(1, 64), 64);
  EXPECT_EQ(AlignUp(64, 64), 64);
  EXPECT_EQ(AlignUp(65, 1), 65);
  EXPECT_EQ(AlignUp((int64_t{1} << 40) + 1, 4096), (int64_t{1} << 40) + 4096);
}

}  // namespace
}  // namespace footprint
