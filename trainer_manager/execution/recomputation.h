// Values of a network that need not be kept for the backward steps: outputs
// that can be calculated again, activations that can be restored or gone
// through by slices.
//
//   if (footprint::CanSlice(network, layer)) choices.sliced.push_back(layer);
//
// Questions about a resolved network, for the steps of planning
// (execution_steps.h, plan_search.h). Pure functions, thread-safe. Memory: some
// bytes a layer. Time: linear in the layers, or quadratic where all are looked
// at.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_RECOMPUTATION_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_RECOMPUTATION_H_

#include <cstddef>
#include <vector>

#include "footprint/trainer_manager/networks/network.h"

namespace footprint {

// Returns whether the layer's output may be calculated again.
bool CanRecompute(const ResolvedNetwork& network, size_t layer);

// Returns whether the layer's derivative may be calculated by slices: it is the
// only reader of an activation that knows its slope from its output.
bool CanSlice(const ResolvedNetwork& network, size_t layer);

// Returns whether the layer's derivative may be calculated by slices that are
// added to what other readers of its input gave, or lie where its output's
// derivative lay; one of the two must be possible.
bool CanSliceSum(const ResolvedNetwork& network, size_t layer);

// Returns whether CanSlice, with the activation restored from the layer's
// output.
bool CanRestore(const ResolvedNetwork& network, size_t layer);

// The layers whose outputs are calculated again: `dropped`, and if `cheap` all
// whose outputs can be had as good as without calculation, and without keeping
// anything longer. Outputs that are swapped are there to calculate from, and
// are not calculated again themselves.
std::vector<bool> FindRecomputed(const ResolvedNetwork& network, bool cheap,
                                 const std::vector<size_t>& dropped,
                                 const std::vector<size_t>& swapped);

// The layers to drop, besides `dropped`, for the output of `layer` not to be
// kept: itself and those before it up to what the backward steps read anyway.
std::vector<size_t> LayersToDrop(const ResolvedNetwork& network,
                                 const std::vector<size_t>& dropped,
                                 size_t layer);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_RECOMPUTATION_H_
