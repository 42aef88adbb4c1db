#include "footprint/lowmem/models/encoder_plan.h"

#include <algorithm>
#include <random>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/lowmem/models/encoder_config.h"
#include "footprint/lowmem/streaming/plan_growth.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

EncoderPlanRequest LargeRequest(int64_t tokens) {
  EncoderPlanRequest request;
  request.config.layers = 24;
  request.config.hidden = 1024;
  request.config.heads = 16;
  request.config.intermediate = 4096;
  request.config.vocabulary = 119547;
  request.config.positions = 512;
  request.config.token_types = 2;
  request.tokens = tokens;
  request.workers = 2;
  return request;
}

TEST(PlanEncoderTest, FitsBertLargeIntoAFewMebibytes) {
  for (const auto& [tokens, mebibytes] :
       std::vector<std::pair<int64_t, int64_t>>{
           {512, 6}, {128, 2}, {32, 1}, {1, 1}}) {
    const auto plan = PlanEncoder(LargeRequest(tokens), mebibytes << 20);
    ASSERT_THAT(plan, IsOk());
    EXPECT_GE(plan->tile_bytes, 64 << 10) << tokens;
  }
}

// Sizes for a budget that exceeds the smallest by this much.
struct PlannedSizes {
  int64_t tokens, spare_kibibytes;
  int64_t tile_bytes, chunk_features;
};

// The order in which a budget grows the sizes decides its speed. Update the
// sizes when they get better.
TEST(PlanEncoderTest, SpendsABudgetAsItDid) {
  constexpr PlannedSizes kPlanned[] = {
      {1, 64, 32000, 256},   {1, 200, 97656, 256},   {1, 400, 190733, 512},
      {128, 64, 32000, 256}, {128, 200, 97656, 256}, {128, 400, 152587, 256}};
  for (const PlannedSizes& planned : kPlanned) {
    const auto least = MinBudgetBytes(LargeRequest(planned.tokens));
    ASSERT_THAT(least, IsOk());
    const auto plan = PlanEncoder(LargeRequest(planned.tokens),
                                  *least + (planned.spare_kibibytes << 10));
    ASSERT_THAT(plan, IsOk());
    const std::string now =
        absl::StrCat("{", planned.tokens, ", ", planned.spare_kibibytes, ", ",
                     plan->tile_bytes, ", ", plan->chunk_features, "}");
    EXPECT_EQ(plan->tile_bytes, planned.tile_bytes) << now;
    EXPECT_EQ(plan->chunk_features, planned.chunk_features) << now;
  }
}

std::vector<ArenaRange> Ranges(const EncoderPlan& plan) {
  std::vector<ArenaRange> ranges = {plan.hidden, plan.sums,  plan.vectors,
                                    plan.work,   plan.slots, plan.wide,
                                    plan.dense};
  ranges.push_back(plan.schedule);
  if (plan.request.sequences > 1) ranges.push_back(plan.output);
  return ranges;
}

// Ranges do not overlap, are aligned, and end at the peak.
void ExpectSound(const EncoderPlan& plan) {
  std::vector<ArenaRange> ranges = Ranges(plan);
  std::sort(ranges.begin(), ranges.end(),
            [](const ArenaRange& a, const ArenaRange& b) {
              return a.end_bytes() < b.end_bytes();
            });
  int64_t end = 0;
  for (const ArenaRange& range : ranges) {
    if (range.size_bytes == 0) continue;
    EXPECT_EQ(range.offset_bytes % 64, 0);
    EXPECT_GE(range.offset_bytes, end);
    EXPECT_LT(range.offset_bytes, end + 64);
    end = range.end_bytes();
  }
  EXPECT_EQ(plan.slots.offset_bytes % 4096, 0);
  EXPECT_EQ(plan.part_bytes(plan.slots) % 4096, 0);
  EXPECT_EQ(plan.part_bytes(plan.wide) % 64, 0);
  // The list has room for all tiles that are read ahead.
  EXPECT_EQ(plan.depth > 1, plan.schedule.size_bytes > 0);
  if (plan.depth > 1) {
    EXPECT_GE(plan.part_bytes(plan.schedule),
              32 * plan.request.count_tiles(plan));
  }
  EXPECT_EQ(plan.part_bytes(plan.dense) % 64, 0);
  EXPECT_GE(plan.peak_bytes, end);
  EXPECT_LT(plan.peak_bytes, end + 4096);
  const EncoderConfig& config = plan.request.config;
  EXPECT_TRUE(plan.chunk_features == config.intermediate ||
              plan.chunk_features % 256 == 0);
  EXPECT_GE(plan.tile_bytes, plan.request.needs.BytesOf(config.hidden));
  EXPECT_GE(plan.tile_bytes, plan.request.needs.BytesOf(plan.chunk_features));
}

TEST(PlanEncoderTest, NeverExceedsTheBudgetAndGrowsWithIt) {
  std::mt19937 random(1);
  const auto between = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int trial = 0; trial < 3000; ++trial) {
    EncoderPlanRequest request = LargeRequest(between(1, 512));
    request.config.heads = between(1, 20);
    request.config.hidden = request.config.heads * between(1, 128);
    request.config.intermediate = between(1, 5000);
    request.workers = static_cast<int>(between(1, 8));
    // The blocks are floats, 16-bit floats, and the types of GGUF.
    constexpr int64_t kBlockBytes[] = {1024, 512, 272, 210, 144};
    const int64_t widest = between(0, 4);
    request.needs.largest_block_bytes = kBlockBytes[widest];
    request.needs.smallest_block_bytes = kBlockBytes[between(widest, 4)];
    request.needs.uses_slots = between(0, 3) > 0;
    request.needs.slot_overhead_bytes = between(0, 1) * 8192;
    request.needs.reads_ahead = request.needs.slot_overhead_bytes > 0;
    request.count_tiles = [](const EncoderPlan& plan) {
      return 1 + int64_t{100000000} / plan.tile_bytes;
    };
    request.sequences = between(0, 1) == 1 ? 1 : between(2, 20);
    const auto least = MinBudgetBytes(request);
    ASSERT_THAT(least, IsOk());
    int64_t budget = *least;
    EncoderPlan before;
    for (int step = 0; step < 6; ++step) {
      const auto plan = PlanEncoder(request, budget);
      ASSERT_THAT(plan, IsOk());
      EXPECT_LE(plan->peak_bytes, budget);
      EXPECT_EQ(plan->budget_bytes, budget);
      ExpectSound(*plan);
      EXPECT_GE(plan->tile_bytes, before.tile_bytes);
      EXPECT_GE(plan->chunk_features, before.chunk_features);
      before = *plan;
      budget += between(0, 2 << 20);
    }
    const auto below = PlanEncoder(request, *least - 1);
    EXPECT_THAT(below, StatusIs(absl::StatusCode::kResourceExhausted));
    EXPECT_TRUE(
        absl::StrContains(below.status().message(),
                          absl::StrCat("at least ", FormatBytes(*least))));
  }
}

// The slots may outnumber the tiles, and all tensors may fit.
TEST(PlanEncoderTest, TakesNoSlotWithoutATile) {
  for (const int64_t tiles : {0, 1, 2, 5, 7}) {
    EncoderPlanRequest request = LargeRequest(16);
    request.needs.slot_overhead_bytes = 8192;
    request.needs.reads_ahead = true;
    request.count_tiles = [&](const EncoderPlan&) { return tiles; };
    request.needs.pinnable_bytes = {64 << 20, 64 << 20};
    EncoderPlan before;
    for (int64_t budget = *MinBudgetBytes(request); budget < 160 << 20;
         budget += 1 << 20) {
      const auto plan = PlanEncoder(request, budget);
      ASSERT_THAT(plan, IsOk());
      EXPECT_LE(plan->peak_bytes, budget);
      EXPECT_LE(plan->depth, std::max<int64_t>(1, tiles));
      EXPECT_EQ(plan->depth > 1, plan->schedule.size_bytes > 0);
      EXPECT_EQ(plan->slots.size_bytes == 0, plan->pinned.count == 2);
      EXPECT_GE(plan->pinned.count, before.pinned.count);
      EXPECT_GE(plan->tile_bytes, before.tile_bytes);
      EXPECT_GE(plan->chunk_features, before.chunk_features);
      before = *plan;
    }
    EXPECT_EQ(before.pinned.count, 2);
  }
}

TEST(PlanEncoderTest, NeedsForABatchWhatItNeedsForOneAndTheOutput) {
  EncoderPlanRequest one = LargeRequest(512);
  const int64_t output_bytes = 16 * 512 * one.config.hidden * 4;
  EncoderPlanRequest batch = one;
  batch.sequences = 16;
  EXPECT_EQ(*MinBudgetBytes(batch), *MinBudgetBytes(one) + output_bytes);
  for (int64_t budget = *MinBudgetBytes(one); budget < 20 << 20;
       budget += 100'000) {
    const auto single = PlanEncoder(one, budget);
    const auto many = PlanEncoder(batch, budget + output_bytes);
    ASSERT_THAT(single, IsOk());
    ASSERT_THAT(many, IsOk());
    EXPECT_EQ(many->peak_bytes, single->peak_bytes + output_bytes);
    EXPECT_EQ(many->tile_bytes, single->tile_bytes);
    EXPECT_EQ(many->chunk_features, single->chunk_features);
    EXPECT_EQ(many->output.size_bytes, output_bytes);
  }
  EXPECT_TRUE(
      absl::StrContains(PlanEncoder(batch, 1 << 20).status().message(),
                        absl::StrCat("the output of 16 sequences takes ",
                                     FormatBytes(output_bytes))));
}

TEST(PlanEncoderTest, RefusesWhatCannotRun) {
  for (const int64_t tokens : {int64_t{0}, int64_t{-1}, int64_t{513}}) {
    EXPECT_THAT(PlanEncoder(LargeRequest(tokens), 1 << 30),
                StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(MinBudgetBytes(LargeRequest(tokens)),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EncoderPlanRequest request = LargeRequest(1);
  for (const int workers : {0, -1, kMostWorkers + 1}) {
    request.workers = workers;
    EXPECT_THAT(PlanEncoder(request, 1 << 30),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  request.workers = kMostWorkers;
  EXPECT_THAT(MinBudgetBytes(request), IsOk());
  for (const int64_t sequences : {int64_t{0}, int64_t{1} << 60}) {
    request = LargeRequest(1);
    request.sequences = sequences;
    EXPECT_THAT(PlanEncoder(request, 1 << 30),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

// The largest extents that a config may have.
TEST(PlanEncoderTest, SizesBeyondAnyMachineAreRefused) {
  constexpr int64_t kLargest = 1 << 30;
  EncoderPlanRequest request;
  request.config.hidden = kLargest;
  request.config.positions = kLargest;
  request.config.heads = 1;
  request.config.intermediate = kLargest;
  for (const int64_t tokens : {kLargest, int64_t{1}}) {
    request.tokens = tokens;
    EXPECT_THAT(PlanEncoder(request, 1 << 30),
                StatusIs(absl::StatusCode::kResourceExhausted));
  }
  request.config.hidden = 1 << 20;
  request.tokens = 1 << 20;
  request.sequences = 1 << 20;
  EXPECT_GT(*MinBudgetBytes(request), int64_t{1} << 62);
}

}  // namespace
}  // namespace footprint
