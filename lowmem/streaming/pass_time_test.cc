#include "footprint/lowmem/streaming/pass_time.h"

#include <algorithm>
#include <cstdint>

#include "footprint/lowmem/weights/tile.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

Tile MakeTile(int64_t rows, int64_t row_bytes) {
  Tile tile;
  tile.rows = static_cast<int32_t>(rows);
  tile.row_bytes = static_cast<int32_t>(row_bytes);
  tile.row_stride_bytes = row_bytes;
  return tile;
}

// Adds a matrix of floats in panels of `panel_columns`, in tiles that have as
// many rows as fit into `tile_bytes`.
void AddProduct(int64_t rows, int64_t columns, int64_t panel_columns,
                int64_t tile_bytes, TileWork* work) {
  const int64_t width = std::min(columns, panel_columns);
  const int64_t most = std::max<int64_t>(1, tile_bytes / (4 * width));
  for (int64_t column = 0; column < columns; column += width) {
    for (int64_t row = 0; row < rows; row += most) {
      const int64_t count = std::min(most, rows - row);
      work->Add(MakeTile(count, 4 * width), count, width);
    }
  }
}

// Returns the work of a matrix [1024, 1024] of floats in tiles of `rows`.
TileWork MakeWork(int64_t rows) {
  TileWork work;
  AddProduct(1024, 1024, 1024, rows * 1024 * 4, &work);
  return work;
}

PassShape MakeShape(int64_t tokens, WeightBackend backend) {
  PassShape shape;
  shape.backend = backend;
  shape.panels = (tokens + 15) / 16;
  shape.single_token = tokens == 1;
  return shape;
}

TEST(TileWorkTest, AddsUpTiles) {
  TileWork work;
  Tile with_gaps = MakeTile(13, 256 * 2);
  with_gaps.row_stride_bytes *= 3;
  work.Add(with_gaps, 13, 256);
  work.Add(MakeTile(100, 12 * 2), 12, 100);
  EXPECT_EQ(work.tiles, 2);
  EXPECT_EQ(work.runs, 13 + 1);
  EXPECT_EQ(work.stored_bytes, 2 * (13 * 256 + 12 * 100));
  EXPECT_EQ(work.weights, 13 * 256 + 12 * 100);
  EXPECT_EQ(work.register_columns, 2 * 256 + 100);
}

TEST(PredictPassSecondsTest, TakesLongerInSmallerTiles) {
  for (const WeightBackend backend : kWeightBackends) {
    for (const int64_t tokens : {1, 64}) {
      double before = 0;
      for (int64_t rows = 1024; rows >= 1; rows /= 4) {
        const double seconds =
            PredictPassSeconds(MakeWork(rows), MakeShape(tokens, backend));
        EXPECT_GT(seconds, before) << rows << " rows, " << tokens << " tokens";
        before = seconds;
      }
    }
  }
}

TEST(PredictPassSecondsTest, TakesLessTheMoreIsPinned) {
  for (const WeightBackend backend :
       {WeightBackend::kPread, WeightBackend::kDirect}) {
    PassShape shape = MakeShape(1, backend);
    const double nothing = PredictPassSeconds(MakeWork(64), shape);
    shape.pinned_share = 0.5;
    const double half = PredictPassSeconds(MakeWork(64), shape);
    shape.pinned_share = 1;
    const double all = PredictPassSeconds(MakeWork(64), shape);
    EXPECT_LT(half, nothing);
    EXPECT_LT(all, half);
    EXPECT_DOUBLE_EQ(
        all,
        PredictPassSeconds(MakeWork(64), MakeShape(1, WeightBackend::kMmap)));
  }
}

// A pass waits for the disk unless tiles are read ahead.
TEST(PredictPassSecondsTest, HidesTheDiskBehindProducts) {
  PassShape shape = MakeShape(512, WeightBackend::kDirect);
  const double used =
      PredictPassSeconds(MakeWork(64), MakeShape(512, WeightBackend::kMmap));
  const double waited = PredictPassSeconds(MakeWork(64), shape);
  shape.depth = 8;
  const double ahead = PredictPassSeconds(MakeWork(64), shape);
  EXPECT_GT(waited, 1.1 * used);
  EXPECT_LT(ahead, 1.05 * used);
  shape.panels = 1;
  EXPECT_GT(PredictPassSeconds(MakeWork(64), shape), 1e-9 * 4 * 1024 * 1024);
}

// Each run takes a read of its own.
TEST(PredictPassSecondsTest, TakesLongerForTilesWithGaps) {
  Tile tile = MakeTile(256, 64);
  TileWork dense;
  dense.Add(tile, 16, 256);
  tile.row_stride_bytes = 4096;
  TileWork with_gaps;
  with_gaps.Add(tile, 16, 256);
  const PassShape shape = MakeShape(64, WeightBackend::kPread);
  EXPECT_GT(PredictPassSeconds(with_gaps, shape),
            5 * PredictPassSeconds(dense, shape));
  const PassShape mapped = MakeShape(64, WeightBackend::kMmap);
  EXPECT_DOUBLE_EQ(PredictPassSeconds(with_gaps, mapped),
                   PredictPassSeconds(dense, mapped));
}

TEST(PredictPassSecondsTest, CountsStepsAndAttention) {
  PassShape shape = MakeShape(64, WeightBackend::kPread);
  const double before = PredictPassSeconds(MakeWork(64), shape);
  shape.steps = 100;
  const double with_steps = PredictPassSeconds(MakeWork(64), shape);
  EXPECT_GT(with_steps, before);
  shape.panel_multiply_adds = 1 << 20;
  EXPECT_GT(PredictPassSeconds(MakeWork(64), shape), with_steps);
}

// Returns the time of one of two workers in a pass of BERT, packed in panels of
// 256 columns.
double PredictBert(int64_t layers, int64_t hidden, int64_t tokens,
                   int64_t tile_kib, int64_t chunk, double pinned_share) {
  const int64_t tile_bytes = tile_kib << 10;
  const int64_t intermediate = 4 * hidden;
  const int64_t heads = hidden / 64;
  TileWork work;
  for (int64_t layer = 0; layer < layers; ++layer) {
    for (int64_t i = 0; i < 3 * heads / 2; ++i) {
      AddProduct(64, hidden, hidden, tile_bytes, &work);
    }
    AddProduct(hidden / 2, hidden, hidden, tile_bytes, &work);
    for (int64_t begin = 0; begin < intermediate; begin += chunk) {
      const int64_t features = std::min(chunk, intermediate - begin);
      AddProduct(features / 2, hidden, hidden, tile_bytes, &work);
      AddProduct(hidden / 2, features, 256, tile_bytes, &work);
    }
  }
  PassShape shape = MakeShape(tokens, WeightBackend::kPread);
  shape.workers = 2;
  shape.pinned_share = pinned_share;
  shape.steps = layers * (5 + 2 * ((intermediate + chunk - 1) / chunk));
  shape.panel_multiply_adds =
      layers * hidden * shape.panels * 16 * shape.panels;
  return PredictPassSeconds(work, shape);
}

// The measured ratios are the processor time of a pass with small tiles divided
// by that with 64 MiB. AMD EPYC with AVX-512, two threads, file in the page
// cache, the minimum of three rounds of several passes each, on a loaded
// machine.
TEST(PredictPassSecondsTest, AgreesWithMeasuredRatios) {
  struct Measured {
    int64_t layers, hidden, tokens, tile_kib, chunk;
    double ratio;
    // With 64 MiB: the share of the weights that stays in memory.
    double pinned_share;
    int64_t ample_chunk;
  };
  for (const Measured& measured : {
           // MiniLM: 42 MiB of layers.
           Measured{6, 384, 64, 4, 256, 2.20, 1, 1536},
           Measured{6, 384, 64, 20, 256, 1.15, 1, 1536},
           Measured{6, 384, 64, 39, 256, 1.12, 1, 1536},
           Measured{6, 384, 64, 119, 256, 1.02, 1, 1536},
           Measured{6, 384, 256, 4, 256, 1.57, 1, 1024},
           Measured{6, 384, 256, 76, 256, 1.01, 1, 1024},
           // BERT-base: 324 MiB.
           Measured{12, 768, 64, 4, 256, 2.58, 0.19, 3072},
           Measured{12, 768, 64, 39, 256, 1.14, 0.19, 3072},
           Measured{12, 768, 64, 149, 256, 1.05, 0.19, 3072},
           Measured{12, 768, 1, 4, 256, 3.78, 0.19, 3072},
           Measured{12, 768, 1, 16, 256, 1.72, 0.19, 3072},
           Measured{12, 768, 1, 49, 256, 1.27, 0.19, 3072},
           Measured{12, 768, 1, 149, 512, 1.17, 0.19, 3072},
           Measured{12, 768, 1, 233, 512, 1.12, 0.19, 3072},
       }) {
    const double predicted =
        PredictBert(measured.layers, measured.hidden, measured.tokens,
                    measured.tile_kib, measured.chunk, 0) /
        PredictBert(measured.layers, measured.hidden, measured.tokens, 256,
                    measured.ample_chunk, measured.pinned_share);
    EXPECT_NEAR(predicted / measured.ratio, 1, 0.15)
        << "hidden " << measured.hidden << ", " << measured.tokens
        << " tokens, tiles of " << measured.tile_kib << " KiB: " << predicted
        << ", measured " << measured.ratio;
  }
}

}  // namespace
}  // namespace footprint
