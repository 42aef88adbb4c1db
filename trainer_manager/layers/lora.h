// The fully connected layer whose weights stay as they are, with small matrices
// beside them that are trained (LoRA, Hu et al., 2021).
//
//   // y = x W + bias + (alpha / rank) (x A^T) B^T, also without the bias
//   network.AddLayer("q", footprint::LoraFullyConnected(64, {{8, 2.0f}}),
//                    {"x"});
//
// A network is seldom written like this. AddAdapters
// (//trainer_manager/adapters:add_adapters) makes it from a network of
// FullyConnected layers, and SaveAdapters (adapter_file.h) saves the matrices
// as PEFT does.
//
// Works on the last axis, as FullyConnected does. "weight" [inputs, units] and,
// unless the layer has none, "bias" [units] are kept as running statistics are,
// which no step writes: they have no gradient and no optimizer state. "lora_A"
// [rank, inputs] begins with random numbers, and "lora_B" [units, rank] with
// zeros, so that the first step gives what FullyConnected gives. See layer.h
// for ownership and thread-safety. Memory: keeps its input for the gradient.
// Workspaces hold products of 64 rows, in the gradient also a copy of the
// larger matrix, and the scratch memory of the math backend.

#ifndef FOOTPRINT_TRAINER_MANAGER_LAYERS_LORA_H_
#define FOOTPRINT_TRAINER_MANAGER_LAYERS_LORA_H_

#include <cstdint>
#include <string>
#include <vector>

#include "footprint/trainer_manager/layers/layer.h"

namespace footprint {

// Two trained matrices, whose product is added to a part of the weight.
struct LoraMatrices {
  int64_t rank = 8;
  float scale = 1;  // of the product
  // The matrices change part `part`, from 0, of `parts` equal parts of the
  // units. A layer that computes queries, keys and values at once has three
  // parts.
  int64_t part = 0;
  int64_t parts = 1;
};

// Returns the name within the layer of the matrix `which`, 'A' or 'B': "lora_A"
// and, if there are parts, "0of3.lora_A".
std::string LoraMatrixName(const LoraMatrices& matrices, char which);

// Makes the layer. Resolving the network returns InvalidArgument as for
// FullyConnected, and also for no matrices, for a rank below 1 or above an
// extent of the part, for a scale that is not finite or not above 0, for a part
// that the units do not have, and for more than 2^40 units or inputs. Two pairs
// of matrices for one part have one name, which resolving refuses with
// AlreadyExists.
LayerPointer LoraFullyConnected(int64_t units,
                                std::vector<LoraMatrices> matrices,
                                bool bias = true);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_LAYERS_LORA_H_
