#include "footprint/trainer_manager/plan_files/plan_proto.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/trainer_manager/planner/plan_validator.h"

namespace footprint {
namespace {

MemoryPlanProto::BoundKind KindToProto(LowerBound::Kind kind) {
  switch (kind) {
    case LowerBound::Kind::kLiveBytes:
      return MemoryPlanProto::LIVE_BYTES;
    case LowerBound::Kind::kAlignedLiveBytes:
      return MemoryPlanProto::ALIGNED_LIVE_BYTES;
    case LowerBound::Kind::kExhaustiveSearch:
      return MemoryPlanProto::EXHAUSTIVE_SEARCH;
  }
  return MemoryPlanProto::BOUND_KIND_UNSPECIFIED;
}

absl::StatusOr<LowerBound::Kind> KindFromProto(int kind) {
  for (const LowerBound::Kind known :
       {LowerBound::Kind::kLiveBytes, LowerBound::Kind::kAlignedLiveBytes,
        LowerBound::Kind::kExhaustiveSearch}) {
    if (KindToProto(known) == kind) return known;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("plan: unknown bound_kind ", kind));
}

absl::StatusOr<PlanMethod> MethodFromName(const std::string& name) {
  for (const PlanMethod method : AllPlanMethods()) {
    if (PlanMethodName(method) == name) return method;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("plan: unknown method \"", name, "\""));
}

}  // namespace

MemoryPlanProto PlanToProto(absl::Span<const TensorRequest> requests,
                            const MemoryPlan& plan) {
  MemoryPlanProto proto;
  for (const TensorRequest& request : requests) {
    TensorRequestProto* added = proto.add_requests();
    added->set_id(request.id);
    added->set_lower_step(request.lower_step);
    added->set_upper_step(request.upper_step);
    added->set_size_bytes(request.size_bytes);
    added->set_alignment_bytes(request.alignment_bytes);
  }
  for (const int64_t offset : plan.offsets_bytes) {
    proto.add_offsets_bytes(offset);
  }
  proto.set_height_bytes(plan.height_bytes);
  proto.set_lower_bound_bytes(plan.lower_bound.bytes);
  proto.set_bound_kind(KindToProto(plan.lower_bound.kind));
  proto.set_bound_step(plan.lower_bound.step);
  for (const size_t tensor : plan.lower_bound.tensors) {
    proto.add_bound_tensors(static_cast<int64_t>(tensor));
  }
  proto.set_method(std::string(PlanMethodName(plan.method)));
  return proto;
}

absl::StatusOr<std::vector<TensorRequest>> RequestsFromProto(
    const MemoryPlanProto& proto) {
  std::vector<TensorRequest> requests;
  requests.reserve(proto.requests_size());
  for (const TensorRequestProto& request : proto.requests()) {
    requests.push_back(
        {request.id(), request.lower_step(), request.upper_step(),
         request.size_bytes(),
         request.alignment_bytes() == 0 ? 1 : request.alignment_bytes()});
  }
  absl::Status status = CheckRequests(requests);
  if (!status.ok()) return status;
  return requests;
}

absl::StatusOr<PlannedRequests> PlanFromProto(const MemoryPlanProto& proto) {
  PlannedRequests planned;
  absl::StatusOr<std::vector<TensorRequest>> requests =
      RequestsFromProto(proto);
  if (!requests.ok()) return requests.status();
  planned.requests = *std::move(requests);
  MemoryPlan& plan = planned.plan;
  plan.offsets_bytes.assign(proto.offsets_bytes().begin(),
                            proto.offsets_bytes().end());
  plan.height_bytes = proto.height_bytes();
  plan.lower_bound.bytes = proto.lower_bound_bytes();
  const absl::StatusOr<LowerBound::Kind> kind =
      KindFromProto(proto.bound_kind());
  if (!kind.ok()) return kind.status();
  plan.lower_bound.kind = *kind;
  plan.lower_bound.step = proto.bound_step();
  plan.lower_bound.tensors.assign(proto.bound_tensors().begin(),
                                  proto.bound_tensors().end());
  const absl::StatusOr<PlanMethod> method = MethodFromName(proto.method());
  if (!method.ok()) return method.status();
  plan.method = *method;
  absl::Status status = ValidatePlan(planned.requests, plan);
  if (!status.ok()) return status;
  return planned;
}

}  // namespace footprint
