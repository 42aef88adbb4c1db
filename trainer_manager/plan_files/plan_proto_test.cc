#include "footprint/trainer_manager/plan_files/plan_proto.h"

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/planner/generated_requests.h"
#include "footprint/trainer_manager/planner/plan_validator.h"
#include "footprint/trainer_manager/planner/planner.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::Not;

TEST(PlanProtoTest, RoundTrips) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const std::vector<TensorRequest> requests = RandomRequests(12, 8, seed);
    const absl::StatusOr<MemoryPlan> plan = PlanMemory(requests);
    ASSERT_THAT(plan, IsOk());
    const MemoryPlanProto proto = PlanToProto(requests, *plan);
    const absl::StatusOr<PlannedRequests> again = PlanFromProto(proto);
    ASSERT_THAT(again, IsOk());
    EXPECT_EQ(again->plan.offsets_bytes, plan->offsets_bytes);
    EXPECT_EQ(PlanToProto(again->requests, again->plan).SerializeAsString(),
              proto.SerializeAsString());
  }
}

TEST(PlanProtoTest, BelievesNoPlan) {
  const std::vector<TensorRequest> requests = {{"a", 0, 2, 4}, {"b", 1, 3, 4}};
  const MemoryPlanProto good = PlanToProto(requests, *PlanMemory(requests));
  ASSERT_THAT(PlanFromProto(good), IsOk());
  MemoryPlanProto bad = good;
  bad.set_offsets_bytes(1, bad.offsets_bytes(0));
  EXPECT_THAT(PlanFromProto(bad), Not(IsOk()));
  bad = good;
  bad.set_method("magic");
  EXPECT_THAT(PlanFromProto(bad), StatusIs(absl::StatusCode::kInvalidArgument));
  bad = good;
  bad.set_bound_kind(MemoryPlanProto::BOUND_KIND_UNSPECIFIED);
  EXPECT_THAT(PlanFromProto(bad), Not(IsOk()));
  bad = good;
  bad.mutable_requests(0)->set_size_bytes(0);
  EXPECT_THAT(RequestsFromProto(bad), Not(IsOk()));
}

// Some writers do not know alignments.
TEST(PlanProtoTest, AnAlignmentThatIsNotSaidIsOneByte) {
  MemoryPlanProto proto;
  TensorRequestProto* const request = proto.add_requests();
  request->set_id("a");
  request->set_upper_step(1);
  request->set_size_bytes(3);
  const auto requests = RequestsFromProto(proto);
  ASSERT_THAT(requests, IsOk());
  EXPECT_EQ((*requests)[0].alignment_bytes, 1);
}

// Whatever the bytes, an accepted plan is valid.
TEST(PlanProtoTest, SurvivesDamagedBytes) {
  std::vector<std::string> plans;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<TensorRequest> requests = RandomRequests(6, 8, seed);
    plans.push_back(
        PlanToProto(requests, *PlanMemory(requests)).SerializeAsString());
  }
  std::mt19937_64 random(1);
  int64_t parsed = 0;
  int64_t accepted = 0;
  for (size_t trial = 0; trial < 10'000; ++trial) {
    std::string bytes = plans[trial % plans.size()];
    for (uint64_t edit = 0; edit <= random() % 3; ++edit) {
      const size_t place = random() % bytes.size();
      // Changes the length only seldom, since that mostly ends the parse at
      // once.
      switch (random() % 6) {
        case 0:
          bytes.insert(place, 1, static_cast<char>(random()));
          break;
        case 1:
          bytes.erase(place, 1 + random() % 9);
          break;
        default:
          bytes[place] = static_cast<char>(random());
      }
      if (bytes.empty()) bytes = "x";
    }
    MemoryPlanProto proto;
    if (!proto.ParseFromString(bytes)) continue;
    ++parsed;
    const absl::StatusOr<PlannedRequests> planned = PlanFromProto(proto);
    if (!planned.ok()) {
      EXPECT_FALSE(planned.status().message().empty());
      continue;
    }
    ++accepted;
    EXPECT_THAT(CheckRequests(planned->requests), IsOk());
    EXPECT_THAT(ValidatePlan(planned->requests, planned->plan), IsOk());
  }
  EXPECT_GT(parsed, 500);
  EXPECT_GT(accepted, 50);
  EXPECT_LT(accepted, parsed);
}

// Sets every field of every message to the ends of its range.
TEST(PlanProtoTest, SurvivesExtremeFigures) {
  constexpr int64_t kExtremes[] = {0,
                                   -1,
                                   1,
                                   std::numeric_limits<int64_t>::min(),
                                   std::numeric_limits<int64_t>::max(),
                                   int64_t{1} << 62};
  std::mt19937_64 random(2);
  const auto extreme = [&] { return kExtremes[random() % 6]; };
  const std::vector<TensorRequest> requests = {{"a", 0, 2, 4}, {"b", 1, 3, 4}};
  const MemoryPlanProto good = PlanToProto(requests, *PlanMemory(requests));
  for (int trial = 0; trial < 5'000; ++trial) {
    MemoryPlanProto proto = good;
    TensorRequestProto* request = proto.mutable_requests(trial % 2);
    switch (random() % 8) {
      case 0:
        request->set_lower_step(extreme());
        break;
      case 1:
        request->set_upper_step(extreme());
        break;
      case 2:
        request->set_size_bytes(extreme());
        break;
      case 3:
        request->set_alignment_bytes(extreme());
        break;
      case 4:
        proto.set_offsets_bytes(trial % 2, extreme());
        break;
      case 5:
        proto.set_height_bytes(extreme());
        break;
      case 6:
        proto.set_bound_step(extreme());
        break;
      default:
        proto.set_bound_tensors(trial % 2, extreme());
    }
    const absl::StatusOr<PlannedRequests> planned = PlanFromProto(proto);
    if (planned.ok()) {
      EXPECT_THAT(ValidatePlan(planned->requests, planned->plan), IsOk());
    }
  }
}

}  // namespace
}  // namespace footprint
