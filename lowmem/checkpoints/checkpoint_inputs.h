// Opens the weights of a checkpoint, which are in one file or in several that
// an index names.
//
//   absl::StatusOr<footprint::CheckpointInputs> inputs =
//       footprint::CheckpointInputs::Open("model.safetensors.index.json");
//   absl::StatusOr<std::vector<footprint::InputWeight>> weights =
//       inputs->Weights();
//
// A path that ends in ".json" is an index. If several files have a tensor, the
// file that the index names for it counts.
//
// Owns the stores, to which weights refer. Movable, thread-compatible. Memory:
// the indices of the files.
//
// Errors are those of WeightStore and ReadShardIndex. The error is
// InvalidArgument if the index names a tensor that its file does not have, if
// several files have a tensor that the index does not name, or if a file is
// GGUF, which is not the form of a published checkpoint.

#ifndef FOOTPRINT_LOWMEM_CHECKPOINTS_CHECKPOINT_INPUTS_H_
#define FOOTPRINT_LOWMEM_CHECKPOINTS_CHECKPOINT_INPUTS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

struct InputWeight {
  WeightStore* store = nullptr;
  Weight weight;
};

class CheckpointInputs {
 public:
  static absl::StatusOr<CheckpointInputs> Open(absl::string_view path);

  absl::Span<const std::unique_ptr<WeightStore>> stores() const {
    return stores_;
  }
  // Returns each weight once, in the order of the files.
  absl::StatusOr<std::vector<InputWeight>> Weights() const;
  // Returns InvalidArgument if `output` is the index or a file of the
  // checkpoint under any name, since writing it would lose the input.
  absl::Status CheckIsNone(absl::string_view output) const;

 private:
  absl::Status Add(absl::string_view path);
  bool Counts(const std::string& name, const WeightStore& store) const;

  std::string path_;
  std::vector<std::unique_ptr<WeightStore>> stores_;
  // The store that holds each tensor according to the index; empty without an
  // index.
  std::map<std::string, const WeightStore*> owners_;
};

}  // namespace footprint

// Tested by pack_test and quantise_test.

#endif  // FOOTPRINT_LOWMEM_CHECKPOINTS_CHECKPOINT_INPUTS_H_
