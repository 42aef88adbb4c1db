// Tells whose gradients can be calculated and applied one part after the other,
// so that no step needs memory for a whole one.
//
//   if (footprint::CanTileGradient(network, math, options, layer)) {
//     choices.tiled_gradients.push_back(layer);
//   }
//
// Pure functions, thread-safe. Memory: none. Time: linear in the layers.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_GRADIENT_TILES_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_GRADIENT_TILES_H_

#include <cstddef>
#include <cstdint>

#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "footprint/trainer_manager/networks/network.h"

namespace footprint {

// Returns whether no weight changes before all gradients are known.
bool DefersUpdates(const MemoryOptions& options);

// Returns whether MemoryOptions::tile_gradients may take effect for the layer:
// it alone trains its weights, it multiplies by one of them, whose gradient is
// larger than a tile and follows from no weight, `math` can multiply tiles, and
// updates do not wait for each other.
bool CanTileGradient(const ResolvedNetwork& network, const MathBackend& math,
                     const MemoryOptions& options, size_t layer);

// Returns how many rows of a matrix's gradient are calculated at a time: those
// that take 128 KiB, but at least 16 and at most all.
int64_t GradientTileRows(const TensorType& matrix);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_GRADIENT_TILES_H_
