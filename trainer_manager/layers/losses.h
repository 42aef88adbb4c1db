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

#include <cstdint>

#include "absl/types/optional.h"
#include "footprint/trainer_manager/layers/layer.h"

namespace footprint {

struct SquaredErrorOptions {
  // Elements with this label count for nothing, as with
  // SoftmaxOptions::ignored_label.
  absl::optional<float> ignored_label;
};

// The mean over all elements of (prediction - label)^2; the label has the shape
// of the prediction. OutOfRange: all labels are ignored.
LayerPointer MeanSquaredError(const SquaredErrorOptions& options = {});

struct SoftmaxOptions {
  // The share of each row's weight that all classes have in equal parts, the
  // label's included: from 0 to below 1.
  float label_smoothing = 0;
  // Rows with this label count for nothing: they have no loss and no
  // derivative, and the mean is over the others. So the last rows of a data set
  // train in a batch that is planned for more. With micro-batches each part
  // must have a label that counts. The value is from -2^24 to 2^24.
  absl::optional<int32_t> ignored_label;
};

// The mean over the rows of -log softmax(logits)[label]; logits are
// [..., classes], labels are int32 of shape [...]. As PyTorch's cross_entropy.
// OutOfRange: a label that is no class, or all are ignored.
LayerPointer SoftmaxCrossEntropy(const SoftmaxOptions& options = {});

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_LAYERS_LOSSES_H_
