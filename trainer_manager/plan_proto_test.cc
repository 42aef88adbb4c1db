#include "footprint/trainer_manager/plan_proto.h"

#include <vector>

#include "footprint/trainer_manager/generated_requests.h"
#include "footprint/trainer_manager/planner.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(PlanProtoTest, RoundTrips) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const std::vector<TensorRequest> requests = RandomRequests(12, 8, seed);
    const absl::StatusOr<MemoryPlan> plan = PlanMemory(requests);
    ASSERT_TRUE(plan.ok()) << plan.status();
    const MemoryPlanProto proto = PlanToProto(requests, *plan);
    const absl::StatusOr<PlannedRequests> again = PlanFromProto(proto);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->plan.offsets_bytes, plan->offsets_bytes);
    EXPECT_EQ(PlanToProto(again->requests, again->plan).SerializeAsString(),
              proto.SerializeAsString());
  }
}

TEST(PlanProtoTest, BelievesNoPlan) {
  const std::vector<TensorRequest> requests = {{"a", 0, 2, 4}, {"b", 1, 3, 4}};
  const MemoryPlanProto good = PlanToProto(requests, *PlanMemory(requests));
  ASSERT_TRUE(PlanFromProto(good).ok());
  MemoryPlanProto bad = good;
  bad.set_offsets_bytes(1, bad.offsets_bytes(0));
  EXPECT_FALSE(PlanFromProto(bad).ok());
  bad = good;
  bad.set_method("magic");
  EXPECT_EQ(PlanFromProto(bad).status().code(),
            absl::StatusCode::kInvalidArgument);
  bad = good;
  bad.set_bound_kind(MemoryPlanProto::BOUND_KIND_UNSPECIFIED);
  EXPECT_FALSE(PlanFromProto(bad).ok());
  bad = good;
  bad.mutable_requests(0)->set_size_bytes(0);
  EXPECT_FALSE(RequestsFromProto(bad).ok());
}

}  // namespace
}  // namespace footprint
