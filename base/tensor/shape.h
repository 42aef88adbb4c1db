// The extents of a tensor, and its size with overflow checked.
//
//   const footprint::Shape images = {32, 3, 28, 28};
//   images.extent(-1);  // 28
//   absl::StatusOr<int64_t> size_bytes =
//       footprint::TensorBytes(footprint::DType::kF32, images);
//
// Owns its extents: up to four within the object of 40 bytes, more of them on
// the heap. Thread-compatible.

#ifndef FOOTPRINT_BASE_TENSOR_SHAPE_H_
#define FOOTPRINT_BASE_TENSOR_SHAPE_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "footprint/base/tensor/dtype.h"

namespace footprint {

// The extents, the outermost first. A shape of rank 0 has one element.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> extents)  // NOLINT: reads as a literal
      : extents_(extents) {}

  int rank() const { return static_cast<int>(extents_.size()); }
  absl::Span<const int64_t> extents() const { return extents_; }

  // Returns an extent. Axis -1 is the last one. The axis must exist.
  int64_t extent(int axis) const { return extents_[Position(axis)]; }
  void set_extent(int axis, int64_t extent) {
    extents_[Position(axis)] = extent;
  }

  // Adds an axis, which becomes the last one.
  void Append(int64_t extent) { extents_.push_back(extent); }

  // Returns the product of the extents, which must not overflow. TensorBytes
  // checks that for types that are not quantised, unless an extent is 0.
  int64_t elements() const { return rows() * columns(); }

  // Columns and rows of the tensor as a matrix: columns along the last axis,
  // rows along all others. If an extent is 0, there may be more rows than can
  // be counted, for which rows() returns 2^63 - 1.
  int64_t columns() const { return rank() == 0 ? 1 : extent(-1); }
  int64_t rows() const;

  // Returns "[32, 3, 28, 28]", or "[]" for rank 0.
  std::string ToString() const;

  friend bool operator==(const Shape& a, const Shape& b) {
    return a.extents_ == b.extents_;
  }
  friend bool operator!=(const Shape& a, const Shape& b) { return !(a == b); }

 private:
  size_t Position(int axis) const {
    return static_cast<size_t>(axis < 0 ? axis + rank() : axis);
  }

  absl::InlinedVector<int64_t, 4> extents_;
};

// Returns the bytes of a dense tensor; 0 if an extent is 0, whatever the others
// are. Returns OutOfRange for more than 2^63 - 1 bytes or a negative extent,
// InvalidArgument if the rows of a quantised type are not whole blocks. The
// message shows the shape.
absl::StatusOr<int64_t> TensorBytes(DType dtype, const Shape& shape);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TENSOR_SHAPE_H_
