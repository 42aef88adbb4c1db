#include "footprint/trainer_manager/planner/plan_validator.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/planner/generated_requests.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::Not;

// The tensors: [0, 4) 10 bytes, [2, 6) 20 bytes, [4, 8) 8 bytes aligned to 4.
std::vector<TensorRequest> Requests() {
  return {{"a", 0, 4, 10, 1}, {"b", 2, 6, 20, 1}, {"c", 4, 8, 8, 4}};
}

MemoryPlan Plan() {
  MemoryPlan plan;
  plan.offsets_bytes = {0, 10, 0};
  plan.height_bytes = 30;
  plan.lower_bound = {30, LowerBound::Kind::kLiveBytes, 2, {0, 1}};
  return plan;
}

void ExpectBroken(const MemoryPlan& plan, const std::string& part) {
  const absl::Status status = ValidatePlan(Requests(), plan);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_NE(status.message().find(part), absl::string_view::npos) << status;
}

TEST(ValidatePlanTest, AcceptsAPlanThatTouchesInTimeAndSpace) {
  EXPECT_THAT(ValidatePlan(Requests(), Plan(), 30), IsOk());
  EXPECT_THAT(ValidatePlan({}, MemoryPlan()), IsOk());
}

TEST(ValidatePlanTest, RefusesAPlanOverCapacity) {
  EXPECT_THAT(ValidatePlan(Requests(), Plan(), 29), Not(IsOk()));
}

TEST(ValidatePlanTest, RefusesOverlapsFromBelowAndAbove) {
  MemoryPlan plan = Plan();
  plan.offsets_bytes[1] = 9;
  plan.height_bytes = 29;
  ExpectBroken(plan, "overlap");
  plan = Plan();
  plan.offsets_bytes[0] = 29;
  plan.height_bytes = 39;
  ExpectBroken(plan, "overlap");
  plan = Plan();
  plan.offsets_bytes[2] = 12;  // inside "b"
  ExpectBroken(plan, "overlap");
  plan = Plan();
  plan.offsets_bytes = {10, 10, 0};
  ExpectBroken(plan, "overlap");
}

TEST(ValidatePlanTest, RefusesOffsetsOutsideTheRules) {
  MemoryPlan plan = Plan();
  plan.offsets_bytes[2] = 2;
  ExpectBroken(plan, "alignment");
  plan = Plan();
  plan.offsets_bytes[0] = -10;
  ExpectBroken(plan, "below the arena");
  plan = Plan();
  plan.offsets_bytes[1] = std::numeric_limits<int64_t>::max() - 3;
  ExpectBroken(plan, "64 bits");
  plan = Plan();
  plan.offsets_bytes.pop_back();
  ExpectBroken(plan, "offsets for");
}

TEST(ValidatePlanTest, RefusesAWrongHeight) {
  for (const int64_t height : {29, 31}) {
    MemoryPlan plan = Plan();
    plan.height_bytes = height;
    ExpectBroken(plan, "height");
  }
}

TEST(ValidatePlanTest, RefusesACertificateThatProvesNothing) {
  MemoryPlan plan = Plan();
  plan.lower_bound.tensors = {0};
  ExpectBroken(plan, "certificate");
  plan = Plan();
  plan.lower_bound.step = 4;
  ExpectBroken(plan, "certificate");
  plan = Plan();
  plan.lower_bound.tensors = {0, 2};
  ExpectBroken(plan, "certificate");
  for (const int64_t bytes : {29, 31}) {
    plan = Plan();
    plan.lower_bound.bytes = bytes;
    ExpectBroken(plan, "bound");
  }
  plan = Plan();
  plan.lower_bound.kind = LowerBound::Kind::kExhaustiveSearch;
  plan.lower_bound.bytes = 31;
  ExpectBroken(plan, "below the lower bound");
  plan.lower_bound.bytes = 29;
  ExpectBroken(plan, "bound");
}

TEST(ValidatePlanTest, ChecksWhatAlignmentCosts) {
  const std::vector<TensorRequest> requests = {{"a", 0, 1, 4, 64},
                                               {"b", 0, 1, 4, 64}};
  MemoryPlan plan;
  plan.offsets_bytes = {0, 64};
  plan.height_bytes = 68;
  plan.lower_bound = {68, LowerBound::Kind::kAlignedLiveBytes, 0, {0, 1}};
  EXPECT_THAT(ValidatePlan(requests, plan), IsOk());
  plan.lower_bound.bytes = 67;
  EXPECT_THAT(ValidatePlan(requests, plan), Not(IsOk()));
}

// Compares every pair, step by step and byte by byte.
bool HasOverlap(const std::vector<TensorRequest>& requests,
                const std::vector<int64_t>& offsets) {
  for (size_t a = 0; a < requests.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      if (std::max(requests[a].lower_step, requests[b].lower_step) <
              std::min(requests[a].upper_step, requests[b].upper_step) &&
          std::max(offsets[a], offsets[b]) <
              std::min(offsets[a] + requests[a].size_bytes,
                       offsets[b] + requests[b].size_bytes)) {
        return true;
      }
    }
  }
  return false;
}

TEST(ValidatePlanTest, FindsExactlyTheOverlapsOfAllPairs) {
  int64_t overlapping = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    const PerfectPacking packing =
        CutPerfectPacking(12, 30, CutStyle::kPinwheel, seed);
    MemoryPlan plan;
    plan.offsets_bytes = packing.offsets_bytes;
    // Most of these plans differ from a valid one in one tensor.
    int64_t& moved = plan.offsets_bytes[seed % packing.requests.size()];
    moved = std::max<int64_t>(0, moved + static_cast<int64_t>(seed % 5) - 2);
    plan.lower_bound.bytes = 30;
    plan.lower_bound.step = 0;
    for (size_t i = 0; i < packing.requests.size(); ++i) {
      plan.height_bytes =
          std::max(plan.height_bytes,
                   plan.offsets_bytes[i] + packing.requests[i].size_bytes);
      if (packing.requests[i].lower_step == 0) {
        plan.lower_bound.tensors.push_back(i);
      }
    }
    const bool overlaps = HasOverlap(packing.requests, plan.offsets_bytes);
    overlapping += overlaps;
    const absl::Status status = ValidatePlan(packing.requests, plan);
    EXPECT_EQ(status.ok(), !overlaps) << "seed " << seed << ": " << status;
  }
  EXPECT_GT(overlapping, 1000);
  EXPECT_LT(overlapping, 2900);
}

}  // namespace
}  // namespace footprint
