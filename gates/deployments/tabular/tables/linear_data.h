// Generates rows whose target is a linear function of the features plus noise.
//
//   LinearData data(/*feature_count=*/10, /*seed=*/1);
//   std::vector<double> row(11);
//   data.NextRow(absl::MakeSpan(row));
//
// Features and coefficients are uniform between -1 and 1; the noise has a
// standard deviation of 0.1. All numbers are computed as integers and have four
// digits after the point, so the same seed gives the same rows on every
// machine.
//
// Thread-compatible. Memory: 8 bytes for each feature's coefficient. Time:
// linear.

#ifndef FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_TABLES_LINEAR_DATA_H_
#define FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_TABLES_LINEAR_DATA_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "footprint/base/random/random_sequence.h"

namespace footprint {
namespace tabular {

class LinearData {
 public:
  LinearData(size_t feature_count, uint64_t seed) : random_(seed) {
    coefficients_.resize(feature_count);
    for (int64_t& coefficient : coefficients_) coefficient = NextInteger();
    intercept_ = NextInteger();
  }

  // Generates the next row. `row` must have one element for each feature and
  // one for the target.
  void NextRow(absl::Span<double> row) {
    int64_t target = intercept_ * kUnit + NextNoise() * kUnit;
    for (size_t i = 0; i < coefficients_.size(); ++i) {
      const int64_t feature = NextInteger();
      row[i] = static_cast<double>(feature) / kUnit;
      target += feature * coefficients_[i];
    }
    const int64_t whole_units = target / kUnit;
    row[coefficients_.size()] = static_cast<double>(whole_units) / kUnit;
  }

  double intercept() const { return static_cast<double>(intercept_) / kUnit; }
  double coefficient(size_t feature) const {
    return static_cast<double>(coefficients_[feature]) / kUnit;
  }

 private:
  static constexpr int64_t kUnit = 10000;

  // Returns a number between -kUnit and kUnit.
  int64_t NextInteger() {
    return static_cast<int64_t>(random_.Below(2 * kUnit + 1)) - kUnit;
  }

  // The sum of twelve numbers uniform between -1 and 1 has a standard deviation
  // of 2.
  int64_t NextNoise() {
    int64_t sum = 0;
    for (int i = 0; i < 12; ++i) sum += NextInteger();
    return sum / 20;
  }

  RandomSequence random_;
  std::vector<int64_t> coefficients_;
  int64_t intercept_ = 0;
};

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_TABLES_LINEAR_DATA_H_
