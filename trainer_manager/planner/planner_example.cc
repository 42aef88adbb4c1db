// The example of README.md; its output is testdata/planner_example.txt.

#include <iostream>
#include <vector>

#include "footprint/base/files/standard_output.h"
#include "footprint/trainer_manager/planner/planner.h"

int main() {
  // region plan
  // A tensor lives from its lower step until just before its upper step.
  const std::vector<footprint::TensorRequest> requests = {
      {"input", 0, 2, 4096},
      {"activation", 1, 4, 8192},
      {"gradient", 3, 5, 2048},
  };
  footprint::PlanOptions options;
  options.alignment_bytes = 64;
  const auto plan = footprint::PlanMemory(requests, options);
  // endregion
  if (!plan.ok()) {
    std::cerr << plan.status() << "\n";
    return 1;
  }
  // region print
  std::cout << "arena of " << plan->height_bytes << " bytes, at least "
            << plan->lower_bound.bytes << " are needed at step "
            << plan->lower_bound.step << "\n";
  for (size_t i = 0; i < requests.size(); ++i) {
    std::cout << requests[i].id << " at " << plan->offsets_bytes[i] << "\n";
  }
  // endregion
  return footprint::FinishStandardOutput("planner_example");
}
