#include "footprint/trainer_manager/layers/shape.h"

#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace footprint {

Shape::Shape(std::initializer_list<int64_t> extents)
    : rank_(static_cast<int>(extents.size())) {
  size_t axis = 0;
  for (const int64_t extent : extents) {
    if (axis < extents_.size()) extents_[axis++] = extent;
  }
}

int64_t Shape::elements() const {
  int64_t product = 1;
  for (int axis = 0; axis < rank_; ++axis) product *= extent(axis);
  return product;
}

std::string Shape::ToString() const {
  std::string text = "[";
  for (int axis = 0; axis < rank_ && axis < kMaxRank; ++axis) {
    absl::StrAppend(&text, axis == 0 ? "" : ", ", extent(axis));
  }
  return text + (rank_ > kMaxRank ? ", ...]" : "]");
}

absl::StatusOr<int64_t> CheckedSizeBytes(const TensorType& spec) {
  const Shape& shape = spec.shape;
  if (shape.rank() > Shape::kMaxRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("shape ", shape.ToString(), " has ", shape.rank(),
                     " extents; at most ", Shape::kMaxRank, " are supported"));
  }
  int64_t size_bytes = DTypeBytes(spec.type);
  bool overflow = false;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int64_t extent = shape.extent(axis);
    if (extent < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("shape ", shape.ToString(), ": extent ", extent,
                       " of axis ", axis, " is below 1"));
    }
    overflow |= size_bytes > std::numeric_limits<int64_t>::max() / extent;
    if (!overflow) size_bytes *= extent;
  }
  if (overflow) {
    return absl::OutOfRangeError(absl::StrCat(
        "shape ", shape.ToString(), " needs more than 2^63 - 1 bytes"));
  }
  return size_bytes;
}

int64_t SizeBytes(const TensorType& spec) {
  return spec.shape.elements() * DTypeBytes(spec.type);
}

}  // namespace footprint
