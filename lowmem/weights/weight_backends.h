// Opens each of the four backends; see weight_store.h.
//
//   return lowmem_internal::OpenPread(*std::move(file));
//
// The store takes the file, and the caller owns the store. Thread-safe. Memory:
// that of the backend, as weight_store.h says. Errors: those of reading,
// mapping or opening the file again.

#ifndef FOOTPRINT_LOWMEM_WEIGHTS_WEIGHT_BACKENDS_H_
#define FOOTPRINT_LOWMEM_WEIGHTS_WEIGHT_BACKENDS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "footprint/lowmem/weights/weight_file.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint::lowmem_internal {

absl::StatusOr<std::unique_ptr<WeightStore>> OpenResident(WeightFile file);
absl::StatusOr<std::unique_ptr<WeightStore>> OpenPread(WeightFile file);
absl::StatusOr<std::unique_ptr<WeightStore>> OpenDirect(WeightFile file);
absl::StatusOr<std::unique_ptr<WeightStore>> OpenMmap(WeightFile file);

}  // namespace footprint::lowmem_internal

// Tested by weight_store_test.

#endif  // FOOTPRINT_LOWMEM_WEIGHTS_WEIGHT_BACKENDS_H_
