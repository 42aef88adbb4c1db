#include "footprint/trainer_manager/planner/plan.h"

#include <limits>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

constexpr PlanMethod kAllMethods[] = {
    PlanMethod::kNaive,     PlanMethod::kFirstFit, PlanMethod::kGreedyBySize,
    PlanMethod::kHillClimb, PlanMethod::kExact,    PlanMethod::kPortfolio,
};

bool IsPowerOfTwo(int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

absl::Status CheckRequest(absl::Span<const TensorRequest> requests,
                          size_t index) {
  const TensorRequest& request = requests[index];
  if (request.lower_step >= request.upper_step) {
    return absl::InvalidArgumentError(absl::StrCat(
        "tensor ", TensorName(requests, index), " lives from step ",
        request.lower_step, " until before step ", request.upper_step,
        ", which contains no step; the upper step must be the greater "
        "one"));
  }
  if (request.size_bytes < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "tensor ", TensorName(requests, index), " has ", request.size_bytes,
        " bytes; a size must be at least 1 (leave out what needs no memory)"));
  }
  if (!IsPowerOfTwo(request.alignment_bytes)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "tensor ", TensorName(requests, index), " asks for an alignment of ",
        request.alignment_bytes, " bytes; it must be a power of two"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::string_view PlanMethodName(PlanMethod method) {
  switch (method) {
    case PlanMethod::kNaive:
      return "naive";
    case PlanMethod::kFirstFit:
      return "first_fit";
    case PlanMethod::kGreedyBySize:
      return "greedy_by_size";
    case PlanMethod::kHillClimb:
      return "hill_climb";
    case PlanMethod::kExact:
      return "exact";
    case PlanMethod::kPortfolio:
      return "portfolio";
  }
  return "unknown";
}

absl::Span<const PlanMethod> AllPlanMethods() { return kAllMethods; }

std::string TensorName(absl::Span<const TensorRequest> requests, size_t index) {
  if (!requests[index].id.empty()) {
    return absl::StrCat("\"", requests[index].id, "\"");
  }
  return absl::StrCat("#", index);
}

absl::Status CheckRequests(absl::Span<const TensorRequest> requests) {
  constexpr int64_t kMaximum = std::numeric_limits<int64_t>::max();
  int64_t total_bytes = 0;
  for (size_t i = 0; i < requests.size(); ++i) {
    absl::Status status = CheckRequest(requests, i);
    if (!status.ok()) return status;
    const int64_t padding_bytes = requests[i].alignment_bytes - 1;
    if (requests[i].size_bytes > kMaximum - padding_bytes ||
        total_bytes > kMaximum - padding_bytes - requests[i].size_bytes) {
      return absl::OutOfRangeError(absl::StrCat(
          "the tensors up to ", TensorName(requests, i),
          " need more than 2^63 - 1 bytes side by side; split the list"));
    }
    total_bytes += padding_bytes + requests[i].size_bytes;
  }
  return absl::OkStatus();
}

}  // namespace footprint
