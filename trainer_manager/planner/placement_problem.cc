#include "footprint/trainer_manager/planner/placement_problem.h"

#include <algorithm>
#include <numeric>

namespace footprint {
namespace trainer_manager_internal {

PlacementProblem MakePlacementProblem(
    absl::Span<const TensorRequest> requests) {
  PlacementProblem problem;
  std::vector<int64_t>& steps = problem.section_steps;
  steps.reserve(2 * requests.size());
  for (const TensorRequest& request : requests) {
    steps.push_back(request.lower_step);
    steps.push_back(request.upper_step);
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());

  const auto section_of = [&steps](int64_t step) {
    return static_cast<int32_t>(
        std::lower_bound(steps.begin(), steps.end(), step) - steps.begin());
  };
  problem.items.reserve(requests.size());
  for (const TensorRequest& request : requests) {
    problem.items.push_back({section_of(request.lower_step),
                             section_of(request.upper_step), request.size_bytes,
                             request.alignment_bytes});
  }
  if (!steps.empty()) steps.pop_back();  // nothing is live after the last step
  return problem;
}

int32_t FullestSection(const PlacementProblem& problem) {
  std::vector<int64_t> change(problem.section_count() + 1, 0);
  for (const PlacementItem& item : problem.items) {
    change[item.begin] += item.size;
    change[item.end] -= item.size;
  }
  std::partial_sum(change.begin(), change.end(), change.begin());
  return static_cast<int32_t>(std::max_element(change.begin(), change.end()) -
                              change.begin());
}

int64_t ComputeHeight(const PlacementProblem& problem,
                      absl::Span<const int64_t> offsets) {
  int64_t height = 0;
  for (size_t i = 0; i < offsets.size(); ++i) {
    height = std::max(height, offsets[i] + problem.items[i].size);
  }
  return height;
}

}  // namespace trainer_manager_internal
}  // namespace footprint
