#include "footprint/lowmem/streaming/plan_growth.h"

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "footprint/base/memory/alignment.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(TakeSlotsTest, AreWholePagesAndOnlyWhereWeightsAreCopied) {
  StreamingNeeds needs;
  needs.slot_overhead_bytes = 1;
  ArenaLayout layout;
  layout.Take(1);
  const ArenaRange slots = TakeSlots(2, 4096, needs, &layout);
  EXPECT_EQ(slots.offset_bytes, 4096);
  EXPECT_EQ(slots.size_bytes, 2 * 8192);
  needs.uses_slots = false;
  EXPECT_EQ(TakeSlots(2, 4096, needs, &layout).size_bytes, 0);
}

TEST(LargestShareTest, IsInWholeUnitsAndNoMoreThanThereIs) {
  EXPECT_EQ(LargestShare(64, 32, 1), 64);
  EXPECT_EQ(LargestShare(64, 32, 2), 32);
  EXPECT_EQ(LargestShare(65, 32, 2), 64);
  EXPECT_EQ(LargestShare(96, 32, 2), 64);
  EXPECT_EQ(LargestShare(128, 1, 3), 43);
  EXPECT_EQ(LargestShare(10, 32, 2), 10);
  EXPECT_EQ(LargestShare(0, 32, 2), 0);
}

TEST(CheckPlannedSizeTest, RefusesSizesThatNoPlanHas) {
  EXPECT_THAT(CheckPlannedSize(1, 1, 1), IsOk());
  EXPECT_THAT(CheckPlannedSize(8, 8, kMostWorkers), IsOk());
  const auto is_refused = StatusIs(absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(CheckPlannedSize(0, 8, 1), is_refused);
  EXPECT_THAT(CheckPlannedSize(9, 8, 1), is_refused);
  EXPECT_THAT(CheckPlannedSize(8, 8, 0), is_refused);
  EXPECT_THAT(CheckPlannedSize(8, 8, kMostWorkers + 1), is_refused);
}

TEST(ChoosePinnedTest, TakesTheFirstThatFitAndAPartOfTheNext) {
  StreamingNeeds needs;
  needs.pinnable_bytes = {4096, 4096, 16384, 64};
  needs.whole_tensors = 4;
  EXPECT_EQ(ChoosePinned(needs, 4096, 4096).count, 0);
  EXPECT_EQ(ChoosePinned(needs, 4096, 12287).count, 1);
  const PinnedTensors pinned = ChoosePinned(needs, 4096, 20480);
  EXPECT_EQ(pinned.count, 2) << "none after the first that does not fit";
  EXPECT_EQ(pinned.range.offset_bytes, 4096);
  EXPECT_EQ(pinned.range.size_bytes, 8192 + 4096);
  EXPECT_EQ(pinned.partial_bytes, 4096) << "a page is left for the guard";
  EXPECT_EQ(ChoosePinned(needs, 4032, 20480).partial_bytes, 4160);
  EXPECT_EQ(ChoosePinned(needs, 4096, 4096 + 24576 + 100).partial_bytes, 0)
      << "budgets count in whole pages";
  EXPECT_EQ(ChoosePinned(needs, 8192, 4096).partial_bytes, 0);
  needs.uses_slots = false;
  EXPECT_EQ(ChoosePinned(needs, 4096, 16384).count, 0);
}

// The third tensor is a table, of which a pass reads a few rows.
TEST(ChoosePinnedTest, TakesNoPartOfATable) {
  StreamingNeeds needs;
  needs.pinnable_bytes = {4096, 12288, 8192};
  needs.whole_tensors = 2;
  EXPECT_EQ(ChoosePinned(needs, 0, 12288).partial_bytes, 4096);
  const PinnedTensors most = ChoosePinned(needs, 0, 20480);
  EXPECT_EQ(most.count, 2);
  EXPECT_EQ(most.partial_bytes, 0);
  EXPECT_EQ(most.range.size_bytes, 16384);
  EXPECT_EQ(ChoosePinned(needs, 0, 24576).count, 3) << "the whole table";
}

// In this test a choice is a number of pages: two to eight, in steps of two.
// Each of its pages has a slot of one page.
struct Request {
  StreamingNeeds needs;
};
struct Plan {
  Request request;
  int64_t pages = 0;
  int64_t peak_bytes = 0;
  int64_t budget_bytes = 0;
  PinnedTensors pinned;
};

constexpr int64_t kPage = kPageBytes;

Plan Lay(const Request& request, int64_t pages) {
  Plan plan;
  plan.request = request;
  plan.pages = pages;
  plan.peak_bytes = (request.needs.uses_slots ? 2 : 1) * pages * kPage;
  return plan;
}

Plan Grown(int64_t budget_bytes, const StreamingNeeds& needs) {
  return GrowPlan(
      Request{needs}, budget_bytes, int64_t{2},
      [](const Request&, int64_t pages) {
        return std::min<int64_t>(8, pages + 2);
      },
      Lay);
}

// Returns two tensors, of one page and of 20 pages.
StreamingNeeds TwoTensors() {
  StreamingNeeds needs;
  needs.pinnable_bytes = {kPage, 20 * kPage};
  return needs;
}

TEST(GrowPlanTest, TakesTheLargestChoiceThatFits) {
  const StreamingNeeds needs = TwoTensors();
  EXPECT_EQ(Grown(4 * kPage, needs).pages, 2);
  EXPECT_EQ(Grown(12 * kPage - 1, needs).pages, 4);
  EXPECT_EQ(Grown(12 * kPage, needs).pages, 6);
  EXPECT_EQ(Grown(12 * kPage, needs).peak_bytes, 12 * kPage);
  EXPECT_EQ(Grown(12 * kPage, needs).budget_bytes, 12 * kPage);
}

TEST(GrowPlanTest, PinsOnlyWhenNothingElseCanGrow) {
  const StreamingNeeds needs = TwoTensors();
  EXPECT_EQ(Grown(15 * kPage, needs).pinned.count, 0);
  EXPECT_EQ(Grown(16 * kPage, needs).pinned.count, 0);
  EXPECT_EQ(Grown(17 * kPage, needs).pinned.count, 1);
  EXPECT_EQ(Grown(17 * kPage, needs).peak_bytes, 17 * kPage);
}

// The plan drops its slots as soon as all tensors fit without them, not only
// when they fit beside them. A larger budget is never worse.
TEST(GrowPlanTest, HasNoSlotsWhereEverythingIsPinned) {
  const StreamingNeeds needs = TwoTensors();
  EXPECT_EQ(Grown(29 * kPage - 1, needs).pinned.count, 1);
  EXPECT_EQ(Grown(29 * kPage - 1, needs).pinned.range.offset_bytes, 16 * kPage);
  for (const int64_t pages : {29, 37, 1000}) {
    const Plan all = Grown(pages * kPage, needs);
    EXPECT_EQ(all.pinned.count, 2);
    EXPECT_EQ(all.pages, 8);
    EXPECT_EQ(all.pinned.range.offset_bytes, 8 * kPage);
    EXPECT_EQ(all.peak_bytes, 29 * kPage);
    EXPECT_EQ(all.budget_bytes, pages * kPage);
    EXPECT_TRUE(all.request.needs == needs) << "whose plan it is";
  }
}

TEST(GrowPlanTest, KeepsSlotsWhereThereIsNothingToPin) {
  EXPECT_EQ(Grown(1000 * kPage, StreamingNeeds()).peak_bytes, 16 * kPage);
  StreamingNeeds in_place = TwoTensors();
  in_place.uses_slots = false;
  EXPECT_EQ(Grown(1000 * kPage, in_place).peak_bytes, 8 * kPage);
  EXPECT_EQ(Grown(1000 * kPage, in_place).pinned.count, 0);
}

}  // namespace
}  // namespace footprint
