// Visits each row of a table once, in an order that looks shuffled. A RowStream
// visits each row once an epoch.
//
//   RowOrder order(table.row_count(), /*seed=*/epoch);
//   for (size_t i = 0; i < table.row_count(); ++i) {
//     Use(table.Row(order.Next()));
//   }
//
// It steps through the rows by a random length that is coprime to the number of
// rows. A true shuffle would need an index of 4 to 8 bytes for each row, which
// is a tenth of a narrow table's size. Rows that are near in the order are far
// apart in the table, but at equal distances; a table that repeats itself at
// such distances needs a true shuffle.
//
// A value type without a reference to a table. Thread-compatible. Allocates
// nothing. Time: constant for each row.

#ifndef FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ESTIMATORS_ROW_ORDER_H_
#define FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ESTIMATORS_ROW_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <numeric>

#include "absl/types/optional.h"
#include "footprint/base/random/random_sequence.h"

namespace footprint {
namespace tabular {

class RowOrder {
 public:
  // `row_count` must be at least 1.
  RowOrder(size_t row_count, uint64_t seed) : row_count_(row_count) {
    RandomSequence random(seed);
    row_ = random.Below(row_count);
    do {
      step_ = random.Below(row_count);
    } while (std::gcd(step_, row_count) != 1);
  }

  // Returns the next row. Call it once for each row.
  size_t Next() {
    const size_t row = row_;
    row_ =
        row_ < row_count_ - step_ ? row_ + step_ : row_ - (row_count_ - step_);
    return row;
  }

 private:
  const size_t row_count_;
  size_t row_ = 0;
  size_t step_ = 0;
};

// Visits the rows epoch after epoch, without end. Each epoch has its own order:
// its seed is one more than that of the epoch before.
class RowStream {
 public:
  RowStream(size_t row_count, uint64_t seed)
      : row_count_(row_count), seed_(seed) {}

  // Returns the next row.
  size_t Next() {
    if (left_ == 0) {
      order_.emplace(row_count_, seed_++);
      left_ = row_count_;
    }
    --left_;
    return order_->Next();
  }

 private:
  const size_t row_count_;
  uint64_t seed_;
  size_t left_ = 0;
  absl::optional<RowOrder> order_;
};

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ESTIMATORS_ROW_ORDER_H_
