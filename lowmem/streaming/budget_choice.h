// Chooses a budget if the user names none: the smallest one that costs little
// time.
//
//   absl::StatusOr<footprint::BudgetChoice> choice = footprint::ChooseBudget(
//       least_bytes,
//       [&](int64_t budget_bytes) { return PredictSeconds(budget_bytes); });
//
// The choice is the least budget, or else the smallest budget in whole pages,
// whose predicted time, with an allowance for the prediction's error, is at
// most kMostSlowdown times the time with an ample budget. The ample budget is
// kAmpleBudgetBytes, or `least_bytes` and 16 MiB if that is more. Time is
// assumed to fall as the budget grows. If it does not, the choice still keeps
// the limit, but may not be the smallest that does. Pure, thread-safe. Memory:
// none. Time: at most sixteen predictions. Errors are those of
// `predict_seconds`.

#ifndef FOOTPRINT_LOWMEM_STREAMING_BUDGET_CHOICE_H_
#define FOOTPRINT_LOWMEM_STREAMING_BUDGET_CHOICE_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace footprint {

inline constexpr int64_t kAmpleBudgetBytes = int64_t{64} << 20;
inline constexpr double kMostSlowdown = 1.1;
// The allowance: predictions (pass_time.h) were up to this share too short for
// budgets near the choice. See docs/results/lowmem.md.
inline constexpr double kPredictionShortBy = 0.04;
inline constexpr double kMostPredictedSlowdown =
    kMostSlowdown / (1 + kPredictionShortBy);

struct BudgetChoice {
  int64_t budget_bytes = 0;
  int64_t least_bytes = 0;
  int64_t ample_bytes = 0;
  // Predicted times with budget_bytes and with least_bytes, divided by the
  // time with ample_bytes.
  double slowdown = 1;
  double least_slowdown = 1;
};

absl::StatusOr<BudgetChoice> ChooseBudget(
    int64_t least_bytes,
    absl::FunctionRef<absl::StatusOr<double>(int64_t budget_bytes)>
        predict_seconds);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_STREAMING_BUDGET_CHOICE_H_
