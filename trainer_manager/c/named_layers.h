// Makes layers from their names and properties, for networks that are described
// in text or through the C interface.
//
//   absl::StatusOr<footprint::LayerPointer> layer =
//       footprint::MakeNamedLayer("fully_connected", "unit=10");
//
// Names and keys are those of NNTrainer if it has such a layer:
//
//   fully_connected      unit, bias
//   conv2d               filters, kernel_size, stride, padding, bias, groups
//                        (here and above, bias is true or false; NNTrainer has
//                        disable_bias)
//   pooling2d            pooling (max, average, global_average), pool_size,
//                        stride
//   activation           activation (relu, sigmoid, tanh, gelu, swish)
//   dropout              dropout_rate
//   batch_normalization  epsilon, momentum (the share of the new batch)
//   layer_normalization  epsilon
//   rms_norm             epsilon
//   flatten
//   addition
//   multiply
//   concat               axis
//   embedding            in_dim, out_dim
//   position_embedding
//   attention            num_heads, num_key_heads, causal
//   rotary_positions     num_heads (that are turned), head_width, rope_theta
//   mse                  ignored_label
//   cross_softmax        label_smoothing, ignored_label
//
// Pure functions, thread-safe. Memory: that of the result.

#ifndef FOOTPRINT_TRAINER_MANAGER_C_NAMED_LAYERS_H_
#define FOOTPRINT_TRAINER_MANAGER_C_NAMED_LAYERS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/trainer_manager/layers/layer.h"

namespace footprint {

// Makes a layer. Returns InvalidArgument if no layer has that type, if the text
// is not a list of properties (Properties::Parse), if the layer does not have a
// property that is given, or if a property that it needs is missing or
// malformed. Values that suit no network, such as a unit of 0, are refused when
// the network is planned.
absl::StatusOr<LayerPointer> MakeNamedLayer(absl::string_view type,
                                            absl::string_view properties);

// Returns the types of layers, in the order above.
std::vector<std::string> NamedLayerTypes();

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_C_NAMED_LAYERS_H_
