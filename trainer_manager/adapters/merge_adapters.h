// Merges adapters into the weights that they belong to, and writes a file for
// the network without adapters.
//
//   absl::Status status = footprint::MergeAdapters(*adapted, *parameters,
//                                                  "merged.safetensors");
//   // LoadParameters reads the file into the network that AddAdapters got.
//
// Writes weight + scale * (B A) transposed, summed in double and rounded once,
// and all other parameters as they are. `parameters` stay as they are. The file
// is replaced as a whole or not at all. Nothing is kept; thread-compatible.
// Memory: at most 64 KiB, the file's header, and 12 bytes for each unit of the
// widest adapted layer. Time: that of writing, and rank multiplications for
// each adapted weight.

#ifndef FOOTPRINT_TRAINER_MANAGER_ADAPTERS_MERGE_ADAPTERS_H_
#define FOOTPRINT_TRAINER_MANAGER_ADAPTERS_MERGE_ADAPTERS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "footprint/trainer_manager/adapters/add_adapters.h"
#include "footprint/trainer_manager/parameters/parameters.h"

namespace footprint {

// Returns InvalidArgument if the parameters lack a matrix of an adapter, and
// OutOfRange if a merged weight is not finite; the message names it. Other
// errors are those of SaveParameters.
absl::Status MergeAdapters(const AdaptedNetwork& adapted,
                           const Parameters& parameters,
                           absl::string_view path);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_ADAPTERS_MERGE_ADAPTERS_H_
