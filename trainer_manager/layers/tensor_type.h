// The shape and element type of a tensor, and its size with overflow checked.
//
//   const footprint::TensorType image = {{32, 3, 28, 28}};
//   absl::StatusOr<int64_t> size_bytes = footprint::CheckedSizeBytes(image);
//
// Plain data, without heap memory up to kMaxRank extents; thread-compatible.

#ifndef FOOTPRINT_TRAINER_MANAGER_LAYERS_TENSOR_TYPE_H_
#define FOOTPRINT_TRAINER_MANAGER_LAYERS_TENSOR_TYPE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/base/tensor/shape.h"

namespace footprint {

// The most extents that layers take.
inline constexpr int kMaxRank = 4;

// A shape and an element type. The first extent of an input, an output or a
// label is the batch.
struct TensorType {
  Shape shape;
  DType type = DType::kF32;
};

// Returns the bytes. Returns InvalidArgument if an extent is below 1, if there
// are more than kMaxRank extents, or if the rows of a quantised type are not
// whole blocks. Returns OutOfRange if there are more than 2^63 - 1 bytes. The
// message shows the shape.
absl::StatusOr<int64_t> CheckedSizeBytes(const TensorType& spec);

// Returns the bytes of a tensor that passes CheckedSizeBytes.
int64_t SizeBytes(const TensorType& spec);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_LAYERS_TENSOR_TYPE_H_
