#include "footprint/trainer_manager/math/highway_backend.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "footprint/base/memory/alignment.h"
#include "footprint/base/simd/dense_product.h"
#include "footprint/base/simd/vector_targets.h"
#include "footprint/base/threads/mutex.h"
#include "footprint/base/threads/worker_team.h"
#include "footprint/trainer_manager/math/product_blocks.h"
#include "footprint/trainer_manager/math/shifted_images.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "trainer_manager/math/highway_backend.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// Highway's main header must come after foreach_target.h.
#include "footprint/base/simd/dense_tile-inl.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace footprint {
namespace highway_backend_internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using footprint::HWY_NAMESPACE::kTilePanels;
using footprint::HWY_NAMESPACE::kTileRows;
using footprint::HWY_NAMESPACE::MultiplySumBlock;

// Sets to[column * to_stride + row] = from[row * from_stride + column], or adds
// to it, for four rows and four columns.
template <bool kAccumulate>
HWY_INLINE void TransposeFour(const float* from, int64_t from_stride, float* to,
                              int64_t to_stride) {
#if HWY_TARGET == HWY_SCALAR
  for (int64_t column = 0; column < 4; ++column) {
    for (int64_t row = 0; row < 4; ++row) {
      float& at = to[column * to_stride + row];
      const float value = from[row * from_stride + column];
      at = kAccumulate ? at + value : value;
    }
  }
#else
  const hn::CappedTag<float, 4> d;
  const hn::RepartitionToWide<decltype(d)> pairs;
  const auto row0 = hn::LoadU(d, from);
  const auto row1 = hn::LoadU(d, from + from_stride);
  const auto row2 = hn::LoadU(d, from + 2 * from_stride);
  const auto row3 = hn::LoadU(d, from + 3 * from_stride);
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, row0, row1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, row2, row3));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, row0, row1));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, row2, row3));
  const auto store = [&](int64_t column, auto value) HWY_ATTR {
    float* const at = to + column * to_stride;
    auto numbers = hn::BitCast(d, value);
    if (kAccumulate) numbers = hn::Add(hn::LoadU(d, at), numbers);
    hn::StoreU(numbers, d, at);
  };
  store(0, hn::InterleaveLower(pairs, low01, low23));
  store(1, hn::InterleaveUpper(pairs, low01, low23));
  store(2, hn::InterleaveLower(pairs, high01, high23));
  store(3, hn::InterleaveUpper(pairs, high01, high23));
#endif
}

// Does the same for any matrix of `rows` rows and `columns` columns.
template <bool kAccumulate>
HWY_INLINE void Transpose(const float* from, int64_t rows, int64_t columns,
                          int64_t from_stride, float* to, int64_t to_stride) {
  int64_t row = 0;
  for (; row + 4 <= rows; row += 4) {
    int64_t column = 0;
    for (; column + 4 <= columns; column += 4) {
      TransposeFour<kAccumulate>(from + row * from_stride + column, from_stride,
                                 to + column * to_stride + row, to_stride);
    }
    for (; column < columns; ++column) {
      for (int64_t i = row; i < row + 4; ++i) {
        float& at = to[column * to_stride + i];
        const float value = from[i * from_stride + column];
        at = kAccumulate ? at + value : value;
      }
    }
  }
  for (; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      float& at = to[column * to_stride + row];
      const float value = from[row * from_stride + column];
      at = kAccumulate ? at + value : value;
    }
  }
}

// Writes or adds each column of a tile's panel to its place in the result.
template <bool kAccumulate>
HWY_INLINE void PlaceColumns(const float* panel, int64_t rows,
                             const Columns& columns, float* result,
                             int64_t row_stride) {
  if (row_stride == 1 && columns.are_even) {
    const int64_t first = columns.offsets[0];
    const int64_t apart = columns.count > 1 ? columns.offsets[1] - first : 0;
    Transpose<kAccumulate>(panel, rows, columns.count, kPanelWidth,
                           result + first, apart);
    return;
  }
  for (int64_t j = 0; j < columns.count; ++j) {
    float* column = result + columns.offsets[static_cast<size_t>(j)];
    for (int64_t i = 0; i < rows; ++i) {
      const float value = panel[i * kPanelWidth + j];
      column[i * row_stride] =
          kAccumulate ? column[i * row_stride] + value : value;
    }
  }
}

// Multiplies panels whose columns are not adjacent in the result: tile by tile,
// each number goes to its own place.
template <int kPanels>
HWY_INLINE void MultiplyApart(int64_t rows, int64_t inner, MatrixView left,
                              const PanelView& right, Epilogue epilogue,
                              const Columns (&columns)[kTilePanels],
                              float* result, int64_t row_stride) {
  const bool accumulate = epilogue.accumulate;
  epilogue.accumulate = false;
  for (int64_t r = 0; r < rows; r += kTileRows) {
    const int64_t count = std::min<int64_t>(kTileRows, rows - r);
    HWY_ALIGN float tile[kPanels * kTileRows * kPanelWidth];
    // Each column is a cache line of its own.
    for (int i = 0; i < kPanels; ++i) {
      for (int64_t j = 0; j < columns[i].count; ++j) {
        hwy::Prefetch(result + r * row_stride +
                      columns[i].offsets[static_cast<size_t>(j)]);
      }
    }
    MultiplySumBlock<kPanels, kPanelWidth>(
        left, count, inner, right, epilogue,
        {tile, kPanelWidth, kTileRows * kPanelWidth});
    for (int i = 0; i < kPanels; ++i) {
      const float* panel = tile + i * kTileRows * kPanelWidth;
      float* const to = result + r * row_stride;
      if (accumulate) {
        PlaceColumns<true>(panel, count, columns[i], to, row_stride);
      } else {
        PlaceColumns<false>(panel, count, columns[i], to, row_stride);
      }
    }
    left.data += kTileRows * left.row_stride;
    if (epilogue.bias != nullptr) epilogue.bias += kTileRows;
  }
}

// Multiplies kPanels panels, which hold the columns from `column` on.
template <int kPanels, class Target>
HWY_INLINE void MultiplyPanels(const MatrixView& left, int64_t rows,
                               int64_t inner, const float* right,
                               const Target& target, int64_t column,
                               const Epilogue& epilogue, float* result) {
  Columns columns[kTilePanels];
  bool side_by_side = true;
  for (int i = 0; i < kPanels; ++i) {
    columns[i] = target.Of(column + i * kPanelWidth);
    side_by_side = side_by_side && columns[i].side_by_side;
  }
  const PanelView panels = {right, inner * kPanelWidth};
  if (!side_by_side) {
    MultiplyApart<kPanels>(rows, inner, left, panels, epilogue, columns, result,
                           target.row_stride());
    return;
  }
  const int64_t first = columns[0].offsets[0];
  MultiplySumBlock<kPanels, kPanelWidth>(
      left, rows, inner, panels, epilogue,
      {result + first, target.row_stride(),
       columns[kPanels - 1].offsets[0] - first});
}

// Multiplies packed panels, which hold the columns from `column` to `end`.
template <class Target>
HWY_INLINE void MultiplyPacked(const MatrixView& left, int64_t rows,
                               int64_t inner, const float* right,
                               const Target& target, int64_t column,
                               int64_t end, const Epilogue& epilogue,
                               float* result) {
  if constexpr (kTilePanels > 1) {
    constexpr int64_t kTileColumns = kTilePanels * kPanelWidth;
    for (; column + kTileColumns - kPanelWidth < end; column += kTileColumns) {
      MultiplyPanels<kTilePanels>(left, rows, inner, right, target, column,
                                  epilogue, result);
      right += inner * kTileColumns;
    }
  }
  for (; column < end; column += kPanelWidth, right += inner * kPanelWidth) {
    MultiplyPanels<1>(left, rows, inner, right, target, column, epilogue,
                      result);
  }
}

// Packs panels of the right operand one after the other. The last panel is
// padded with zero columns.
template <class Right>
HWY_INLINE void PackPanels(const Right& right, int64_t inner, int64_t count,
                           int64_t column, int64_t columns, float* to) {
  for (int64_t j = 0; j < columns;
       j += kPanelWidth, to += count * kPanelWidth) {
    const int64_t width = std::min(kPanelWidth, columns - j);
    if (width < kPanelWidth) std::fill(to, to + count * kPanelWidth, 0.0f);
    right.PackPanel(inner, count, column + j, width, to);
  }
}

// Computes result = left * right, or adds to the result what `first` says.
// `left.Block(row, rows, inner, count, scratch)` returns rows of the left
// operand, `right.PackPanel(inner, count, column, width, to)` writes a panel of
// the right one, and `target.Of(column)` returns where columns of the result
// lie.
template <class Left, class Right, class Target>
HWY_INLINE void MultiplyBlocks(const Extent& extent, Share share,
                               const Left& left, const Right& right,
                               const Target& target, const Epilogue& first,
                               float* result, void* workspace) {
  const Scratch scratch(workspace, extent);
  const Blocks blocks = extent.blocks();
  const Region region = FindRegion(extent, share);
  for (int64_t n = region.first_column; n < region.end_column;
       n += blocks.columns) {
    const int64_t end = std::min(n + blocks.columns, region.end_column);
    for (int64_t k = 0; k < extent.inner; k += kSumBlock) {
      const int64_t inner = std::min(kSumBlock, extent.inner - k);
      for (int64_t m = region.first_row; m < region.end_row; m += blocks.rows) {
        const int64_t rows = std::min(blocks.rows, region.end_row - m);
        const MatrixView block = left.Block(m, rows, k, inner, scratch.left);
        const Epilogue epilogue = {
            k == 0 && first.bias != nullptr ? first.bias + m : nullptr,
            k > 0 || first.accumulate};
        float* const to = result + m * target.row_stride();
        for (int64_t g = n; g < end; g += blocks.packed_columns) {
          const int64_t group_end = std::min(g + blocks.packed_columns, end);
          // If all panels fit, they stay packed for the next rows.
          if (m == region.first_row || blocks.packed_columns < blocks.columns) {
            PackPanels(right, k, inner, g, group_end - g, scratch.right);
          }
          MultiplyPacked(block, rows, inner, scratch.right, target, g,
                         group_end, epilogue, to);
        }
      }
    }
  }
}

// The following structs are matrices as operands.

struct MatrixLeft {
  const float* data;
  int64_t stride;
  bool transposed;

  // Copies a transposed block, because its rows would map to few cache lines.
  MatrixView Block(int64_t row, int64_t rows, int64_t inner, int64_t count,
                   float* scratch) const {
    if (!transposed) return {data + row * stride + inner, stride, 1};
    for (int64_t k = 0; k < count; ++k) {
      std::memcpy(scratch + k * rows, data + (inner + k) * stride + row,
                  static_cast<size_t>(rows) * sizeof(float));
    }
    return {scratch, 1, rows};
  }
};

struct MatrixRight {
  const float* data;
  int64_t stride;
  bool transposed;

  HWY_INLINE void PackPanel(int64_t inner, int64_t count, int64_t column,
                            int64_t width, float* to) const {
    if (transposed) {
      Transpose<false>(data + column * stride + inner, width, count, stride, to,
                       kPanelWidth);
      return;
    }
    const float* from = data + inner * stride + column;
    for (int64_t k = 0; k < count; ++k) {
      Copy(from + k * stride, width, to + k * kPanelWidth);
    }
  }

 private:
  static HWY_INLINE void Copy(const float* from, int64_t width, float* to) {
    if (width == kPanelWidth) {
      std::memcpy(to, from, kPanelWidth * sizeof(float));
    } else {
      for (int64_t i = 0; i < width; ++i) to[i] = from[i];
    }
  }
};

struct MatrixTarget {
  int64_t columns;
  int64_t stride;

  int64_t row_stride() const { return stride; }
  Columns Of(int64_t column) const {
    Columns c;
    c.count = std::min(kPanelWidth, columns - column);
    c.side_by_side = c.count == kPanelWidth;
    for (int64_t j = 0; j < c.count; ++j) {
      c.offsets[static_cast<size_t>(j)] = column + j;
    }
    return c;
  }
};

// Computes a small product in place, without packing.
HWY_NOINLINE void MultiplyInPlace(const MatrixProduct& p, const float* left,
                                  const float* right, float* result) {
  const int64_t stride = p.LeftStride();
  for (int64_t k = 0; k < p.inner; k += kSumBlock) {
    const int64_t inner = std::min(kSumBlock, p.inner - k);
    const MatrixView block = p.transpose_left
                                 ? MatrixView{left + k * stride, 1, stride}
                                 : MatrixView{left + k, stride, 1};
    const Epilogue epilogue = {nullptr, k > 0 || p.accumulate};
    int64_t c = 0;
    for (; !p.transpose_right && c + kPanelWidth <= p.columns;
         c += kPanelWidth) {
      MultiplySumBlock<1, kPanelWidth>(
          block, p.rows, inner,
          MatrixView{right + k * p.columns + c, p.columns, 1}, epilogue,
          {result + c, p.ResultStride()});
    }
    for (; c < p.columns; ++c) {
      const MatrixView column =
          p.transpose_right
              ? MatrixView{right + c * p.inner + k, 1, p.inner}
              : MatrixView{right + k * p.columns + c, p.columns, 1};
      MultiplySumBlock<1, 1>(block, p.rows, inner, column, epilogue,
                             {result + c, p.ResultStride()});
    }
  }
}

void Multiply(const MatrixProduct& p, Share share, const float* left,
              const float* right, float* result, void* workspace) {
  if (workspace == nullptr) {
    MultiplyInPlace(p, left, right, result);
    return;
  }
  MultiplyBlocks(FindExtent(p), share,
                 MatrixLeft{left, p.LeftStride(), p.transpose_left},
                 MatrixRight{right, p.transpose_right ? p.inner : p.columns,
                             p.transpose_right},
                 MatrixTarget{p.columns, p.ResultStride()},
                 {nullptr, p.accumulate}, result, workspace);
}

// The following structs are the operands of convolutions.

// The weights [output channels, input channels, kernel, kernel] in their stored
// order.
struct WeightLeft {
  const float* data;
  int64_t stride;

  MatrixView Block(int64_t row, int64_t, int64_t inner, int64_t, float*) const {
    return {data + row * stride + inner, stride, 1};
  }
};

// Rows are input channels; the inner index is (output channel, tap).
struct TurnedWeightLeft {
  const float* data;
  int64_t input_channels;
  Taps taps;

  MatrixView Block(int64_t row, int64_t rows, int64_t inner, int64_t count,
                   float* scratch) const {
    const int64_t window = taps.kernel * taps.kernel;
    TapCursor cursor(taps, inner);
    for (int64_t k = 0; k < count;) {
      const float* from = data +
                          (cursor.channel() * input_channels + row) * window +
                          cursor.weight();
      // Taps side by side.
      const int64_t here =
          taps.skip == 1 ? std::min(window - cursor.weight(), count - k) : 1;
      Transpose<false>(from, rows, here, window, scratch + k * rows, rows);
      for (int64_t i = 0; i < here; ++i) cursor.Next();
      k += here;
    }
    return {scratch, 1, rows};
  }
};

// Gathers kPanelWidth columns of shifted images, one vector at a time. If step
// is 1, columns that are adjacent in memory stay adjacent in each row, and only
// those beyond the image's edges are masked.
class ColumnGatherer {
 public:
  // Takes the next `width` columns and moves `cursor` past them. Prefetches
  // memory `ahead` elements after them.
  ColumnGatherer(const ShiftedImages& images, const Taps& taps, int64_t width,
                 int64_t ahead, RunCursor* cursor)
      : images_(images),
        taps_(taps),
        ahead_(ahead),
        is_read_whole_(width == kPanelWidth && images.step == 1 &&
                       images.height < kLargestExtent &&
                       images.width < kLargestExtent) {
    for (int64_t done = 0; done < width;) {
      const Run run = cursor->Next(width - done);
      runs_[run_count_++] = run;
      AddRun(run, done);
      done += run.count;
    }
  }

  // Writes the rows (channel, tap) from `first` on, `stride` apart, with
  // kPanelWidth numbers each; missing columns are not written.
  HWY_INLINE void Write(int64_t first, int64_t rows, int64_t stride,
                        float* to) const {
    if (stretch_count_ == 1) {
      WriteRows<1, kTapsAtOnce>(first, rows, stride, to);
    } else if (stretch_count_ <= kSomeStretches) {
      WriteRows<kSomeStretches, kTapsAtOnce>(first, rows, stride, to);
    } else {
      WriteRows<static_cast<int>(kPanelWidth), 1>(first, rows, stride, to);
    }
  }

 private:
  static constexpr int kLanes =
      footprint::HWY_NAMESPACE::kPanelLanes<kPanelWidth>;
  static constexpr int kVectors = static_cast<int>(kPanelWidth) / kLanes;
  using Tag = footprint::HWY_NAMESPACE::PanelTag<kPanelWidth>;
  using Integers = hn::RebindToSigned<Tag>;
  static constexpr int kTapsAtOnce = 9;
  // The number of stretches handled at once in images with rows of six numbers,
  // or of two by two.
  static constexpr int kSomeStretches = 4;
  // Larger images cannot be counted in 32 bits.
  static constexpr int64_t kLargestExtent = int64_t{1} << 30;

  // Columns that are adjacent in memory.
  struct Stretch {
    int64_t first;  // where lane 0 would lie in images_.data
    int32_t begin;  // lanes
    int32_t end;
  };
  // The lanes of a stretch that a tap keeps inside the image.
  struct Inside {
    hn::Mask<Tag> lanes[kVectors];
  };

  void AddRun(const Run& run, int64_t lane) {
    const int64_t at = run.image - images_.data + run.y * images_.width + run.x;
    for (int64_t i = 0; i < run.count; ++i) {
      y_[lane + i] = static_cast<int32_t>(run.y);
      x_[lane + i] = static_cast<int32_t>(run.x + i);
    }
    Stretch* const last =
        stretch_count_ == 0 ? nullptr : &stretches_[stretch_count_ - 1];
    if (last != nullptr && last->first == at - lane) {
      last->end += static_cast<int32_t>(run.count);
    } else {
      stretches_[stretch_count_++] = {at - lane, static_cast<int32_t>(lane),
                                      static_cast<int32_t>(lane + run.count)};
    }
  }

  // Some taps of a channel: the offset of the pixels that each reads from the
  // channel's own columns, and its lanes that are inside the image.
  template <int kStretches, int kTaps>
  struct SomeTaps {
    int64_t count;
    Tap places[kTaps];
    int64_t offsets[kTaps];
    Inside inside[kTaps][kStretches];
    // The offsets in images_.data at which reading begins and ends, for channel
    // 0.
    int64_t lowest;
    int64_t highest;
  };

  template <int kStretches, int kTaps>
  HWY_INLINE void Look(int64_t count, TapCursor* cursor,
                       SomeTaps<kStretches, kTaps>* taps) const {
    const int stretches = std::min(kStretches, stretch_count_);
    taps->count = count;
    taps->lowest = std::numeric_limits<int64_t>::max();
    taps->highest = std::numeric_limits<int64_t>::min();
    for (int64_t t = 0; t < count; ++t, cursor->Next()) {
      const Tap tap = cursor->tap();
      const int64_t offset = tap.y * images_.width + tap.x;
      taps->places[t] = tap;
      taps->offsets[t] = offset;
      for (int s = 0; s < stretches; ++s) {
        // If the grid is wider than the image, later stretches may begin
        // earlier in memory.
        const int64_t begin = stretches_[s].first + offset;
        taps->lowest = std::min(taps->lowest, begin);
        taps->highest = std::max(taps->highest, begin + kPanelWidth);
        taps->inside[t][s] = FindInside(stretches_[s], tap);
      }
    }
  }

  // Writes some taps of every channel at a time, so that pixels that are near
  // each other in an image are read together.
  template <int kStretches, int kTaps>
  HWY_INLINE void WriteRows(int64_t first, int64_t rows, int64_t stride,
                            float* to) const {
    const int64_t taps = taps_.count();
    const int64_t end = first + rows;
    TapCursor cursor(taps_, 0);
    SomeTaps<kStretches, kTaps> some;
    for (int64_t begin_tap = 0; begin_tap < taps; begin_tap += kTaps) {
      Look(std::min<int64_t>(kTaps, taps - begin_tap), &cursor, &some);
      for (int64_t channel = first / taps; channel * taps < end; ++channel) {
        const int64_t row = channel * taps + begin_tap;
        const int64_t begin = std::max<int64_t>(0, first - row);
        WriteChannel(some, channel, begin, std::min(some.count, end - row),
                     stride, to + (row + begin - first) * stride);
      }
    }
  }

  template <int kStretches, int kTaps>
  HWY_INLINE void WriteChannel(const SomeTaps<kStretches, kTaps>& taps,
                               int64_t channel, int64_t begin, int64_t end,
                               int64_t stride, float* to) const {
    const Tag d;
    const int64_t plane = channel * images_.height * images_.width;
    if (!is_read_whole_ || taps.lowest + plane < 0 ||
        taps.highest + plane > images_.elements) {
      for (; begin < end; ++begin, to += stride) {
        CopyRuns(channel, taps.places[begin], to);
      }
      return;
    }
    const float* const images = images_.data + plane;
    const float* const from = images + stretches_[0].first;
    hwy::Prefetch(from + taps.offsets[taps.count / 2] + ahead_);
    hwy::Prefetch(from + taps.offsets[taps.count - 1] + ahead_);
    for (; begin < end; ++begin, to += stride) {
      const int64_t offset = taps.offsets[begin];
      for (int v = 0; v < kVectors; ++v) {
        const int64_t lane = v * kLanes;
        auto numbers = hn::IfThenElseZero(taps.inside[begin][0].lanes[v],
                                          hn::LoadU(d, from + offset + lane));
        if constexpr (kStretches > 1) {
          for (int s = 1; s < stretch_count_; ++s) {
            const auto more =
                hn::LoadU(d, images + stretches_[s].first + offset + lane);
            numbers = hn::Or(
                numbers,
                hn::IfThenElseZero(taps.inside[begin][s].lanes[v], more));
          }
        }
        hn::StoreU(numbers, d, to + lane);
      }
    }
  }

  HWY_INLINE Inside FindInside(const Stretch& stretch, const Tap& tap) const {
    const Integers d;
    Inside inside;
    for (int v = 0; v < kVectors; ++v) {
      const auto lane = hn::Iota(d, v * kLanes);
      const auto y = hn::Add(hn::LoadU(d, y_ + v * kLanes),
                             hn::Set(d, static_cast<int32_t>(tap.y)));
      const auto x = hn::Add(hn::LoadU(d, x_ + v * kLanes),
                             hn::Set(d, static_cast<int32_t>(tap.x)));
      const auto within = [&](auto value, int64_t from, int64_t to) HWY_ATTR {
        return hn::And(
            hn::Gt(value, hn::Set(d, static_cast<int32_t>(from - 1))),
            hn::Lt(value, hn::Set(d, static_cast<int32_t>(to))));
      };
      inside.lanes[v] = hn::RebindMask(
          Tag(), hn::And(within(lane, stretch.begin, stretch.end),
                         hn::And(within(y, 0, images_.height),
                                 within(x, 0, images_.width))));
    }
    return inside;
  }

  void CopyRuns(int64_t channel, const Tap& tap, float* to) const {
    for (size_t i = 0; i < run_count_; ++i) {
      CopyRun(images_, runs_[i], channel, tap, to);
      to += runs_[i].count;
    }
  }

  const ShiftedImages& images_;
  const Taps& taps_;
  const int64_t ahead_;
  const bool is_read_whole_;
  int stretch_count_ = 0;
  size_t run_count_ = 0;
  std::array<Run, kPanelWidth> runs_;
  std::array<Stretch, kPanelWidth> stretches_;
  int32_t y_[kPanelWidth] = {};
  int32_t x_[kPanelWidth] = {};
};

struct ImagesRight {
  const ShiftedImages& images;
  Taps taps;

  // Returns the offset of a column before shifting.
  int64_t Offset(int64_t column) const {
    const int64_t row = column / images.grid_width;
    return row / images.grid_height * images.image_elements() +
           (row % images.grid_height * images.width +
            column % images.grid_width) *
               images.step;
  }

  HWY_INLINE void PackPanel(int64_t inner, int64_t count, int64_t column,
                            int64_t width, float* to) const {
    RunCursor cursor(images, column);
    ColumnGatherer(images, taps, width,
                   Offset(column + kBlockColumns) - Offset(column), &cursor)
        .Write(inner, count, kPanelWidth, to);
  }
};

// The shifted images as the left operand: rows are (channel, tap), and the
// inner index is the column of the grid.
struct ImagesLeft {
  // Prefetches two vectors ahead.
  static constexpr int64_t kPixelsAhead = 2 * kPanelWidth;
  const ShiftedImages& images;
  Taps taps;

  MatrixView Block(int64_t row, int64_t rows, int64_t inner, int64_t count,
                   float* scratch) const {
    RunCursor cursor(images, inner);
    for (int64_t i = 0; i < count; i += kPanelWidth) {
      ColumnGatherer(images, taps, std::min(kPanelWidth, count - i),
                     kPixelsAhead, &cursor)
          .Write(row, rows, count, scratch + i);
    }
    return {scratch, count, 1};
  }
};

// Images [batch, channels, pixels] as the right operand: the inner index is
// (image, pixel), and columns are channels.
struct ChannelsRight {
  const float* data;
  int64_t channels;
  int64_t pixels;

  HWY_INLINE void PackPanel(int64_t inner, int64_t count, int64_t column,
                            int64_t width, float* to) const {
    int64_t pixel = inner % pixels;
    const float* image = data + (inner / pixels * channels + column) * pixels;
    for (int64_t k = 0; k < count;) {
      const int64_t here = std::min(pixels - pixel, count - k);
      Transpose<false>(image + pixel, width, here, pixels, to + k * kPanelWidth,
                       kPanelWidth);
      k += here;
      pixel = 0;
      image += channels * pixels;
    }
  }
};

// The result as images [batch, channels, height, width]: columns are the
// positions (image, y, x) of a grid, and rows are channels.
struct ImagesTarget {
  int64_t columns;
  int64_t channels;
  int64_t height;
  int64_t width;
  int64_t grid_height;
  int64_t grid_width;
  int64_t step;
  int64_t phase_y;
  int64_t phase_x;

  int64_t row_stride() const { return height * width; }
  Columns Of(int64_t column) const {
    Columns c;
    c.count = std::min(kPanelWidth, columns - column);
    int64_t x = column % grid_width;
    int64_t y = column / grid_width % grid_height;
    int64_t image = column / grid_width / grid_height;
    for (int64_t j = 0; j < c.count; ++j) {
      c.offsets[static_cast<size_t>(j)] = image * channels * height * width +
                                          (y * step + phase_y) * width +
                                          x * step + phase_x;
      if (++x < grid_width) continue;
      x = 0;
      if (++y < grid_height) continue;
      y = 0;
      ++image;
    }
    c.side_by_side =
        c.count == kPanelWidth &&
        c.offsets[kPanelWidth - 1] - c.offsets[0] == kPanelWidth - 1;
    return c;
  }
};

// The result transposed: columns are rows of the stored matrix.
struct TransposedTarget {
  int64_t columns;
  int64_t stride;

  int64_t row_stride() const { return 1; }
  Columns Of(int64_t column) const {
    Columns c;
    c.count = std::min(kPanelWidth, columns - column);
    for (int64_t j = 0; j < c.count; ++j) {
      c.offsets[static_cast<size_t>(j)] = (column + j) * stride;
    }
    c.are_even = true;
    return c;
  }
};

void Forward(const Convolution& c, Share share, const float* input,
             const float* weight, const float* bias, float* output,
             void* workspace) {
  const int64_t columns = c.batch * c.output_height * c.output_width;
  const int64_t inner = c.input_channels * c.kernel * c.kernel;
  const ShiftedImages images = {
      input,
      c.batch * c.input_channels * c.input_height * c.input_width,
      c.input_channels,
      c.input_height,
      c.input_width,
      c.output_height,
      c.output_width,
      c.stride};
  const ImagesTarget target = {columns,
                               c.output_channels,
                               c.output_height,
                               c.output_width,
                               c.output_height,
                               c.output_width,
                               1,
                               0,
                               0};
  MultiplyBlocks(ForwardExtent(c), share, WeightLeft{weight, inner},
                 ImagesRight{images, AllTaps(c)}, target, {bias, false}, output,
                 workspace);
}

void Gradient(const Convolution& c, Share share, const float* input,
              const float* output_derivative, float* weight_gradient,
              void* workspace) {
  const int64_t pixels = c.output_height * c.output_width;
  const int64_t rows = c.input_channels * c.kernel * c.kernel;
  const ShiftedImages images = {
      input,
      c.batch * c.input_channels * c.input_height * c.input_width,
      c.input_channels,
      c.input_height,
      c.input_width,
      c.output_height,
      c.output_width,
      c.stride};
  MultiplyBlocks(GradientExtent(c), share, ImagesLeft{images, AllTaps(c)},
                 ChannelsRight{output_derivative, c.output_channels, pixels},
                 TransposedTarget{c.output_channels, rows}, {}, weight_gradient,
                 workspace);
}

// Inputs whose positions are equal modulo the stride are reached by the same
// taps of the kernel, so each such phase is one product.
void DerivativeOfPhase(const Convolution& c, Share share, int64_t phase_y,
                       int64_t phase_x, const float* weight,
                       const float* output_derivative, float* input_derivative,
                       void* workspace) {
  const Taps taps = TapsOfPhase(c, phase_y, phase_x);
  const int64_t grid_height = (c.input_height - phase_y - 1) / c.stride + 1;
  const int64_t grid_width = (c.input_width - phase_x - 1) / c.stride + 1;
  const int64_t columns = c.batch * grid_height * grid_width;
  const int64_t inner = c.output_channels * taps.count();
  const ImagesTarget target = {columns,       c.input_channels, c.input_height,
                               c.input_width, grid_height,      grid_width,
                               c.stride,      phase_y,          phase_x};
  if (inner == 0) return;
  const ShiftedImages images = {
      output_derivative,
      c.batch * c.output_channels * c.output_height * c.output_width,
      c.output_channels,
      c.output_height,
      c.output_width,
      grid_height,
      grid_width,
      1};
  MultiplyBlocks({c.input_channels, columns, inner, true, true}, share,
                 TurnedWeightLeft{weight, c.input_channels, taps},
                 ImagesRight{images, taps}, target, {}, input_derivative,
                 workspace);
}

void Derivative(const Convolution& c, Share share, const float* weight,
                const float* output_derivative, float* input_derivative,
                void* workspace) {
  for (int64_t y = 0; y < std::min(c.stride, c.input_height); ++y) {
    for (int64_t x = 0; x < std::min(c.stride, c.input_width); ++x) {
      DerivativeOfPhase(c, share, y, x, weight, output_derivative,
                        input_derivative, workspace);
    }
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace highway_backend_internal
}  // namespace footprint
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace footprint {
namespace highway_backend_internal {
namespace {

HWY_EXPORT(Multiply);
HWY_EXPORT(Forward);
HWY_EXPORT(Gradient);
HWY_EXPORT(Derivative);

// Multiplications below which it takes longer to wake threads than to go on
// alone.
constexpr double kTeamProducts = 1 << 20;
// This is the same limit for elements of an array that a loop passes over.
constexpr double kTeamElements = 1 << 15;
// Bands of single elements begin at a cache line of their array.
constexpr int64_t kLineElements = 16;

double CountProducts(const Extent& extent) {
  return static_cast<double>(extent.rows) *
         static_cast<double>(extent.columns) *
         static_cast<double>(extent.inner);
}

// Runs on one thread.
class Backend : public MathBackend {
 public:
  int64_t WorkspaceBytes(const MatrixProduct& p) const override {
    if (p.rows * p.columns <= kSmallProduct / p.inner) return 0;
    return AllBytes(FindExtent(p));
  }
  void Multiply(const MatrixProduct& product, const float* left,
                const float* right, float* result,
                void* workspace) const override {
    // A small product needs no workspace. One that it is given was planned for
    // other products and may be too small for it.
    if (WorkspaceBytes(product) == 0) workspace = nullptr;
    RunShares(FindExtent(product), workspace, [&](Share share, void* own) {
      HWY_DYNAMIC_DISPATCH(Multiply)(product, share, left, right, result, own);
    });
  }

  int64_t SumBlock() const override { return kSumBlock; }

  int64_t WorkspaceBytes(const Convolution& c,
                         ConvolutionStep step) const override {
    switch (step) {
      case ConvolutionStep::kForward:
        return AllBytes(ForwardExtent(c));
      case ConvolutionStep::kGradient:
        return AllBytes(GradientExtent(c));
      case ConvolutionStep::kDerivative:
        break;
    }
    return AllBytes(DerivativeExtent(c));
  }
  void ConvolutionForward(const Convolution& c, const float* input,
                          const float* weight, const float* bias, float* output,
                          void* workspace) const override {
    RunShares(ForwardExtent(c), workspace, [&](Share share, void* own) {
      HWY_DYNAMIC_DISPATCH(Forward)
      (c, share, input, weight, bias, output, own);
    });
  }
  void ConvolutionGradient(const Convolution& c, const float* input,
                           const float* output_derivative,
                           float* weight_gradient,
                           void* workspace) const override {
    RunShares(GradientExtent(c), workspace, [&](Share share, void* own) {
      HWY_DYNAMIC_DISPATCH(Gradient)
      (c, share, input, output_derivative, weight_gradient, own);
    });
  }
  void ConvolutionDerivative(const Convolution& c, const float* weight,
                             const float* output_derivative,
                             float* input_derivative,
                             void* workspace) const override {
    // A place that nothing reaches stays 0.
    if (c.stride > c.kernel) {
      std::fill(input_derivative,
                input_derivative +
                    c.batch * c.input_channels * c.input_height * c.input_width,
                0.0f);
    }
    RunShares(DerivativeExtent(c), workspace, [&](Share share, void* own) {
      HWY_DYNAMIC_DISPATCH(Derivative)
      (c, share, weight, output_derivative, input_derivative, own);
    });
  }

 private:
  // Calls job(worker) once on each thread, and returns when all have returned.
  virtual void RunOnEach(absl::FunctionRef<void(int worker)> job) const {
    job(0);
  }

  // Each thread has a workspace of its own.
  static int64_t OwnBytes(const Extent& extent) {
    return AlignUp(extent.workspace_bytes(), kLineBytes);
  }
  int64_t AllBytes(const Extent& extent) const {
    return threads() == 1 ? extent.workspace_bytes()
                          : threads() * OwnBytes(extent);
  }

  template <typename RunShare>
  void RunShares(const Extent& extent, void* workspace,
                 RunShare run_share) const {
    if (threads() == 1 || workspace == nullptr ||
        CountProducts(extent) < kTeamProducts) {
      run_share(Share(), workspace);
      return;
    }
    const int64_t own_bytes = OwnBytes(extent);
    RunOnEach([&](int worker) {
      run_share(Share{worker, threads()},
                static_cast<char*>(workspace) + worker * own_bytes);
    });
  }
};

// Ends the program: otherwise the thread would wait for itself.
[[noreturn]] void EndForNested() {
  std::fputs(
      "trainer_manager: a loop or a product inside a band of ForEachBand is to "
      "be divided among the threads that are busy with the bands: use "
      "MathBackend::OneThread there\n",
      stderr);
  std::abort();
}

// Runs on a team, which is smaller than wanted where no thread starts.
class TeamBackend final : public Backend {
 public:
  explicit TeamBackend(int threads) : team_(threads), threads_(team_.size()) {}

  int threads() const override { return threads_; }
  bool Divides(const MatrixProduct& product) const override {
    return threads_ > 1 && WorkspaceBytes(product) != 0 &&
           CountProducts(FindExtent(product)) >= kTeamProducts;
  }
  const MathBackend& OneThread() const override { return HighwayBackend(); }
  void ForEachBand(int64_t count, int64_t index_size,
                   absl::FunctionRef<void(const Band&)> work) const override {
    const int64_t unit = index_size == 1 ? kLineElements : 1;
    const int bands = static_cast<int>(
        std::min<int64_t>(threads_, (count + unit - 1) / unit));
    if (bands < 2 ||
        static_cast<double>(count) * static_cast<double>(index_size) <
            kTeamElements) {
      MathBackend::ForEachBand(count, index_size, work);
      return;
    }
    RunOnEach([&](int thread) {
      if (thread >= bands) return;
      work({thread, FindShareBegin(count, unit, thread, bands),
            FindShareBegin(count, unit, thread + 1, bands)});
    });
  }

 private:
  void RunOnEach(absl::FunctionRef<void(int worker)> job) const override {
    // The team that the thread works for.
    thread_local const TeamBackend* working_for = nullptr;
    if (working_for == this) EndForNested();
    MutexLock lock(&mutex_);
    team_.Run([this, job](int worker) {
      working_for = this;
      job(worker);
      working_for = nullptr;
    });
  }

  mutable Mutex mutex_;  // one run of the team at a time
  mutable WorkerTeam team_ ABSL_GUARDED_BY(mutex_);
  const int threads_;
};

}  // namespace
}  // namespace highway_backend_internal

const MathBackend& HighwayBackend() {
  static const highway_backend_internal::Backend* const backend =
      new highway_backend_internal::Backend;
  return *backend;
}

std::unique_ptr<const MathBackend> MakeTeamBackend(int threads) {
  return std::make_unique<highway_backend_internal::TeamBackend>(
      std::clamp(threads, 1, kMostTeamThreads));
}

}  // namespace footprint
#endif  // HWY_ONCE
