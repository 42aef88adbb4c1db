#include "footprint/trainer_manager/math/shifted_images.h"

#include <cstdint>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "footprint/base/simd/dense_product.h"
#include "gtest/gtest.h"

namespace footprint {
namespace highway_backend_internal {
namespace {

int64_t Draw(int64_t low, int64_t high, std::mt19937_64* random) {
  return low + static_cast<int64_t>((*random)() %
                                    static_cast<uint64_t>(high - low + 1));
}

Convolution RandomConvolution(std::mt19937_64* random) {
  Convolution c;
  c.batch = Draw(1, 3, random);
  c.input_channels = Draw(1, 3, random);
  c.input_height = Draw(1, 20, random);
  c.input_width = Draw(1, 20, random);
  c.output_channels = Draw(1, 3, random);
  c.kernel = Draw(1, 4, random);
  c.stride = Draw(1, 3, random);
  c.padding = Draw(0, 2, random);
  c.output_height = (c.input_height + 2 * c.padding - c.kernel) / c.stride + 1;
  c.output_width = (c.input_width + 2 * c.padding - c.kernel) / c.stride + 1;
  const bool fits = c.input_height + 2 * c.padding >= c.kernel &&
                    c.input_width + 2 * c.padding >= c.kernel;
  return fits ? c : RandomConvolution(random);
}

// Returns the images that the forward step multiplies by.
ShiftedImages MakeInputs(const Convolution& c, const float* data) {
  return {data,
          c.batch * c.input_channels * c.input_height * c.input_width,
          c.input_channels,
          c.input_height,
          c.input_width,
          c.output_height,
          c.output_width,
          c.stride};
}

std::vector<float> Counted(int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i + 1);
  }
  return values;
}

// Follows the definition, one position at a time.
float ShiftedValue(const ShiftedImages& images, int64_t channel, Tap tap,
                   int64_t column) {
  const int64_t x = column % images.grid_width * images.step + tap.x;
  const int64_t y =
      column / images.grid_width % images.grid_height * images.step + tap.y;
  const int64_t image = column / (images.grid_width * images.grid_height);
  if (x < 0 || x >= images.width || y < 0 || y >= images.height) return 0;
  return images.data[((image * images.channels + channel) * images.height + y) *
                         images.width +
                     x];
}

TEST(ShiftedImagesTest, RunsHoldWhatTheDefinitionSays) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 300; ++trial) {
    const Convolution c = RandomConvolution(&random);
    const std::vector<float> values =
        Counted(c.batch * c.input_channels * c.input_height * c.input_width);
    const ShiftedImages images = MakeInputs(c, values.data());
    const Taps taps = AllTaps(c);
    const int64_t columns = c.batch * c.output_height * c.output_width;
    const int64_t begin = Draw(0, columns - 1, &random);
    TapCursor tap(taps, 0);
    for (int64_t row = 0; row < c.input_channels * taps.count(); ++row) {
      RunCursor cursor(images, begin);
      for (int64_t column = begin; column < columns;) {
        const auto run = cursor.Next(Draw(1, kPanelWidth, &random));
        ASSERT_GE(run.count, 1);
        ASSERT_LE(column + run.count, columns);
        std::vector<float> copy(static_cast<size_t>(run.count) + 1, -1.0f);
        CopyRun(images, run, tap.channel(), tap.tap(), copy.data());
        for (int64_t i = 0; i < run.count; ++i, ++column) {
          ASSERT_EQ(copy[static_cast<size_t>(i)],
                    ShiftedValue(images, tap.channel(), tap.tap(), column));
        }
        ASSERT_EQ(copy.back(), -1.0f);
      }
      tap.Next();
    }
  }
}

TEST(ShiftedImagesTest, ARunIsNoLongerThanAskedAndEndsWithItsRow) {
  const std::vector<float> values = Counted(2 * 3 * 5);
  const ShiftedImages images = {values.data(), 15, 1, 3, 5, 3, 5, 1};
  RunCursor cursor(images, 3);
  EXPECT_EQ(cursor.Next(16).count, 2);
  EXPECT_EQ(cursor.Next(4).count, 4);
  EXPECT_EQ(cursor.Next(16).count, 1);
  EXPECT_EQ(cursor.Next(16).y, 2);
  const auto next_image = cursor.Next(16);
  EXPECT_EQ(next_image.y, 0);
  EXPECT_EQ(next_image.image, values.data() + 15);
}

TEST(ShiftedImagesTest, ACursorMayBeginAnywhere) {
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 100; ++trial) {
    const Convolution c = RandomConvolution(&random);
    const Taps taps = AllTaps(c);
    TapCursor walked(taps, 0);
    for (int64_t i = 0; i < 3 * taps.count(); ++i, walked.Next()) {
      const TapCursor placed(taps, i);
      EXPECT_EQ(placed.channel(), walked.channel());
      EXPECT_EQ(placed.channel(), i / taps.count());
      EXPECT_EQ(placed.weight(), walked.weight());
      EXPECT_EQ(placed.weight(), i % taps.count());
      EXPECT_EQ(placed.tap().y, walked.tap().y);
      EXPECT_EQ(placed.tap().x, walked.tap().x);
    }
  }
}

// The input index, the output index and the position in the kernel.
using Link = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t>;

std::map<Link, int> LinksOfForward(const Convolution& c) {
  std::map<Link, int> links;
  for (int64_t y = 0; y < c.output_height; ++y) {
    for (int64_t x = 0; x < c.output_width; ++x) {
      for (int64_t k = 0; k < c.kernel * c.kernel; ++k) {
        const int64_t from_y = y * c.stride - c.padding + k / c.kernel;
        const int64_t from_x = x * c.stride - c.padding + k % c.kernel;
        if (from_y < 0 || from_y >= c.input_height || from_x < 0 ||
            from_x >= c.input_width) {
          continue;
        }
        ++links[Link{from_y, from_x, y, x, k}];
      }
    }
  }
  return links;
}

// All phases together carry each derivative back exactly once, along the path
// of the value.
TEST(ShiftedImagesTest, PhasesGoBackEachWayOnce) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 300; ++trial) {
    const Convolution c = RandomConvolution(&random);
    std::map<Link, int> links;
    for (int64_t input = 0; input < c.input_height * c.input_width; ++input) {
      const int64_t y = input / c.input_width;
      const int64_t x = input % c.input_width;
      const Taps taps = TapsOfPhase(c, y % c.stride, x % c.stride);
      if (taps.count() == 0) continue;
      TapCursor cursor(taps, 0);
      for (int64_t i = 0; i < taps.count(); ++i, cursor.Next()) {
        const int64_t to_y = y / c.stride + cursor.tap().y;
        const int64_t to_x = x / c.stride + cursor.tap().x;
        if (to_y < 0 || to_y >= c.output_height || to_x < 0 ||
            to_x >= c.output_width) {
          continue;
        }
        ++links[Link{y, x, to_y, to_x, cursor.weight()}];
      }
    }
    ASSERT_EQ(links, LinksOfForward(c));
  }
}

}  // namespace
}  // namespace highway_backend_internal
}  // namespace footprint
