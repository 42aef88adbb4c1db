// The fully connected layer whose weights stay as they are, with small matrices
// beside them that are trained (LoRA, Hu et al., 2021).
//
//   // y = x W + bias + (alpha / rank) (x A^T) B^T
//   network.AddLayer("q", footprint::LoraFullyConnected(64, {{8, 2.0f}}),
//                    {"x"});
//
// A network is seldom written so: AddAdapters of
// //trainer_manager/adapters:add_adapters makes one from a network of
// FullyConnected layers, and saves the matrices as PEFT does.
//
// Works on the last axis, as FullyConnected does. "weight" [inputs, units] and
// "bias" [units] are kept as running statistics are, which no step writes: they
// have no gradient and no optimizer state. "lora_A" [rank, inputs] begins with
// random numbers, and "lora_B" [units, rank] with zeros, so that the first step
// gives what FullyConnected gives. See layer.h for ownership and thread-safety.
// Memory: keeps its input for the gradient, and needs scratch for 64 rows.

#ifndef FOOTPRINT_TRAINER_MANAGER_LAYERS_LORA_H_
#define FOOTPRINT_TRAINER_MANAGER_LAYERS_LORA_H_

#include <cstdint>
#include <string>
#include <vector>

#include "footprint/trainer_manager/layers/layer.h"

namespace footprint {

// Two trained matrices, of which the product is added to a part of the weight.
struct LoraMatrices {
  int64_t rank = 8;
  float scale = 1;  // of the product
  // The part `part` of `parts` equal parts of the units: layers that compute
  // queries, keys and values at once have three.
  int64_t part = 0;
  int64_t parts = 1;
};

// The names of the two matrices within the layer: "lora_A" and "lora_B", and
// for a part "0of3.lora_A".
std::string LoraMatrixName(const LoraMatrices& matrices, char which);

// Refused, besides what FullyConnected refuses: no matrices, a rank below 1 or
// above an extent of the part, a scale that is not finite or not above 0, and a
// part that the units do not have.
LayerPointer LoraFullyConnected(int64_t units,
                                std::vector<LoraMatrices> matrices);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_LAYERS_LORA_H_
