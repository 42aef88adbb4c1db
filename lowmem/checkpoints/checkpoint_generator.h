// Writes checkpoints of any size with the layout and names of public ones, and
// with values from a seed.
//
//   footprint::CheckpointShape shape =
//       *footprint::CheckpointShapeFromName("bert-large");
//   absl::Status status =
//       footprint::WriteCheckpoint("/tmp/bert-large", shape, {});
//
// Writes config.json and model.safetensors into an existing folder. A value
// depends only on the seed, the tensor's name and the value's index. It is the
// same on every machine, since it is an integer scaled by one multiplication.
// Weights and biases have mean 0 and standard deviation 0.02; gains of layer
// normalisation are uniform in 0.8 to 1.2. The activations of such a model
// neither explode nor vanish, but it has learnt nothing.
//
// Each file is atomic (see AtomicFile). WriteCheckpoint calls `progress` on the
// thread of the caller and keeps nothing. Thread-safe; if two threads write one
// folder, the second is refused. Memory: 288 KiB and the header, whatever the
// model's size. Time: that of the disk; about 1 ns a value.
//
// The error is InvalidArgument if no model can have the shape. Other errors are
// those of AtomicFile.

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
  // Called now and then with the bytes written so far and in total.
  std::function<void(int64_t, int64_t)> progress;
};

absl::Status WriteCheckpoint(absl::string_view folder,
                             const CheckpointShape& shape,
                             const CheckpointOptions& options);

// Returns the value of element `index` of the tensor `name`, before rounding.
float CheckpointValue(uint64_t seed, absl::string_view name, int64_t index);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_CHECKPOINTS_CHECKPOINT_GENERATOR_H_
