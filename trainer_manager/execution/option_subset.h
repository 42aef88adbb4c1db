// Makes memory options from bits, for tests that try combinations of
// optimisations.
//
//   footprint::MemoryOptions options = footprint::OptionSubset(0b101);
//
// A pure function, thread-safe. Allocates nothing.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_OPTION_SUBSET_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_OPTION_SUBSET_H_

#include "footprint/trainer_manager/execution/execution_types.h"

namespace footprint {

// The number of subsets; `bits` are below it.
constexpr unsigned kOptionSubsets = 1u << 10;

// Returns options in which bit i switches optimisation i on, in the order of
// MemoryOptions.
MemoryOptions OptionSubset(unsigned bits);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_OPTION_SUBSET_H_
