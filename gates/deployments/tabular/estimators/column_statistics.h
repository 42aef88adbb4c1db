// Computes the mean and the spread of each column of a table.
//
//   std::vector<double> means(table.column_count());
//   std::vector<double> deviations(table.column_count());
//   absl::Status status = ComputeColumnStatistics(
//       table, absl::MakeSpan(means), absl::MakeSpan(deviations));
//
// The spread is the standard deviation over all rows, or 1 for a constant
// column, so that one may divide by it. Without rows the mean is 0 and the
// spread 1. Welford's method takes one pass, and loses no precision if the
// numbers are far from zero.
//
// Thread-safe; keeps no reference to its arguments. Allocates nothing. Time:
// linear.

#ifndef FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ESTIMATORS_COLUMN_STATISTICS_H_
#define FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ESTIMATORS_COLUMN_STATISTICS_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "footprint/gates/deployments/tabular/tables/table.h"

namespace footprint {
namespace tabular {

// Sets `means` and `deviations`, which must have `table.column_count()`
// elements. Returns kFailedPrecondition if the numbers are so large that a
// spread is not finite.
absl::Status ComputeColumnStatistics(const Table& table,
                                     absl::Span<double> means,
                                     absl::Span<double> deviations);

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ESTIMATORS_COLUMN_STATISTICS_H_
