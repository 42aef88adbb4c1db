// Builds the steps and tensors of a resolved network, before any tensor has an
// offset.
//
//   const absl::StatusOr<footprint::StepGraph> graph =
//       BuildSteps(network, math, options, states, choices);
//
// This is a step of planning; execution_plan.h says how much memory that takes.
// Pure, thread-safe.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_EXECUTION_STEPS_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_EXECUTION_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "footprint/trainer_manager/networks/network.h"

namespace footprint {

// The choices that network and options leave open.
struct StepChoices {
  // Layers whose derivatives are calculated by slices. CanSlice or CanSliceSum
  // must hold for them.
  std::vector<size_t> sliced;
  // Layers whose outputs are recomputed although that is not nearly free.
  // CanRecompute must hold for them. Needs MemoryOptions::share_edges.
  std::vector<size_t> dropped;
  // Layers whose outputs the forward steps write to the file and the backward
  // steps read back. Needs MemoryOptions::share_edges.
  std::vector<size_t> swapped;
  // Layers whose outputs, if recomputed, are recomputed for each layer whose
  // backward steps need them, and not kept in between.
  std::vector<size_t> forgotten;
  // Layers whose weights, once read from their file, stay in memory until the
  // last step of the layer (MemoryOptions::read_frozen_weights).
  std::vector<size_t> kept_weights;
  // Layers whose gradients are applied part by part. CanTileGradient
  // (gradient_tiles.h) must hold for them.
  std::vector<size_t> tiled_gradients;
  // The bytes of a larger matrix that a step has in memory at a time, rounded
  // down to columns that the math backend can sum together, and at least those
  // (TileColumns). The weights of kept_weights and of sliced derivatives are
  // always whole.
  int64_t tile_bytes = std::numeric_limits<int64_t>::max();
};

// Returns the steps in the order in which they run. The graph shares `network`
// and refers to `math`. Returns InvalidArgument if no derivative reaches a
// layer that is trained, or that has a trained layer before it.
absl::StatusOr<StepGraph> BuildSteps(
    std::shared_ptr<const ResolvedNetwork> network, const MathBackend& math,
    const MemoryOptions& options, int optimizer_states,
    const StepChoices& choices);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_EXECUTION_STEPS_H_
