#include "footprint/tools/build_defs/prelude_of_a_library.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

#ifdef EXPECTS_LIBRARY_PRELUDE
constexpr bool kExpected = true;
#else
constexpr bool kExpected = false;
#endif

TEST(LibraryPreludeTest, IsBeforeALibraryWhereTheBuildHasIt) {
  EXPECT_EQ(BeginsWithLibraryPrelude(), kExpected);
}

}  // namespace
}  // namespace footprint
