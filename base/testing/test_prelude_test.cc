// Compiled with -Winvalid-pch, which -Werror makes an error: gcc takes the
// parsed header or says why it does not.

#include "gtest/gtest.h"

namespace {

bool BeginsWithPrelude() {
#ifdef FOOTPRINT_BASE_TESTING_TEST_PRELUDE_H_
  return true;
#else
  return false;
#endif
}

TEST(TestPreludeTest, IsBeforeATestUnlessTheBuildGoesWithout) {
  EXPECT_EQ(BeginsWithPrelude(), EXPECTS_TEST_PRELUDE);
}

}  // namespace
