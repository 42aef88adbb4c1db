// The layers that end a network in training: they compare the prediction with
// the label.
//
//   network.AddLayer("loss", footprint::MeanSquaredError(), {"prediction"});
//
// In inference a loss and its label do not exist, unless
// MemoryOptions::keep_loss. See layer.h for ownership and
// thread-safety. Memory: softmax keeps one float a row, not the probabilities:
// they follow from the logits and that float.

#ifndef FOOTPRINT_TRAINER_MANAGER_LAYERS_LOSSES_H_
#define FOOTPRINT_TRAINER_MANAGER_LAYERS_LOSSES_H_

#include "footprint/trainer_manager/layers/layer.h"

namespace footprint {

// The mean over all elements of (prediction - label)^2; the label has the shape
// of the prediction.
LayerPointer MeanSquaredError();

// The mean over the rows of -log softmax(logits)[label]; logits are
// [..., classes], labels are int32 of shape [...]. A label that is no class is
// OutOfRange.
LayerPointer SoftmaxCrossEntropy();

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_LAYERS_LOSSES_H_
