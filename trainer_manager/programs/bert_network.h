// Makes the network of BERT (Devlin et al., 2019), with a class for each
// position, under the names that its published checkpoints have.
//
//   const footprint::Network network = footprint::BertNetwork({});
//   // PyTorchMap maps its parameters to the tensors of model.safetensors.
//
// Inputs: "tokens" and "types", int32 [batch, positions]. Labels: int32 classes
// [batch, positions]. Without BERT's pooler. See network.h for ownership and
// memory. Thread-safe.

#ifndef FOOTPRINT_TRAINER_MANAGER_PROGRAMS_BERT_NETWORK_H_
#define FOOTPRINT_TRAINER_MANAGER_PROGRAMS_BERT_NETWORK_H_

#include <cstdint>

#include "footprint/trainer_manager/networks/network.h"

namespace footprint {

// The defaults are a large multilingual BERT of 1.6 GiB.
struct BertShape {
  int64_t words = 119547;
  int64_t layers = 24;
  int64_t width = 1024;  // features of a position; 64 for each head
  int64_t positions = 512;
  int64_t batch = 1;
  int64_t classes = 2;
};

// The layer of classes is "head", the loss "loss".
Network BertNetwork(const BertShape& shape);

}  // namespace footprint

// Tested by lora_bert_test.

#endif  // FOOTPRINT_TRAINER_MANAGER_PROGRAMS_BERT_NETWORK_H_
