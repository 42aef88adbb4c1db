// Looks for NaN and infinity in many values at once.
//
//   const int64_t place = footprint::FirstNotFinite(values, count);
//   if (place >= 0) return Refuse(values[place]);
//
// Pure and thread-safe; asks the heap for nothing. Time: one pass, several
// values an instruction, so about that of reading them.

#ifndef FOOTPRINT_TRAINER_MANAGER_MATH_FINITE_VALUES_H_
#define FOOTPRINT_TRAINER_MANAGER_MATH_FINITE_VALUES_H_

#include <cstdint>

namespace footprint {

// The place of the first value that is NaN or infinite, or -1.
int64_t FirstNotFinite(const float* values, int64_t count);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_MATH_FINITE_VALUES_H_
