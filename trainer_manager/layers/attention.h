// The layer by which each position of a sequence looks at the others.
//
//   network.AddLayer("qkv", footprint::FullyConnected(3 * width), {"x"});
//   network.AddLayer("attention", footprint::Attention({/*heads=*/4}),
//   {"qkv"});
//
// [batch, positions, 3 * width], which holds queries, keys and values side by
// side, becomes [batch, positions, width]: for each of the heads, which share
// the width, softmax(queries * keys^T / sqrt(head width)) * values. See layer.h
// for ownership and thread-safety. Memory: keeps its input, its output and one
// float for each head and position; the probabilities, of which there are
// positions times as many, are calculated again a row at a time.

#ifndef FOOTPRINT_TRAINER_MANAGER_LAYERS_ATTENTION_H_
#define FOOTPRINT_TRAINER_MANAGER_LAYERS_ATTENTION_H_

#include <cstdint>

#include "footprint/trainer_manager/layers/layer.h"

namespace footprint {

struct AttentionOptions {
  int64_t heads = 1;
  bool causal = false;  // no position looks at a later one
};

LayerPointer Attention(const AttentionOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_LAYERS_ATTENTION_H_
