// The shape and element type of a tensor, and its size with overflow checked.
//
//   const footprint::TensorType image = {{32, 3, 28, 28}};
//   absl::StatusOr<int64_t> size_bytes = footprint::CheckedSizeBytes(image);
//
// Plain data of a fixed size, without heap memory; thread-compatible.

#ifndef FOOTPRINT_TRAINER_MANAGER_LAYERS_SHAPE_H_
#define FOOTPRINT_TRAINER_MANAGER_LAYERS_SHAPE_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "absl/status/statusor.h"
#include "footprint/base/tensor/dtype.h"

namespace footprint {

// Extents, the outermost first; the first is the batch. Rank 0 is one element.
class Shape {
 public:
  static constexpr int kMaxRank = 4;

  Shape() = default;
  // More than kMaxRank extents make a shape that CheckedSizeBytes refuses.
  Shape(std::initializer_list<int64_t> extents);  // NOLINT: reads as a literal

  int rank() const { return rank_; }
  // Axis -1 is the last. The axis must exist.
  int64_t extent(int axis) const {
    return extents_[static_cast<size_t>(axis < 0 ? axis + rank_ : axis)];
  }
  void set_extent(int axis, int64_t extent) {
    extents_[static_cast<size_t>(axis < 0 ? axis + rank_ : axis)] = extent;
  }
  // The product of the extents. Only for a shape that passed CheckedSizeBytes.
  int64_t elements() const;

  // "[32, 3, 28, 28]"
  std::string ToString() const;

  friend bool operator==(const Shape& a, const Shape& b) {
    return a.rank_ == b.rank_ && a.extents_ == b.extents_;
  }
  friend bool operator!=(const Shape& a, const Shape& b) { return !(a == b); }

 private:
  std::array<int64_t, kMaxRank> extents_ = {};
  int rank_ = 0;
};

struct TensorType {
  Shape shape;
  DType type = DType::kF32;
};

// InvalidArgument: an extent below 1, or too many. OutOfRange: more than
// 2^63 - 1 bytes. The text shows the shape.
absl::StatusOr<int64_t> CheckedSizeBytes(const TensorType& spec);

// The same for a spec that is known to pass.
int64_t SizeBytes(const TensorType& spec);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_LAYERS_SHAPE_H_
