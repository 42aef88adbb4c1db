// The layers that end a network in training: they compare the prediction with
// the label.
//
//   network.AddLayer("loss", footprint::MeanSquaredError(), {"prediction"});
//
// In inference a loss and its label do not exist, unless
// MemoryOptions::keep_loss is set. See layer.h for ownership and thread-safety.
// Memory: both keep the prediction, over which the derivative may be written.
// Softmax also keeps one float for each row, from which the probabilities
// follow together with the logits.

#ifndef FOOTPRINT_TRAINER_MANAGER_LAYERS_LOSSES_H_
#define FOOTPRINT_TRAINER_MANAGER_LAYERS_LOSSES_H_

#include <cstdint>

#include "absl/types/optional.h"
#include "footprint/trainer_manager/layers/layer.h"

namespace footprint {

struct SquaredErrorOptions {
  // Elements with this label do not count, as with
  // SoftmaxOptions::ignored_label.
  absl::optional<float> ignored_label;
};

// The loss is the mean over all elements of (prediction - label)^2. The label
// has the shape of the prediction. A step returns OutOfRange if all labels are
// ignored.
LayerPointer MeanSquaredError(const SquaredErrorOptions& options = {});

struct SoftmaxOptions {
  // The share of each row's weight that is spread equally over all classes,
  // including the label's: at least 0 and below 1.
  float label_smoothing = 0;
  // Rows with this label do not count: they have no loss and no derivative, and
  // the mean is over the others. This lets the last rows of a data set train in
  // a batch that was planned for more rows. With micro-batches each part must
  // have a label that counts. The value is from -2^24 to 2^24.
  absl::optional<int32_t> ignored_label;
};

// The loss is the mean over the rows of -log softmax(logits)[label], like
// PyTorch's cross_entropy. Logits are [..., classes], labels are int32 of shape
// [...]. Resolving the network returns InvalidArgument if an option is out of
// range. A step returns OutOfRange if a label is not a class, or if all are
// ignored.
LayerPointer SoftmaxCrossEntropy(const SoftmaxOptions& options = {});

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_LAYERS_LOSSES_H_
