// Reads any text as requests. What is accepted can be written as a plan and
// reads back unchanged.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/trainer_manager/plan_files/plan_csv.h"
#include "footprint/trainer_manager/planner/plan.h"

namespace footprint {
namespace {

bool AreEqual(const TensorRequest& a, const TensorRequest& b) {
  return a.id == b.id && a.lower_step == b.lower_step &&
         a.upper_step == b.upper_step && a.size_bytes == b.size_bytes &&
         a.alignment_bytes == b.alignment_bytes;
}

void ParseAnyText(absl::string_view text) {
  int64_t tensors_with_gaps = 0;
  const absl::StatusOr<std::vector<TensorRequest>> requests =
      ParseRequestsCsv(text, "x.csv", &tensors_with_gaps);
  if (!requests.ok()) return RequireRefusal(requests.status());
  MemoryPlan plan;
  plan.offsets_bytes.assign(requests->size(), 64);
  const absl::StatusOr<std::string> written = PlanToCsv(*requests, plan);
  Require(written.ok(), "what was read can be written");
  const absl::StatusOr<std::vector<TensorRequest>> again =
      ParseRequestsCsv(*written, "y.csv");
  Require(again.ok() && again->size() == requests->size(),
          "what was written can be read");
  for (size_t i = 0; i < requests->size(); ++i) {
    Require(AreEqual((*again)[i], (*requests)[i]), "requests stay as they are");
  }
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ParseAnyText)

}  // namespace footprint
