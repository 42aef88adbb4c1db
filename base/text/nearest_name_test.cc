#include "footprint/base/text/nearest_name.h"

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(NearestNameTest, TakesTheFewestChanges) {
  EXPECT_EQ(NearestName("BM_Laod", {"BM_Save", "BM_Load", "BM_Loader"}),
            "BM_Load");
  EXPECT_EQ(NearestName("BM_Load/rows:10", {"BM_Load/rows:100"}),
            "BM_Load/rows:100");
  EXPECT_EQ(NearestName("ab", {"ax", "ay"}), "ax");
}

TEST(NearestNameTest, SuggestsNothingThatIsFar) {
  EXPECT_EQ(NearestName("BM_Load", {}), "");
  EXPECT_EQ(NearestName("BM_Load", {"//gates/deployments/tabular:x"}), "");
  EXPECT_EQ(NearestName("abcd", {"wxyz"}), "");
  EXPECT_EQ(DidYouMean("abcd", {"wxyz"}), "");
}

TEST(NearestNameTest, AsksWithTheName) {
  EXPECT_EQ(DidYouMean("fitt", {"fit", "load"}), "; did you mean \"fit\"?");
}

}  // namespace
}  // namespace footprint
