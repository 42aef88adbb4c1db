#include "gtest/gtest.h"

namespace {

#ifdef EXPECTS_TEST_PRELUDE
constexpr bool kExpected = true;
#else
constexpr bool kExpected = false;
#endif

#ifdef FOOTPRINT_BASE_TESTING_TEST_PRELUDE_H_
constexpr bool kIncluded = true;
#else
constexpr bool kIncluded = false;
#endif

TEST(TestPreludeTest, IsBeforeATestUnlessTheBuildGoesWithout) {
  EXPECT_EQ(kIncluded, kExpected);
}

}  // namespace
