// Opens the weights of a checkpoint, which are in one file or in several that
// an index names.
//
//   absl::StatusOr<footprint::CheckpointInputs> inputs =
//       footprint::CheckpointInputs::Open("model.safetensors.index.json");
//   absl::StatusOr<std::vector<footprint::InputWeight>> weights =
//       inputs->Weights();
//
// Owns the store, to which weights refer. Movable, thread-compatible. Memory:
// the indices of the files.
//
// Errors are those of WeightStore, which also says what an index is. The error
// is InvalidArgument if a file is GGUF, which is not the form of a published
// checkpoint.

#ifndef FOOTPRINT_LOWMEM_CHECKPOINTS_CHECKPOINT_INPUTS_H_
#define FOOTPRINT_LOWMEM_CHECKPOINTS_CHECKPOINT_INPUTS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

struct InputWeight {
  WeightStore* store = nullptr;
  Weight weight;
};

class CheckpointInputs {
 public:
  static absl::StatusOr<CheckpointInputs> Open(absl::string_view path);

  const WeightStore& store() const { return *store_; }
  // Returns each weight once, in the order of the files.
  absl::StatusOr<std::vector<InputWeight>> Weights() const;
  // Returns InvalidArgument if `output` is the index or a file of the
  // checkpoint under any name, since writing it would lose the input.
  absl::Status CheckIsNone(absl::string_view output) const;

 private:
  std::unique_ptr<WeightStore> store_;
};

}  // namespace footprint

// Tested by pack_test and quantise_test.

#endif  // FOOTPRINT_LOWMEM_CHECKPOINTS_CHECKPOINT_INPUTS_H_
