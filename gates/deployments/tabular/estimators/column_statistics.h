// The mean and the spread of each column of a table.
//
//   std::vector<double> means(table.column_count());
//   std::vector<double> deviations(table.column_count());
//   absl::Status status = ComputeColumnStatistics(
//       table, absl::MakeSpan(means), absl::MakeSpan(deviations));
//
// The spread is the standard deviation over all rows, and 1 for a column that
// is constant, so that one may divide by it. Welford's method: one pass, sound
// however far the numbers are from zero. Both are zero and one without rows.
//
// Thread-safe; keeps nothing, and the spans stay the caller's. Memory: none.
// Time: linear.

#ifndef FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ESTIMATORS_COLUMN_STATISTICS_H_
#define FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ESTIMATORS_COLUMN_STATISTICS_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "footprint/gates/deployments/tabular/tables/table.h"

namespace footprint {
namespace tabular {

// Both spans have `table.column_count()` elements. kFailedPrecondition if the
// numbers are so large that a spread is no double.
absl::Status ComputeColumnStatistics(const Table& table,
                                     absl::Span<double> means,
                                     absl::Span<double> deviations);

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ESTIMATORS_COLUMN_STATISTICS_H_
