// Tells which values of a network need not be kept for the backward steps:
// outputs that can be recomputed, and activations that can be restored or
// processed by slices.
//
//   if (footprint::CanSlice(network, layer)) choices.sliced.push_back(layer);
//
// The functions are for the steps of planning (execution_steps.h,
// plan_search.h). Pure and thread-safe. Memory: some bytes a layer. Time:
// linear in the layers, times the length of the lists that are passed.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_RECOMPUTATION_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_RECOMPUTATION_H_

#include <cstddef>
#include <vector>

#include "footprint/trainer_manager/networks/network.h"

namespace footprint {

// Returns whether the layer's output may be recomputed.
bool CanRecompute(const ResolvedNetwork& network, size_t layer);

// Returns whether the layer's derivative may be calculated by slices: the layer
// is the only reader of an activation whose slope follows from its output, and
// the activation is the only reader of its input. The layer's derivative must
// work element by element and read neither its input nor its output.
bool CanSlice(const ResolvedNetwork& network, size_t layer);

// Returns whether the layer's derivative may be calculated by slices that are
// added to the derivative from other readers of its input, or that are written
// over the derivative of its output. One of the two must be possible.
bool CanSliceSum(const ResolvedNetwork& network, size_t layer);

// Returns whether CanSlice holds and the activation can be restored from the
// layer's output.
bool CanRestore(const ResolvedNetwork& network, size_t layer);

// Returns the layers whose outputs are recomputed: `dropped` and, if `cheap`,
// all whose outputs are nearly free to recompute without keeping anything
// longer. Swapped outputs are available as inputs and are not recomputed
// themselves.
std::vector<bool> FindRecomputed(const ResolvedNetwork& network, bool cheap,
                                 const std::vector<size_t>& dropped,
                                 const std::vector<size_t>& swapped);

// Returns the layers to add to `dropped` so that the output of `layer` need not
// be kept: the layer itself and those before it, back to values that the
// backward steps read anyway.
std::vector<size_t> LayersToDrop(const ResolvedNetwork& network,
                                 const std::vector<size_t>& dropped,
                                 size_t layer);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_RECOMPUTATION_H_
