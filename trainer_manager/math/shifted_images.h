// A convolution as a matrix product. The rows of one matrix are its images
// shifted by each tap of the kernel; that matrix is never stored as a whole.
//
//   const Taps taps = AllTaps(convolution);
//   TapCursor tap(taps, row);
//   RunCursor cursor(images, column);
//   CopyRun(images, cursor.Next(16), tap.channel(), tap.tap(), panel);
//
// Pure arithmetic and copies; thread-compatible. Images and taps must outlive
// the cursors. Memory: none.

#ifndef FOOTPRINT_TRAINER_MANAGER_MATH_SHIFTED_IMAGES_H_
#define FOOTPRINT_TRAINER_MANAGER_MATH_SHIFTED_IMAGES_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "footprint/base/simd/dense_product.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "footprint/trainer_manager/math/product_blocks.h"

namespace footprint {
namespace highway_backend_internal {

// A shift of images. In the matrix of shifted images, the element at row
// (channel, tap) and column (image, y, x) of a grid is the image's channel at
// (y * step + tap.y, x * step + tap.x), or 0 outside the image.
struct Tap {
  int64_t y;
  int64_t x;
};

struct ShiftedImages {
  const float* data;
  int64_t elements;  // of all images together
  int64_t channels;
  int64_t height;
  int64_t width;
  int64_t grid_height;
  int64_t grid_width;
  int64_t step;

  int64_t image_elements() const { return channels * height * width; }
};

// Some columns of the grid that lie in one row of an image.
struct Run {
  const float* image;
  int64_t y;  // times step
  int64_t x;  // times step
  int64_t count;
};

// Visits the runs of consecutive columns, in order.
class RunCursor {
 public:
  RunCursor(const ShiftedImages& images, int64_t column)
      : images_(images),
        x_(column % images.grid_width),
        y_(column / images.grid_width % images.grid_height),
        image_(images.data + column / images.grid_width / images.grid_height *
                                 images.image_elements()) {}

  Run Next(int64_t most) {
    const Run run = {image_, y_ * images_.step, x_ * images_.step,
                     std::min(most, images_.grid_width - x_)};
    x_ += run.count;
    if (x_ == images_.grid_width) {
      x_ = 0;
      if (++y_ == images_.grid_height) {
        y_ = 0;
        image_ += images_.image_elements();
      }
    }
    return run;
  }

 private:
  const ShiftedImages& images_;
  int64_t x_;
  int64_t y_;
  const float* image_;
};

// Copies the part of a row of shifted images that a run covers.
inline void CopyRun(const ShiftedImages& images, const Run& run,
                    int64_t channel, Tap tap, float* to) {
  const int64_t y = run.y + tap.y;
  const int64_t x = run.x + tap.x;
  if (y < 0 || y >= images.height) {
    std::fill(to, to + run.count, 0.0f);
    return;
  }
  const float* row =
      run.image + (channel * images.height + y) * images.width + x;
  const int64_t last = x + (run.count - 1) * images.step;
  if (x >= 0 && last < images.width && images.step == 1) {
    if (run.count == kPanelWidth) {
      std::memcpy(to, row, kPanelWidth * sizeof(float));
      return;
    }
    for (int64_t i = 0; i < run.count; ++i) to[i] = row[i];
    return;
  }
  for (int64_t i = 0; i < run.count; ++i) {
    const int64_t at = i * images.step;
    to[i] = x + at >= 0 && x + at < images.width ? row[at] : 0.0f;
  }
}

// The taps of a kernel that a convolution's step multiplies by, and the shift
// of each.
struct Taps {
  int64_t kernel;   // along one axis
  int64_t first_y;  // of kernel rows, each `skip` apart
  int64_t first_x;
  int64_t count_y;
  int64_t count_x;
  int64_t skip;
  int64_t shift_y;  // of the first
  int64_t shift_x;
  int64_t direction;  // change of the shift from one tap to the next

  int64_t count() const { return count_y * count_x; }
};

// Visits (channel, tap), all taps of a channel first.
class TapCursor {
 public:
  TapCursor(const Taps& taps, int64_t index)
      : taps_(taps),
        channel_(index / taps.count()),
        y_(index % taps.count() / taps.count_x),
        x_(index % taps.count_x) {}

  int64_t channel() const { return channel_; }
  Tap tap() const {
    return {taps_.shift_y + y_ * taps_.direction,
            taps_.shift_x + x_ * taps_.direction};
  }
  // Returns the tap's position in the kernel's plane.
  int64_t weight() const {
    return (taps_.first_y + y_ * taps_.skip) * taps_.kernel + taps_.first_x +
           x_ * taps_.skip;
  }
  void Next() {
    if (++x_ < taps_.count_x) return;
    x_ = 0;
    if (++y_ < taps_.count_y) return;
    y_ = 0;
    ++channel_;
  }

 private:
  const Taps& taps_;
  int64_t channel_;
  int64_t y_;
  int64_t x_;
};

inline Taps AllTaps(const Convolution& c) {
  return {c.kernel, 0, 0, c.kernel, c.kernel, 1, -c.padding, -c.padding, 1};
}

// Returns the taps that carry derivatives to inputs at (y, x) where y is
// `phase_y` and x `phase_x` more than a multiple of the stride.
inline Taps TapsOfPhase(const Convolution& c, int64_t phase_y,
                        int64_t phase_x) {
  const int64_t first_y = (phase_y + c.padding) % c.stride;
  const int64_t first_x = (phase_x + c.padding) % c.stride;
  const auto count = [&](int64_t first) {
    return first >= c.kernel ? 0 : (c.kernel - first - 1) / c.stride + 1;
  };
  return {c.kernel,
          first_y,
          first_x,
          count(first_y),
          count(first_x),
          c.stride,
          (phase_y + c.padding - first_y) / c.stride,
          (phase_x + c.padding - first_x) / c.stride,
          -1};
}

}  // namespace highway_backend_internal
}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_MATH_SHIFTED_IMAGES_H_
