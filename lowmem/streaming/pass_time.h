// Predicts the time of a pass from its plan's tiles, so that plans can be
// compared before any of them runs.
//
//   footprint::TileList list;  // counts what a recording product would load
//   product.Record(&list);
//   ...
//   footprint::PassShape shape;
//   shape.panels = footprint::PanelCount(64);
//   double seconds = footprint::PredictPassSeconds(list.work, shape);
//
// The time is a sum. Each tile costs a call, and each of its runs another. A
// tile's bytes are copied, fetched from disk, or used in place. Its products
// cost their multiply-adds, and each register tile loads the input once more,
// so tiles of few rows are expensive. Each step costs a wait for the other
// workers. The constants were measured on one processor (AMD EPYC with
// AVX-512). Seconds are therefore nominal; only the ratio of two plans on the
// same machine is meaningful. pass_time_test compares predictions with measured
// ratios.
//
// Plain data and pure functions, thread-safe. Memory: none.

#ifndef FOOTPRINT_LOWMEM_STREAMING_PASS_TIME_H_
#define FOOTPRINT_LOWMEM_STREAMING_PASS_TIME_H_

#include <cstdint>

#include "footprint/base/memory/alignment.h"
#include "footprint/lowmem/weights/tile.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

// The tiles of one worker's pass, in sums.
struct TileWork {
  // Adds a tile of weights that maps `inputs` features to `outputs`.
  void Add(const Tile& tile, int64_t outputs, int64_t inputs);

  int64_t tiles = 0;
  // Runs of bytes without a gap: a tile's rows, or one if they are contiguous.
  int64_t runs = 0;
  int64_t stored_bytes = 0;
  // Multiply-adds per token, and inputs loaded per token: each register tile
  // loads all its inputs.
  int64_t weights = 0;
  int64_t register_columns = 0;
};

// The other parameters that the time depends on.
struct PassShape {
  WeightBackend backend = WeightBackend::kPread;
  // The block size of direct reads (WeightStore::direct_block_bytes).
  int64_t direct_block_bytes = kPageBytes;
  int64_t panels = 1;
  bool single_token = false;
  // The share of the weights that stays in memory.
  double pinned_share = 0;
  // Slots of each worker, and the workers that share the disk.
  int depth = 1;
  int workers = 1;
  // Steps; workers wait for each other after each one.
  int64_t steps = 0;
  // Multiply-adds of one worker that use no weights, such as those of
  // attention, per panel of tokens.
  int64_t panel_multiply_adds = 0;
};

// Returns the nominal time of a pass.
double PredictPassSeconds(const TileWork& work, const PassShape& shape);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_STREAMING_PASS_TIME_H_
