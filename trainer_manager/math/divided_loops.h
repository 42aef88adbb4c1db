// Loops over arrays and matrices that are divided among the threads of a
// backend.
//
//   footprint::AddArrays(math, elements, first, second, sum);
//   footprint::SumRows(math, rows, columns, derivative, bias_gradient);
//   footprint::AddToRows(math, rows, columns, bias, output);
//
// Matrices are dense, row by row. The order of a sum is that of the rows, so
// the bits do not depend on the number of threads. Allocates nothing and keeps
// nothing of its arguments. Thread-safe.

#ifndef FOOTPRINT_TRAINER_MANAGER_MATH_DIVIDED_LOOPS_H_
#define FOOTPRINT_TRAINER_MANAGER_MATH_DIVIDED_LOOPS_H_

#include <cstdint>

#include "footprint/trainer_manager/math/math_backend.h"

namespace footprint {

// Writes the sums of elements, also in place of either array.
void AddArrays(const MathBackend& math, int64_t elements, const float* first,
               const float* second, float* sums);

// Writes the sum of each column to `sums`, which must not overlap `matrix`.
void SumRows(const MathBackend& math, int64_t rows, int64_t columns,
             const float* matrix, float* sums);

// Adds `vector` to each row of `matrix`.
void AddToRows(const MathBackend& math, int64_t rows, int64_t columns,
               const float* vector, float* matrix);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_MATH_DIVIDED_LOOPS_H_
