#include "footprint/trainer_manager/math/divided_loops.h"

#include <algorithm>

namespace footprint {

void AddArrays(const MathBackend& math, int64_t elements, const float* first,
               const float* second, float* sums) {
  math.ForEachBand(elements, 1, [=](const Band& band) {
    for (int64_t i = band.begin; i < band.end; ++i) {
      sums[i] = first[i] + second[i];
    }
  });
}

void SumRows(const MathBackend& math, int64_t rows, int64_t columns,
             const float* matrix, float* sums) {
  math.ForEachBand(columns, rows, [=](const Band& band) {
    std::fill(sums + band.begin, sums + band.end, 0.0f);
    for (int64_t r = 0; r < rows; ++r) {
      const float* row = matrix + r * columns;
      for (int64_t c = band.begin; c < band.end; ++c) sums[c] += row[c];
    }
  });
}

void AddToRows(const MathBackend& math, int64_t rows, int64_t columns,
               const float* vector, float* matrix) {
  math.ForEachBand(rows, columns, [=](const Band& band) {
    for (int64_t r = band.begin; r < band.end; ++r) {
      float* row = matrix + r * columns;
      for (int64_t c = 0; c < columns; ++c) row[c] += vector[c];
    }
  });
}

}  // namespace footprint
