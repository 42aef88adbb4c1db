// Looks for NaN and infinity in many values at once.
//
//   const int64_t place = footprint::FirstNotFinite(values, count);
//   if (place >= 0) return Refuse(values[place]);
//
// Pure and thread-safe; allocates nothing. Time: one pass with vector
// instructions, about that of reading the values.

#ifndef FOOTPRINT_TRAINER_MANAGER_MATH_FINITE_VALUES_H_
#define FOOTPRINT_TRAINER_MANAGER_MATH_FINITE_VALUES_H_

#include <cstdint>

namespace footprint {

// Returns the index of the first value that is NaN or infinite, or -1.
int64_t FirstNotFinite(const float* values, int64_t count);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_MATH_FINITE_VALUES_H_
