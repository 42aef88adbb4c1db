// Reads rows of a weight as floats, whatever their type and order in the file.
//
//   const float* rows = RowsInPlace(*store, weight, 0, weight.rows());
//   if (rows == nullptr) status = ReadRows(*store, weight, 0, n, destination);
//
// Thread-safe. The store owns the rows that RowsInPlace returns, and they live
// as long as it does; ReadRows fills memory of the caller. Memory: none. Errors
// are the store's.

#ifndef FOOTPRINT_LOWMEM_WEIGHTS_FLOAT_READER_H_
#define FOOTPRINT_LOWMEM_WEIGHTS_FLOAT_READER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

// Returns the address at which the store holds the rows as dense floats, or
// null if it does not hold them in that form. It needs no slot and reads
// nothing.
const float* RowsInPlace(WeightStore& store, const Weight& weight, int64_t row,
                         int64_t rows);

// Reads one row, also of a matrix in column blocks, into columns() floats.
absl::Status ReadRow(WeightStore& store, const Weight& matrix, int64_t row,
                     float* destination);

// Reads rows, one after the other, into rows * columns() floats.
absl::Status ReadRows(WeightStore& store, const Weight& weight, int64_t row,
                      int64_t rows, float* destination);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_WEIGHTS_FLOAT_READER_H_
