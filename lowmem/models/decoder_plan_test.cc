#include "footprint/lowmem/models/decoder_plan.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/lowmem/streaming/plan_growth.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

DecoderPlanRequest LargeRequest(int64_t positions) {
  DecoderPlanRequest request;
  request.config.layers = 36;
  request.config.hidden = 1280;
  request.config.heads = 20;
  request.config.intermediate = 5120;
  request.config.vocabulary = 50257;
  request.config.positions = 1024;
  request.positions = positions;
  request.workers = 2;
  return request;
}

// Sizes for a budget that exceeds the smallest by this much.
struct PlannedSizes {
  int64_t positions, spare_kibibytes;
  int64_t tile_bytes, chunk_tokens, chunk_features;
};

// The order in which a budget grows the sizes decides its speed. Update the
// sizes when they get better.
TEST(PlanDecoderTest, SpendsABudgetAsItDid) {
  constexpr PlannedSizes kPlanned[] = {
      {64, 100, 16384, 16, 256},   {64, 400, 78125, 32, 256},
      {64, 900, 97656, 64, 512},   {1024, 100, 16384, 16, 256},
      {1024, 400, 78125, 32, 256}, {1024, 900, 97656, 64, 512}};
  for (const PlannedSizes& planned : kPlanned) {
    const auto least = MinBudgetBytes(LargeRequest(planned.positions));
    ASSERT_THAT(least, IsOk());
    const auto plan = PlanDecoder(LargeRequest(planned.positions),
                                  *least + (planned.spare_kibibytes << 10));
    ASSERT_THAT(plan, IsOk());
    const std::string now =
        absl::StrCat("{", planned.positions, ", ", planned.spare_kibibytes,
                     ", ", plan->tile_bytes, ", ", plan->chunk_tokens, ", ",
                     plan->chunk_features, "}");
    EXPECT_EQ(plan->tile_bytes, planned.tile_bytes) << now;
    EXPECT_EQ(plan->chunk_tokens, planned.chunk_tokens) << now;
    EXPECT_EQ(plan->chunk_features, planned.chunk_features) << now;
  }
}

// Checks that ranges do not overlap and that only alignment leaves gaps.
void ExpectCompactLayout(const DecoderPlan& plan) {
  int64_t end = 0;
  for (const ArenaRange& range :
       {plan.slots, plan.cache, plan.fresh, plan.hidden, plan.normed, plan.work,
        plan.vectors, plan.logits, plan.scores, plan.wide, plan.dense,
        plan.lone, plan.sums, plan.schedule}) {
    if (range.size_bytes == 0) continue;
    EXPECT_EQ(range.offset_bytes % 64, 0);
    EXPECT_GE(range.offset_bytes, end);
    EXPECT_LT(range.offset_bytes, end + 64);
    end = range.end_bytes();
  }
  EXPECT_EQ(plan.part_bytes(plan.slots) % 4096, 0);
  for (const ArenaRange& range :
       {plan.scores, plan.wide, plan.dense, plan.sums, plan.schedule}) {
    EXPECT_EQ(plan.part_bytes(range) % 64, 0);
  }
  EXPECT_GE(plan.peak_bytes, end);
  EXPECT_LT(plan.peak_bytes, end + 4096);
  // The list has room for all tiles that are read ahead.
  EXPECT_EQ(plan.depth > 1, plan.schedule.size_bytes > 0);
  if (plan.depth > 1) {
    EXPECT_GE(plan.part_bytes(plan.schedule),
              32 * plan.request.count_tiles(plan));
  }
  EXPECT_EQ(plan.chunk_tokens % 16, 0);
  EXPECT_LE(plan.chunk_tokens,
            plan.request.sequences * plan.padded_positions());
  const DecoderConfig& config = plan.request.config;
  EXPECT_TRUE(plan.chunk_features == config.intermediate ||
              plan.chunk_features % 256 == 0);
  // A tile holds at least a block of rows with a panel's width of columns.
  EXPECT_GE(plan.tile_bytes, plan.request.needs.BytesOf(256 * 16));
  EXPECT_GE(plan.tile_bytes, plan.request.needs.BytesOf(config.hidden));
}

TEST(PlanDecoderTest, NeverExceedsTheBudgetAndGrowsWithIt) {
  std::mt19937 random(1);
  const auto between = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int trial = 0; trial < 2000; ++trial) {
    DecoderPlanRequest request = LargeRequest(between(1, 1024));
    request.config.layers = between(1, 4);
    request.config.heads = between(1, 20);
    request.config.hidden = request.config.heads * between(1, 80);
    request.config.intermediate = between(1, 6000);
    request.config.vocabulary = between(1, 60000);
    request.workers = static_cast<int>(between(1, 4));
    request.sequences = std::max<int64_t>(1, between(-20, 20));
    // The blocks are floats, 16-bit floats, and the types of GGUF.
    constexpr int64_t kBlockBytes[] = {1024, 512, 272, 210, 144};
    const int64_t widest = between(0, 4);
    request.needs.largest_block_bytes = kBlockBytes[widest];
    request.needs.reads_around_blocks = between(0, 1) == 1;
    request.needs.smallest_block_bytes = kBlockBytes[between(widest, 4)];
    request.needs.uses_slots = between(0, 3) > 0;
    request.needs.slot_overhead_bytes = between(0, 1) * 8192;
    request.needs.reads_ahead = request.needs.slot_overhead_bytes > 0;
    request.count_tiles = [](const DecoderPlan& plan) {
      return 1 + int64_t{100000000} / plan.tile_bytes;
    };
    const int64_t least = *MinBudgetBytes(request);
    const int64_t budget = least + between(0, 8 << 20);
    const auto small = PlanDecoder(request, budget);
    ASSERT_THAT(small, IsOk());
    EXPECT_LE(small->peak_bytes, budget);
    ExpectCompactLayout(*small);
    const auto large = PlanDecoder(request, budget + between(0, 8 << 20));
    ASSERT_THAT(large, IsOk());
    EXPECT_GE(large->tile_bytes, small->tile_bytes);
    EXPECT_GE(large->depth, small->depth);
    EXPECT_GE(large->chunk_tokens, small->chunk_tokens);
    EXPECT_GE(large->chunk_features, small->chunk_features);
    EXPECT_EQ(PlanDecoder(request, least)->peak_bytes, least);
    const auto none = PlanDecoder(request, least - 1);
    EXPECT_THAT(none, StatusIs(absl::StatusCode::kResourceExhausted));
    EXPECT_TRUE(
        absl::StrContains(none.status().message(),
                          absl::StrCat("at least ", FormatBytes(least))));
  }
}

TEST(PlanDecoderTest, TakesNoSlotWithoutATile) {
  for (const int64_t tiles : {0, 1, 2, 5, 7}) {
    DecoderPlanRequest request = LargeRequest(16);
    request.needs.slot_overhead_bytes = 8192;
    request.needs.reads_ahead = true;
    request.count_tiles = [&](const DecoderPlan&) { return tiles; };
    request.needs.pinnable_bytes = {64 << 20, 64 << 20};
    DecoderPlan before;
    for (int64_t budget = *MinBudgetBytes(request); budget < 160 << 20;
         budget += 1 << 20) {
      const auto plan = PlanDecoder(request, budget);
      ASSERT_THAT(plan, IsOk());
      EXPECT_LE(plan->peak_bytes, budget);
      EXPECT_LE(plan->depth, std::max<int64_t>(1, tiles));
      EXPECT_EQ(plan->depth > 1, plan->schedule.size_bytes > 0);
      EXPECT_EQ(plan->slots.size_bytes == 0, plan->pinned.count == 2);
      EXPECT_GE(plan->pinned.count, before.pinned.count);
      EXPECT_GE(plan->tile_bytes, before.tile_bytes);
      before = *plan;
    }
    EXPECT_EQ(before.pinned.count, 2);
  }
}

TEST(PlanDecoderTest, HoldsTheKeysAndValuesOfEveryPosition) {
  // The model has 36 layers with keys and values of 1280 features, 4 bytes
  // each.
  const auto plan = PlanDecoder(LargeRequest(64), 64 << 20);
  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(plan->cache.size_bytes, int64_t{36} * 2 * 1280 * 4 * 64);
  EXPECT_EQ(plan->chunk_tokens, 64);
}

TEST(PlanDecoderTest, SaysHowManySequencesABudgetIsEnoughFor) {
  const int64_t of_one = int64_t{36} * 2 * 1280 * 4 * 64;
  DecoderPlanRequest request = LargeRequest(64);
  request.sequences = 16;
  const auto plan = PlanDecoder(request, 16 * of_one + (16 << 20));
  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(plan->cache.size_bytes, 16 * of_one);
  EXPECT_EQ(plan->sequence_bytes(), of_one);
  EXPECT_EQ(plan->logits.size_bytes, 16 * 50257 * 4);
  for (const int64_t budget : {int64_t{1} << 20, 5 * of_one, 500 * of_one}) {
    const auto most = MostSequences(request, budget);
    ASSERT_THAT(most, IsOk());
    request.sequences = *most + 1;
    if (*most == kMostSequences) {
      EXPECT_GT(budget, 256 * of_one);
      EXPECT_THAT(PlanDecoder(request, budget),
                  StatusIs(absl::StatusCode::kInvalidArgument));
      continue;
    }
    const absl::Status refused = PlanDecoder(request, budget).status();
    EXPECT_THAT(refused, StatusIs(absl::StatusCode::kResourceExhausted));
    EXPECT_TRUE(*most == 0 ||
                absl::StrContains(refused.message(),
                                  absl::StrCat("this budget is enough for ",
                                               *most, " sequences")))
        << refused;
    if (*most == 0) continue;
    request.sequences = *most;
    EXPECT_THAT(PlanDecoder(request, budget), IsOk());
  }
}

TEST(PlanDecoderTest, RefusesImpossibleRequests) {
  EXPECT_THAT(PlanDecoder(LargeRequest(0), 1 << 30),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(MinBudgetBytes(LargeRequest(1025)).status().message(),
            "1025 tokens, but the model has 1024 positions");
  DecoderPlanRequest request = LargeRequest(5);
  for (const int workers : {0, -1, kMostWorkers + 1}) {
    request.workers = workers;
    EXPECT_THAT(PlanDecoder(request, 1 << 30),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  request.workers = kMostWorkers;
  EXPECT_THAT(MinBudgetBytes(request), IsOk());
  for (const int64_t sequences :
       {int64_t{0}, int64_t{-1}, kMostSequences + 1}) {
    request.sequences = sequences;
    EXPECT_THAT(PlanDecoder(request, 1 << 30),
                StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(MinBudgetBytes(request),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

}  // namespace
}  // namespace footprint
