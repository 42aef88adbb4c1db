// Merges adapters into the weights that they belong to, as a file of the
// network without adapters, which anyone can run.
//
//   absl::Status status = footprint::MergeAdapters(*adapted, *parameters,
//                                                  "merged.safetensors");
//   // LoadParameters takes the file for the network that AddAdapters was
//   given.
//
// Writes weight + scale * (B A) transposed, summed in double and rounded once,
// and all other parameters as they are. The model's own parameters stay. The
// file is replaced as a whole or not at all. Nothing is kept;
// thread-compatible. Memory: 64 KiB and a row of the widest adapted layer.
// Time: that of writing, and rank multiplications for each adapted weight.

#ifndef FOOTPRINT_TRAINER_MANAGER_ADAPTERS_MERGE_ADAPTERS_H_
#define FOOTPRINT_TRAINER_MANAGER_ADAPTERS_MERGE_ADAPTERS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "footprint/trainer_manager/adapters/add_adapters.h"
#include "footprint/trainer_manager/parameters/parameters.h"

namespace footprint {

// InvalidArgument: the parameters are not the network's. OutOfRange: a merged
// weight is not finite; the text names it. Otherwise as SaveParameters.
absl::Status MergeAdapters(const AdaptedNetwork& adapted,
                           const Parameters& parameters,
                           absl::string_view path);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_ADAPTERS_MERGE_ADAPTERS_H_
