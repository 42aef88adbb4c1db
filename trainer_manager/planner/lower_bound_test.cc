#include "footprint/trainer_manager/planner/lower_bound.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "footprint/trainer_manager/planner/generated_requests.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(ComputeLowerBoundTest, OfNothingIsZero) {
  EXPECT_EQ(ComputeLowerBound({}).bytes, 0);
}

TEST(ComputeLowerBoundTest, NamesTheStepAndItsTensors) {
  const LowerBound bound = ComputeLowerBound(
      {{"a", 0, 4, 10}, {"b", 2, 6, 20}, {"c", 4, 8, 15}, {"d", 7, 9, 1}});
  EXPECT_EQ(bound.bytes, 35);
  EXPECT_EQ(bound.step, 4);
  EXPECT_EQ(bound.tensors, (std::vector<size_t>{1, 2}));
  EXPECT_EQ(bound.kind, LowerBound::Kind::kLiveBytes);
}

TEST(ComputeLowerBoundTest, CountsWhatAlignmentCosts) {
  // Two of the three end 60 bytes before the next may begin.
  const LowerBound bound = ComputeLowerBound(
      {{"a", 0, 2, 4, 64}, {"b", 0, 2, 4, 64}, {"c", 1, 2, 4, 64}});
  EXPECT_EQ(bound.bytes, 132);
  EXPECT_EQ(bound.step, 1);
  EXPECT_EQ(bound.kind, LowerBound::Kind::kAlignedLiveBytes);
}

TEST(ComputeLowerBoundTest, LeavesUnalignedTensorsOutWhereThatGivesMore) {
  // The unaligned byte fits between the others.
  const LowerBound bound = ComputeLowerBound(
      {{"a", 0, 1, 4, 64}, {"b", 0, 1, 4, 64}, {"c", 0, 1, 1, 1}});
  EXPECT_EQ(bound.bytes, 68);
  EXPECT_EQ(bound.tensors.size(), 3);
}

// The fullest step for one alignment may prove more with another alignment. The
// planner once refused these requests, because its validator found what the
// bound had left out.
TEST(ComputeLowerBoundTest, TriesEachAlignmentAtEachFullestStep) {
  const std::vector<TensorRequest> requests = {
      {"t0", 7, 12, 2, 16}, {"t1", 7, 9, 2, 8},  {"t2", 6, 13, 1, 4},
      {"t3", 2, 7, 2, 8},   {"t4", 3, 6, 1, 16}, {"t5", 6, 11, 2, 2}};
  const LowerBound bound = ComputeLowerBound(requests);
  EXPECT_EQ(bound.bytes, 10);
  EXPECT_EQ(bound.step, 7);
}

TEST(ComputeLowerBoundTest, IsTheMostLiveBytesOfAnyStep) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const std::vector<TensorRequest> requests = RandomRequests(30, 1, seed);
    int64_t most = 0;
    for (int64_t step = 0; step < 40; ++step) {
      int64_t live = 0;
      for (const TensorRequest& request : requests) {
        if (request.lower_step <= step && step < request.upper_step) {
          live += request.size_bytes;
        }
      }
      most = std::max(most, live);
    }
    EXPECT_EQ(ComputeLowerBound(requests).bytes, most) << "seed " << seed;
  }
}

}  // namespace
}  // namespace footprint
