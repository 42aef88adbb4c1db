#include "footprint/lowmem/arena_layout.h"

#include <algorithm>
#include <cstdint>

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(ArenaLayout, RangesFollowEachOtherAtLines) {
  ArenaLayout layout;
  EXPECT_EQ(layout.peak_bytes(), 0);
  EXPECT_EQ(layout.Take(10).end_bytes(), 10);
  const ArenaRange parts = layout.TakeParts(3, 65);
  EXPECT_EQ(parts.offset_bytes, 64);
  EXPECT_EQ(parts.size_bytes, 3 * 128);
  EXPECT_EQ(layout.Take(1, ArenaLayout::kPageBytes).offset_bytes, 4096);
  EXPECT_EQ(layout.peak_bytes(), 8192);
}

TEST(ArenaLayout, SlotsAreWholePagesAndOnlyWhereWeightsAreCopied) {
  StreamingNeeds needs;
  needs.slot_overhead_bytes = 1;
  ArenaLayout layout;
  layout.Take(1);
  const ArenaRange slots = layout.TakeSlots(2, 4096, needs);
  EXPECT_EQ(slots.offset_bytes, 4096);
  EXPECT_EQ(slots.size_bytes, 2 * 8192);
  needs.uses_slots = false;
  EXPECT_EQ(layout.TakeSlots(2, 4096, needs).size_bytes, 0);
}

TEST(ChoosePinned, TakesTheFirstThatFitInWholePages) {
  StreamingNeeds needs;
  needs.pinnable_bytes = {4096, 4096, 8192, 64};
  EXPECT_EQ(ChoosePinned(needs, 4096, 4096).count, 0);
  EXPECT_EQ(ChoosePinned(needs, 4096, 12287).count, 1);
  const PinnedTensors pinned = ChoosePinned(needs, 4096, 16384);
  EXPECT_EQ(pinned.count, 2) << "none after the first that does not fit";
  EXPECT_EQ(pinned.range.offset_bytes, 4096);
  EXPECT_EQ(pinned.range.size_bytes, 8192);
  needs.uses_slots = false;
  EXPECT_EQ(ChoosePinned(needs, 4096, 16384).count, 0);
}

// A choice is a number of pages, two to eight, by twos.
struct Request {
  StreamingNeeds needs;
};
struct Plan {
  Request request;
  int64_t peak_bytes = 0;
  int64_t budget_bytes = 0;
  PinnedTensors pinned;
};

constexpr int64_t kPage = ArenaLayout::kPageBytes;

Plan Grown(int64_t budget_bytes) {
  const auto lay = [](int64_t pages) {
    Plan plan;
    plan.request.needs.pinnable_bytes = {kPage, kPage};
    plan.peak_bytes = pages * kPage;
    return plan;
  };
  Plan plan = lay(2);
  GrowPlan(
      budget_bytes, int64_t{2},
      [](int64_t pages) { return std::min<int64_t>(8, pages + 2); }, lay,
      &plan);
  return plan;
}

TEST(GrowPlan, TakesTheLargestChoiceThatFits) {
  EXPECT_EQ(Grown(2 * kPage).peak_bytes, 2 * kPage);
  EXPECT_EQ(Grown(6 * kPage - 1).peak_bytes, 4 * kPage);
  EXPECT_EQ(Grown(6 * kPage).peak_bytes, 6 * kPage);
  EXPECT_EQ(Grown(6 * kPage).budget_bytes, 6 * kPage);
}

TEST(GrowPlan, PinsOnlyWhenNothingElseCanGrow) {
  EXPECT_EQ(Grown(7 * kPage).pinned.count, 0);
  EXPECT_EQ(Grown(8 * kPage).pinned.count, 0);
  EXPECT_EQ(Grown(9 * kPage).pinned.count, 1);
  EXPECT_EQ(Grown(9 * kPage).peak_bytes, 9 * kPage);
  EXPECT_EQ(Grown(100 * kPage).pinned.count, 2);
  EXPECT_EQ(Grown(100 * kPage).peak_bytes, 10 * kPage);
}

}  // namespace
}  // namespace footprint
