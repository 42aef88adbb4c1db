// Opens each of the four backends, and stores of one or of several files; see
// weight_store.h.
//
//   return lowmem_internal::OpenPread(*std::move(file));
//
// The store takes the file, and the caller owns the store. Thread-safe. Memory:
// that of the backend, as weight_store.h says. Errors are those of
// WeightStore::Open.

#ifndef FOOTPRINT_LOWMEM_WEIGHTS_WEIGHT_BACKENDS_H_
#define FOOTPRINT_LOWMEM_WEIGHTS_WEIGHT_BACKENDS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/lowmem/weights/weight_file.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint::lowmem_internal {

absl::StatusOr<std::unique_ptr<WeightStore>> OpenResident(WeightFile file);
absl::StatusOr<std::unique_ptr<WeightStore>> OpenPread(WeightFile file);
absl::StatusOr<std::unique_ptr<WeightStore>> OpenDirect(WeightFile file);
absl::StatusOr<std::unique_ptr<WeightStore>> OpenMmap(WeightFile file);

// Opens one file, whatever its name is.
absl::StatusOr<std::unique_ptr<WeightStore>> OpenFile(absl::string_view path,
                                                      WeightBackend backend);
// Opens all files that an index names.
absl::StatusOr<std::unique_ptr<WeightStore>> OpenShards(absl::string_view path,
                                                        WeightBackend backend);

}  // namespace footprint::lowmem_internal

// Tested by weight_store_test and sharded_store_test.

#endif  // FOOTPRINT_LOWMEM_WEIGHTS_WEIGHT_BACKENDS_H_
