#include "footprint/trainer_manager/layers/tensor_type.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace footprint {

absl::StatusOr<int64_t> CheckedSizeBytes(const TensorType& spec) {
  const Shape& shape = spec.shape;
  if (shape.rank() > kMaxRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("shape ", shape.ToString(), " has ", shape.rank(),
                     " extents; at most ", kMaxRank, " are supported"));
  }
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int64_t extent = shape.extent(axis);
    if (extent < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("shape ", shape.ToString(), ": extent ", extent,
                       " of axis ", axis, " is below 1"));
    }
  }
  return TensorBytes(spec.type, shape);
}

int64_t SizeBytes(const TensorType& spec) {
  return BytesOfElements(spec.type, spec.shape.elements());
}

}  // namespace footprint
