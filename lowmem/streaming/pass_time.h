// Predicts the time of a pass by a model of its plan's tiles, so that plans can
// be compared before any of them runs.
//
//   footprint::TileList list;  // counts what a recording product would load
//   product.Record(&list);
//   ...
//   footprint::PassShape shape;
//   shape.panels = footprint::PanelCount(64);
//   double seconds = footprint::PredictPassSeconds(list.work, shape);
//
// The model: a tile costs a call, and each of its runs one; its bytes are
// copied, or fetched from disk, or used where they lie; its products cost their
// multiply-adds, and for each register tile the input besides, so that tiles of
// few rows are dear; a step costs a wait for the other workers. The constants
// were measured on one processor (AMD EPYC with AVX-512): seconds are nominal,
// only ratios of two plans on the same machine mean anything. pass_time_test
// compares them with measured ratios.
//
// Plain data and pure functions, thread-safe. Memory: none.

#ifndef FOOTPRINT_LOWMEM_STREAMING_PASS_TIME_H_
#define FOOTPRINT_LOWMEM_STREAMING_PASS_TIME_H_

#include <cstdint>

#include "footprint/lowmem/weights/tile.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

// The tiles of one worker's pass.
struct TileWork {
  // A tile of weights that takes `inputs` features to `outputs`.
  void Add(const Tile& tile, int64_t outputs, int64_t inputs);

  int64_t tiles = 0;
  // Runs of bytes without a gap: a tile's rows, unless they lie side by side.
  int64_t runs = 0;
  int64_t stored_bytes = 0;
  // Weights, and the columns of the register tiles that they are dealt to.
  int64_t weights = 0;
  int64_t register_columns = 0;
};

// Figures that the time depends on besides.
struct PassShape {
  WeightBackend backend = WeightBackend::kPread;
  int64_t panels = 1;
  bool single_token = false;
  // The share of the weights that stays in memory.
  double pinned_share = 0;
  // Slots of each worker, and workers that share the disk.
  int depth = 1;
  int workers = 1;
  // The steps, after each of which workers wait for each other.
  int64_t steps = 0;
  // One worker's multiply-adds without weights, those of attention, by panels
  // of tokens.
  int64_t panel_multiply_adds = 0;
};

double PredictPassSeconds(const TileWork& work, const PassShape& shape);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_STREAMING_PASS_TIME_H_
