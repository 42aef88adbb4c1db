// Checkpoints of any size with the layout and names of public ones, and values
// from a seed.
//
//   footprint::CheckpointShape shape =
//       *footprint::CheckpointShapeFromName("bert-large");
//   absl::Status status =
//       footprint::WriteCheckpoint("/tmp/bert-large", shape, {});
//
// Writes config.json and model.safetensors into an existing folder. A tensor's
// values depend on the seed, its name and its number of elements alone, and are
// the same on every machine: integers scaled by one multiplication. Weights and
// biases have mean 0 and standard deviation 0.02, gains of layer normalisation
// are even in 0.8 to 1.2: a model of such values neither explodes nor dies out.
// They have learnt nothing.
//
// Each file is atomic (see AtomicFile). `progress` is called by the thread that
// calls WriteCheckpoint, which keeps nothing. Thread-safe: of two writers of
// one folder the second is refused. Memory: 288 KiB and the header, whatever
// the model's size. Time: that of the disk; about 1 ns a value.
//
// InvalidArgument: a shape that no model can have. Otherwise as AtomicFile.

#ifndef FOOTPRINT_LOWMEM_CHECKPOINTS_CHECKPOINT_GENERATOR_H_
#define FOOTPRINT_LOWMEM_CHECKPOINTS_CHECKPOINT_GENERATOR_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "footprint/base/safetensors/safetensors.h"
#include "footprint/lowmem/checkpoints/checkpoint_shape.h"

namespace footprint {

struct CheckpointOptions {
  uint64_t seed = 1;
  DType dtype =
      DType::kF32;  // or kBF16, kF16: rounded to nearest, ties to even
  // Called now and then with the bytes written and to be written.
  std::function<void(int64_t, int64_t)> progress;
};

absl::Status WriteCheckpoint(absl::string_view folder,
                             const CheckpointShape& shape,
                             const CheckpointOptions& options);

// The value of element `index` of the tensor `name`, before rounding.
float CheckpointValue(uint64_t seed, absl::string_view name, int64_t index);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_CHECKPOINTS_CHECKPOINT_GENERATOR_H_
