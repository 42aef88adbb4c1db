// The layer of multi-head self-attention, in which each position of a sequence
// attends to all positions.
//
//   network.AddLayer("qkv", footprint::FullyConnected(3 * width), {"x"});
//   network.AddLayer("attention", footprint::Attention({/*heads=*/4}),
//                    {"qkv"});
//
// The input [batch, positions, 3 * width] holds queries, keys and values side
// by side, and the output is [batch, positions, width]. The heads share the
// width, and each computes softmax(queries * keys^T / sqrt(head width)) *
// values. With fewer heads of keys than heads (grouped queries, Ainslie et al.,
// 2023), neighbouring heads share keys and values, and the input is as much
// narrower: [batch, positions, (heads + 2 * key_heads) * head width]. See
// layer.h for ownership and thread-safety. Memory: keeps its input, its output
// and one float for each sequence, head and position. The probabilities, which
// are larger by a factor of the positions, are calculated again one head at a
// time, or one for each thread if a head's products are too small to be divided
// (MathBackend::Divides), each in a workspace of positions^2 + 3 * positions *
// head width floats (in the derivative 2 * positions^2 and 4 * positions * head
// width), plus the backend's own workspace.

#ifndef FOOTPRINT_TRAINER_MANAGER_LAYERS_ATTENTION_H_
#define FOOTPRINT_TRAINER_MANAGER_LAYERS_ATTENTION_H_

#include <cstdint>

#include "footprint/trainer_manager/layers/layer.h"

namespace footprint {

struct AttentionOptions {
  int64_t heads = 1;
  bool causal = false;  // no position attends to a later one
  // The heads of keys and of values, which divide `heads`; 0: one for each.
  int64_t key_heads = 0;
};

// Makes the layer. Resolving the network returns InvalidArgument if the input
// is not floats of rank 3, if its last extent is not a multiple of heads + 2 *
// key_heads, if `heads` is below 1 or no multiple of `key_heads`, or if there
// are more than 2^24 heads or positions, or 2^50 elements.
LayerPointer Attention(const AttentionOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_LAYERS_ATTENTION_H_
