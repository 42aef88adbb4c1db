// The layers that move or join values: flatten, add, embeddings.
//
//   network.AddLayer("sum", footprint::Add(), {"branch", "shortcut"});
//
// Flatten, and the derivative of a sum, are their operand's own bytes where the
// plan lets them share. See layer.h for ownership and thread-safety. Memory: an
// embedding keeps its indices only.

#ifndef FOOTPRINT_TRAINER_MANAGER_LAYERS_STRUCTURE_LAYERS_H_
#define FOOTPRINT_TRAINER_MANAGER_LAYERS_STRUCTURE_LAYERS_H_

#include <cstdint>

#include "footprint/trainer_manager/layers/layer.h"

namespace footprint {

// [batch, ...] becomes [batch, product of the others].
LayerPointer Flatten();

// The sum of two inputs of one shape.
LayerPointer Add();

// Concatenates two inputs along an axis, such as channels; their other extents
// must be equal. The axis is at least 1: rows of the batch are not joined.
LayerPointer Concatenate(int axis = 1);

// int32 [batch, positions] becomes [batch, positions, width]: the row of the
// table "weight" [entries, width] that each index names. An index that names
// none is OutOfRange.
LayerPointer Embedding(int64_t entries, int64_t width);

// Adds the trained table "weight" [positions, width] to each [positions, width]
// of the batch.
LayerPointer PositionEmbedding();

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_LAYERS_STRUCTURE_LAYERS_H_
