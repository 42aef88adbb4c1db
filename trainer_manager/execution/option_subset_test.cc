#include "footprint/trainer_manager/execution/option_subset.h"

#include <vector>

#include "gtest/gtest.h"

namespace footprint {
namespace {

std::vector<bool> FieldsOf(const MemoryOptions& options) {
  return {options.share_gradients,   options.share_edges,
          options.reuse_activations, options.reuse_derivatives,
          options.in_place,          options.reuse_workspaces,
          options.slice_derivatives, options.recompute_outputs,
          options.restore_pooled,    options.pack_winners};
}

TEST(OptionSubsetTest, NoneIsTheDebugModeAndAllIsTheDefault) {
  EXPECT_EQ(FieldsOf(OptionSubset(0)), FieldsOf(MemoryOptions::Debug()));
  EXPECT_EQ(FieldsOf(OptionSubset(0)), std::vector<bool>(10, false));
  EXPECT_EQ(FieldsOf(OptionSubset(kOptionSubsets - 1)),
            FieldsOf(MemoryOptions()));
  EXPECT_EQ(FieldsOf(MemoryOptions()), std::vector<bool>(10, true));
}

TEST(OptionSubsetTest, EachBitIsItsOption) {
  for (unsigned bit = 0; bit < 10; ++bit) {
    std::vector<bool> one(10, false);
    one[bit] = true;
    EXPECT_EQ(FieldsOf(OptionSubset(1u << bit)), one) << bit;
  }
}

}  // namespace
}  // namespace footprint
