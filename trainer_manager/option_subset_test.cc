#include "footprint/trainer_manager/option_subset.h"

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(OptionSubsetTest, NoneIsTheDebugModeAndAllIsTheDefault) {
  const MemoryOptions none = OptionSubset(0);
  const MemoryOptions debug = MemoryOptions::Debug();
  EXPECT_EQ(none.share_gradients, debug.share_gradients);
  EXPECT_EQ(none.slice_derivatives, debug.slice_derivatives);
  EXPECT_EQ(none.pack_places, debug.pack_places);
  const MemoryOptions all = OptionSubset(kOptionSubsets - 1);
  EXPECT_TRUE(all.share_gradients && all.share_edges && all.in_place);
  EXPECT_TRUE(all.restore_pooled && all.pack_places);
  EXPECT_FALSE(OptionSubset(kOptionSubsets / 2 - 1).pack_places);
  EXPECT_TRUE(OptionSubset(kOptionSubsets / 2 - 1).restore_pooled);
}

}  // namespace
}  // namespace footprint
