#include "footprint/gates/deployments/tabular/estimators/column_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace tabular {

absl::Status ComputeColumnStatistics(const Table& table,
                                     absl::Span<double> means,
                                     absl::Span<double> deviations) {
  std::fill(means.begin(), means.end(), 0.0);
  std::fill(deviations.begin(), deviations.end(), 0.0);
  for (size_t row = 0; row < table.row_count(); ++row) {
    const double* numbers = table.Row(row);
    const double weight = 1.0 / static_cast<double>(row + 1);
    for (size_t column = 0; column < means.size(); ++column) {
      const double difference = numbers[column] - means[column];
      means[column] += difference * weight;
      // During this loop, `deviations` holds the sum of squared differences
      // from the mean.
      deviations[column] += difference * (numbers[column] - means[column]);
    }
  }
  const double row_count = static_cast<double>(table.row_count());
  for (size_t column = 0; column < deviations.size(); ++column) {
    double& spread = deviations[column];
    if (!std::isfinite(spread)) {
      return absl::FailedPreconditionError(
          absl::StrCat("the numbers of column ", column + 1,
                       " are too large; bring them to a smaller unit"));
    }
    spread = spread > 0 ? std::sqrt(spread / row_count) : 1.0;
  }
  return absl::OkStatus();
}

}  // namespace tabular
}  // namespace footprint
