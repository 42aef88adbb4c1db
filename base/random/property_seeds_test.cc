#include "footprint/base/random/property_seeds.h"

#include <cstdlib>

#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr char kName[] = "FOOTPRINT_PROPERTY_SEEDS";

TEST(PropertySeedsTest, IsWhatIsAskedFor) {
  unsetenv(kName);
  EXPECT_EQ(PropertySeedCount(), 200u);
  setenv(kName, "3", 1);
  EXPECT_EQ(PropertySeedCount(), 3u);
}

TEST(PropertySeedsDeathTest, NoSeedsWouldTestNothing) {
  for (const char* asked : {"0", "", "many", "-1"}) {
    setenv(kName, asked, 1);
    EXPECT_EXIT(PropertySeedCount(), testing::ExitedWithCode(1),
                "write a number above 0");
  }
}

}  // namespace
}  // namespace footprint
