// Finds the least budget that a planning error names.
//
//   options.budget_bytes = footprint::LeastBudgetNamed(refused.status());
//
// For tests. Pure and thread-safe: reads the status's text. Allocates nothing.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_REFUSED_BUDGET_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_REFUSED_BUDGET_H_

#include <cstdint>

#include "absl/status/status.h"

namespace footprint {

// Returns the budget in bytes, or -1 if the status names no budget.
int64_t LeastBudgetNamed(const absl::Status& refusal);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_REFUSED_BUDGET_H_
