#include "footprint/lowmem/streaming/budget_choice.h"

#include <algorithm>

#include "footprint/base/memory/alignment.h"

namespace footprint {
namespace {

// Room for tiles and chunks to grow, in addition to activations, which cannot
// shrink.
constexpr int64_t kGrowthBytes = int64_t{16} << 20;

}  // namespace

absl::StatusOr<BudgetChoice> ChooseBudget(
    int64_t least_bytes,
    absl::FunctionRef<absl::StatusOr<double>(int64_t budget_bytes)>
        predict_seconds) {
  BudgetChoice choice;
  choice.least_bytes = least_bytes;
  choice.ample_bytes = std::max(kAmpleBudgetBytes, least_bytes + kGrowthBytes);
  const absl::StatusOr<double> ample = predict_seconds(choice.ample_bytes);
  if (!ample.ok()) return ample.status();
  const absl::StatusOr<double> least = predict_seconds(least_bytes);
  if (!least.ok()) return least.status();
  choice.budget_bytes = least_bytes;
  choice.least_slowdown = *least / *ample;
  choice.slowdown = choice.least_slowdown;
  if (choice.slowdown <= kMostPredictedSlowdown) return choice;
  // A binary search over pages: `slow` is too slow, `fast` is fast enough.
  int64_t slow = least_bytes / kPageBytes;
  int64_t fast = choice.ample_bytes / kPageBytes;
  choice.slowdown = 1;
  while (fast - slow > 1) {
    const int64_t middle = slow + (fast - slow) / 2;
    const absl::StatusOr<double> seconds =
        predict_seconds(std::max(least_bytes, middle * kPageBytes));
    if (!seconds.ok()) return seconds.status();
    if (*seconds > kMostPredictedSlowdown * *ample) {
      slow = middle;
    } else {
      fast = middle;
      choice.slowdown = *seconds / *ample;
    }
  }
  choice.budget_bytes = fast * kPageBytes;
  return choice;
}

}  // namespace footprint
