// Sums of a matrix's rows, and a vector added to each of its rows, on the
// threads of a backend.
//
//   footprint::SumRows(math, rows, columns, derivative, bias_gradient);
//   footprint::AddToRows(math, rows, columns, bias, output);
//
// Matrices are dense, row by row. The order of a sum is that of the rows, so
// the bits do not depend on the number of threads. Allocates nothing and keeps
// nothing of its arguments. Thread-safe.

#ifndef FOOTPRINT_TRAINER_MANAGER_MATH_ROW_OPERATIONS_H_
#define FOOTPRINT_TRAINER_MANAGER_MATH_ROW_OPERATIONS_H_

#include <cstdint>

#include "footprint/trainer_manager/math/math_backend.h"

namespace footprint {

// Writes the sum of each column to `sums`, which must not overlap `matrix`.
void SumRows(const MathBackend& math, int64_t rows, int64_t columns,
             const float* matrix, float* sums);

// Adds `vector` to each row of `matrix`.
void AddToRows(const MathBackend& math, int64_t rows, int64_t columns,
               const float* vector, float* matrix);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_MATH_ROW_OPERATIONS_H_
