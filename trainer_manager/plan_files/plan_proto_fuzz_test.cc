// Reads any bytes as a plan. A plan that is accepted stays valid when it is
// written and read again.

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/trainer_manager/plan_files/plan.pb.h"
#include "footprint/trainer_manager/plan_files/plan_proto.h"

namespace footprint {
namespace {

void ReadAnyPlan(absl::string_view bytes) {
  MemoryPlanProto proto;
  if (!proto.ParseFromString(std::string(bytes))) return;
  const absl::StatusOr<PlannedRequests> planned = PlanFromProto(proto);
  if (!planned.ok()) return RequireRefusal(planned.status());
  Require(planned->plan.offsets_bytes.size() == planned->requests.size(),
          "each tensor has a place");
  const absl::StatusOr<PlannedRequests> again =
      PlanFromProto(PlanToProto(planned->requests, planned->plan));
  Require(again.ok(), "what was believed is believed again");
  Require(again->plan.height_bytes == planned->plan.height_bytes,
          "a plan keeps its height");
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ReadAnyPlan)

}  // namespace footprint
