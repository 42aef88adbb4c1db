// The layer that turns queries and keys by angles that follow from their
// positions (Su et al., 2021, RoPE), as Llama does.
//
//   footprint::RotaryOptions rotary;
//   rotary.heads = 12;  // 8 heads of queries, 4 of keys; values stay
//   rotary.head_width = 64;
//   network.AddLayer("turned", footprint::RotaryPositions(rotary), {"qkv"});
//
// The input is [batch, positions, features]. Its first heads * head_width
// features are turned, the others stay. The features i and i + head_width / 2
// of a head are turned together, at position p by p * base^(-2 i / head_width).
// See layer.h for ownership and thread-safety. Memory: none; the output and the
// derivative take the place of what they are calculated from if the plan lets
// them. Time: a cosine and a sine for each position and pair.

#ifndef FOOTPRINT_TRAINER_MANAGER_LAYERS_ROTARY_POSITIONS_H_
#define FOOTPRINT_TRAINER_MANAGER_LAYERS_ROTARY_POSITIONS_H_

#include <cstdint>

#include "footprint/trainer_manager/layers/layer.h"

namespace footprint {

struct RotaryOptions {
  int64_t heads = 1;       // that are turned
  int64_t head_width = 0;  // even
  double base = 10000;
};

// Makes the layer. Resolving the network returns InvalidArgument if the input
// is not floats of rank 3, if it has fewer features than the heads, if `heads`
// or `head_width` is below 1, if `head_width` is odd, or if `base` is not a
// finite number of at least 1.
LayerPointer RotaryPositions(const RotaryOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_LAYERS_ROTARY_POSITIONS_H_
