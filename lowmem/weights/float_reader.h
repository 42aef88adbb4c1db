// Rows of a weight as floats, whatever type and order the file has them in.
//
//   const float* rows = RowsInPlace(*store, weight, 0, weight.rows());
//   if (rows == nullptr) status = ReadRows(*store, weight, 0, n, destination);
//
// Thread-safe. Rows that RowsInPlace returns are the store's and live as long
// as it; ReadRows fills memory that the caller owns. Memory: none. Errors are
// the store's.

#ifndef FOOTPRINT_LOWMEM_WEIGHTS_FLOAT_READER_H_
#define FOOTPRINT_LOWMEM_WEIGHTS_FLOAT_READER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

// Returns where the rows lie as floats one after the other; null where the
// store has them in no such way. Needs no slot and reads nothing.
const float* RowsInPlace(WeightStore& store, const Weight& weight, int64_t row,
                         int64_t rows);

// One row, also of a matrix that is cut into panels of columns.
absl::Status ReadRow(WeightStore& store, const Weight& matrix, int64_t row,
                     float* destination);

// One row after the other.
absl::Status ReadRows(WeightStore& store, const Weight& weight, int64_t row,
                      int64_t rows, float* destination);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_WEIGHTS_FLOAT_READER_H_
