#include "footprint/trainer_manager/execution/option_subset.h"

#include <vector>

#include "gtest/gtest.h"

namespace footprint {
namespace {

std::vector<bool> ListFields(const MemoryOptions& options) {
  return {options.share_gradients,   options.share_edges,
          options.reuse_activations, options.reuse_derivatives,
          options.in_place,          options.reuse_workspaces,
          options.slice_derivatives, options.recompute_outputs,
          options.restore_pooled,    options.pack_winners};
}

TEST(OptionSubsetTest, NoneIsTheDebugModeAndAllIsTheDefault) {
  EXPECT_EQ(ListFields(OptionSubset(0)), ListFields(MemoryOptions::Debug()));
  EXPECT_EQ(ListFields(OptionSubset(0)), std::vector<bool>(10, false));
  EXPECT_EQ(ListFields(OptionSubset(kOptionSubsets - 1)),
            ListFields(MemoryOptions()));
  EXPECT_EQ(ListFields(MemoryOptions()), std::vector<bool>(10, true));
}

TEST(OptionSubsetTest, EachBitIsItsOption) {
  for (unsigned bit = 0; bit < 10; ++bit) {
    std::vector<bool> one(10, false);
    one[bit] = true;
    EXPECT_EQ(ListFields(OptionSubset(1u << bit)), one) << bit;
  }
}

}  // namespace
}  // namespace footprint
