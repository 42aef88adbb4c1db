// The least budget that a refusal of planning names.
//
//   options.budget_bytes = footprint::LeastBudgetNamed(refused.status());
//
// For tests. Pure, thread-safe: reads the status's text. Allocates nothing.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_REFUSED_BUDGET_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_REFUSED_BUDGET_H_

#include <cstdint>

#include "absl/status/status.h"

namespace footprint {

// Returns the budget in bytes; -1 where the status names none.
int64_t LeastBudgetNamed(const absl::Status& refusal);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_REFUSED_BUDGET_H_
