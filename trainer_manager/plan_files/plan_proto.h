// Converts requests and plans to and from protocol buffers: plan.proto.
//
//   MemoryPlanProto proto = PlanToProto(requests, plan);
//   absl::StatusOr<PlannedRequests> again = PlanFromProto(proto);
//
// Pure and thread-safe. Memory and time: linear.

#ifndef FOOTPRINT_TRAINER_MANAGER_PLAN_FILES_PLAN_PROTO_H_
#define FOOTPRINT_TRAINER_MANAGER_PLAN_FILES_PLAN_PROTO_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "footprint/trainer_manager/plan_files/plan.pb.h"
#include "footprint/trainer_manager/planner/plan.h"

namespace footprint {

struct PlannedRequests {
  std::vector<TensorRequest> requests;
  MemoryPlan plan;
};

// Returns the message, which lacks only MemoryPlan::search_nodes.
MemoryPlanProto PlanToProto(absl::Span<const TensorRequest> requests,
                            const MemoryPlan& plan);

// Returns the requests for planning. Errors: those of CheckRequests.
absl::StatusOr<std::vector<TensorRequest>> RequestsFromProto(
    const MemoryPlanProto& proto);

// Reads a plan that was made elsewhere and validates it. Errors: those of
// CheckRequests and ValidatePlan; InvalidArgument if the method or the kind of
// bound is unknown.
absl::StatusOr<PlannedRequests> PlanFromProto(const MemoryPlanProto& proto);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PLAN_FILES_PLAN_PROTO_H_
