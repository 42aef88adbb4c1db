#include "footprint/trainer_manager/planner/generated_requests.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/planner/lower_bound.h"
#include "footprint/trainer_manager/planner/plan_validator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr NetworkShape kShapes[] = {
    NetworkShape::kChain, NetworkShape::kResidual, NetworkShape::kUNet};

TEST(CutPerfectPackingTest, FillsTheRectangleWithoutAGap) {
  for (const CutStyle style : {CutStyle::kGuillotine, CutStyle::kPinwheel}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const PerfectPacking packing = CutPerfectPacking(50, 1000, style, seed);
      MemoryPlan plan;
      plan.offsets_bytes = packing.offsets_bytes;
      plan.height_bytes = packing.height_bytes;
      plan.lower_bound = ComputeLowerBound(packing.requests);
      const absl::Status status = ValidatePlan(packing.requests, plan);
      ASSERT_THAT(status, IsOk());
      // No plan is lower, and the areas add up to the rectangle.
      EXPECT_EQ(plan.lower_bound.bytes, 1000);
      int64_t area = 0;
      for (const TensorRequest& request : packing.requests) {
        area += request.size_bytes * (request.upper_step - request.lower_step);
      }
      EXPECT_EQ(area, 4 * 50 * 1000);
      EXPECT_GE(packing.requests.size(), 50);
      EXPECT_LE(packing.requests.size(), 53);
    }
  }
}

TEST(CutPerfectPackingTest, StopsWhereNothingCanBeCut) {
  EXPECT_EQ(CutPerfectPacking(4, 1, CutStyle::kPinwheel, 0).requests.size(), 4);
  EXPECT_EQ(CutPerfectPacking(1, 7, CutStyle::kGuillotine, 0).requests.size(),
            1);
}

TEST(CutLoosePackingTest, IsFullAtOneStepAndNotAtAll) {
  for (const CutStyle style : {CutStyle::kGuillotine, CutStyle::kPinwheel}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const PerfectPacking packing = CutLoosePacking(200, 1000, style, seed);
      MemoryPlan plan;
      plan.offsets_bytes = packing.offsets_bytes;
      plan.height_bytes = packing.height_bytes;
      plan.lower_bound = ComputeLowerBound(packing.requests);
      ASSERT_THAT(ValidatePlan(packing.requests, plan), IsOk());
      EXPECT_EQ(plan.lower_bound.bytes, 1000);
      EXPECT_GE(packing.requests.size(), 170);
      EXPECT_LT(packing.requests.size(), 200);
    }
  }
}

TEST(SpreadRequestsTest, LifespansRiseAndFallOrVary) {
  const std::vector<TensorRequest> teeth =
      SpreadRequests(LifespanShape::kSawtooth, 120, 1);
  ASSERT_THAT(CheckRequests(teeth), IsOk());
  ASSERT_EQ(teeth.size(), 120);
  EXPECT_EQ(teeth[49].upper_step - teeth[49].lower_step, 50);
  EXPECT_EQ(teeth[50].upper_step - teeth[50].lower_step, 1);
  const std::vector<TensorRequest> uniform =
      SpreadRequests(LifespanShape::kUniform, 120, 1);
  ASSERT_THAT(CheckRequests(uniform), IsOk());
  EXPECT_EQ(uniform.size(), 120);
}

TEST(TrainingRequestsTest, HasTheTensorsOfATrainingStep) {
  for (const NetworkShape shape : kShapes) {
    for (const int64_t count : {20, 300, 10'000}) {
      const std::vector<TensorRequest> requests =
          TrainingRequests(shape, count, 1);
      ASSERT_THAT(CheckRequests(requests), IsOk());
      EXPECT_NEAR(static_cast<double>(requests.size()), count, 4);
      const auto has = [&](const char* id) {
        return std::any_of(
            requests.begin(), requests.end(),
            [&](const TensorRequest& request) { return request.id == id; });
      };
      EXPECT_TRUE(has("activation0"));
      EXPECT_TRUE(has("derivative1"));
      EXPECT_TRUE(has("gradient1"));
      EXPECT_TRUE(has("workspace0"));
    }
  }
}

TEST(TrainingRequestsTest, ADerivativeMeetsItsActivationAndTheNextDerivative) {
  const std::vector<TensorRequest> requests =
      TrainingRequests(NetworkShape::kChain, 40, 1);
  const auto find = [&](const std::string& id) {
    return *std::find_if(
        requests.begin(), requests.end(),
        [&](const TensorRequest& request) { return request.id == id; });
  };
  EXPECT_EQ(find("derivative3").lower_step + 1, find("activation3").upper_step);
  EXPECT_LT(find("derivative2").lower_step, find("derivative3").upper_step);
  EXPECT_EQ(find("gradient3").lower_step, find("activation3").upper_step);
}

TEST(RandomRequestsTest, IsAcceptedAndVaries) {
  int64_t aligned = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const std::vector<TensorRequest> requests = RandomRequests(9, 8, seed);
    ASSERT_THAT(CheckRequests(requests), IsOk());
    EXPECT_LE(requests.size(), 9);
    for (const TensorRequest& request : requests) {
      EXPECT_LE(request.alignment_bytes, 8);
      aligned += request.alignment_bytes > 1;
    }
  }
  EXPECT_GT(aligned, 500);
}

TEST(GeneratedRequestsTest, EqualSeedsGiveEqualRequestsAndOthersOthers) {
  const auto sizes = [](const std::vector<TensorRequest>& requests) {
    std::vector<int64_t> result;
    for (const TensorRequest& request : requests) {
      result.push_back(request.size_bytes);
    }
    return result;
  };
  const auto cut = [&](uint64_t seed) {
    return sizes(
        CutPerfectPacking(30, 999, CutStyle::kPinwheel, seed).requests);
  };
  EXPECT_EQ(cut(3), cut(3));
  EXPECT_NE(cut(3), cut(4));
  const auto train = [&](uint64_t seed) {
    return sizes(TrainingRequests(NetworkShape::kUNet, 30, seed));
  };
  EXPECT_EQ(train(3), train(3));
  EXPECT_NE(train(3), train(4));
  EXPECT_EQ(sizes(RandomRequests(9, 8, 3)), sizes(RandomRequests(9, 8, 3)));
}

}  // namespace
}  // namespace footprint
