#include "footprint/base/tensor/shape.h"

#include <algorithm>
#include <limits>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace footprint {

int64_t Shape::rows() const {
  int64_t product = 1;
  for (int axis = 0; axis + 1 < rank(); ++axis) {
    // More rows than can be counted exist only where an extent is 0, if
    // TensorBytes accepts the shape.
    if (__builtin_mul_overflow(product, extent(axis), &product)) {
      product = std::numeric_limits<int64_t>::max();
    }
  }
  return product;
}

std::string Shape::ToString() const {
  return absl::StrCat("[", absl::StrJoin(extents_, ", "), "]");
}

absl::StatusOr<int64_t> TensorBytes(DType dtype, const Shape& shape) {
  const absl::Span<const int64_t> extents = shape.extents();
  // An extent of zero makes the product zero, whatever the other extents are.
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return 0;
  const DTypeBlock block = BlockOf(dtype);
  if (shape.columns() % block.elements != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "shape ", shape.ToString(), " of ", DTypeName(dtype),
        " has rows that are not whole blocks of ", block.elements));
  }
  absl::uint128 bytes = static_cast<uint64_t>(block.bytes);
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    const int64_t extent = extents[axis];
    if (extent < 0) {
      return absl::OutOfRangeError(
          absl::StrCat("shape ", shape.ToString(), " has a negative extent"));
    }
    const bool is_last = axis + 1 == extents.size();
    bytes *= static_cast<uint64_t>(is_last ? extent / block.elements : extent);
    if (bytes > std::numeric_limits<int64_t>::max()) {
      return absl::OutOfRangeError(
          absl::StrCat("shape ", shape.ToString(), " of ", DTypeName(dtype),
                       " needs more than 2^63 - 1 bytes"));
    }
  }
  return static_cast<int64_t>(bytes);
}

}  // namespace footprint
