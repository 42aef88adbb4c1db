// The layers that move or join values: flatten, add, multiply, concatenate and
// embeddings.
//
//   network.AddLayer("sum", footprint::Add(), {"branch", "shortcut"});
//
// Flatten, and the derivatives of a sum and of a position embedding, share
// their operand's bytes if the plan lets them. Resolving the network returns
// InvalidArgument if the inputs have other types or shapes than a layer takes,
// if there is no such axis, or if a table has an extent below 1, and OutOfRange
// if concatenated inputs have too many elements. See layer.h for ownership and
// thread-safety. Memory: an embedding keeps only its indices, and a product
// keeps both inputs.

#ifndef FOOTPRINT_TRAINER_MANAGER_LAYERS_STRUCTURE_LAYERS_H_
#define FOOTPRINT_TRAINER_MANAGER_LAYERS_STRUCTURE_LAYERS_H_

#include <cstdint>

#include "footprint/trainer_manager/layers/layer.h"

namespace footprint {

// [batch, ...] becomes [batch, product of the others].
LayerPointer Flatten();

// Adds two inputs of one shape.
LayerPointer Add();

// Multiplies two inputs of one shape, element by element, such as the two
// branches of a gated feed-forward part.
LayerPointer Multiply();

// Concatenates two inputs along an axis, such as channels. Their other extents
// must be equal. The axis is at least 1: rows of the batch cannot be joined.
LayerPointer Concatenate(int axis = 1);

// Looks up rows of the table "weight" [entries, width]: int32 [batch,
// positions] becomes [batch, positions, width]. A step returns OutOfRange if
// the table has no row for an index.
LayerPointer Embedding(int64_t entries, int64_t width);

// Adds the trained table "weight" [positions, width] to each [positions, width]
// of the batch.
LayerPointer PositionEmbedding();

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_LAYERS_STRUCTURE_LAYERS_H_
