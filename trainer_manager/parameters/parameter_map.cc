#include "footprint/trainer_manager/parameters/parameter_map.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/networks/network.h"

namespace footprint {
namespace {

struct NameInNorm {
  absl::string_view ours;
  absl::string_view pytorch;
};

constexpr NameInNorm kNamesInNorms[] = {{"scale", "weight"},
                                        {"shift", "bias"},
                                        {"mean", "running_mean"},
                                        {"variance", "running_var"}};

FileTensor PyTorchTensor(const ResolvedNetwork::ResolvedLayer& layer,
                         const WeightSpec& weight) {
  const absl::string_view type = layer.layer->type();
  FileTensor tensor;
  tensor.name = absl::StrCat(layer.name, ".", weight.name);
  tensor.transposed =
      (type == "fully connected" || type == "LoRA fully connected") &&
      weight.name == "weight";
  if (type != "batch normalization" && type != "layer normalization" &&
      type != "RMS normalization") {
    return tensor;
  }
  for (const NameInNorm& name : kNamesInNorms) {
    if (weight.name != name.ours) continue;
    tensor.name = absl::StrCat(layer.name, ".", name.pytorch);
  }
  return tensor;
}

}  // namespace

ParameterMap PyTorchMap(const ExecutionPlan& plan) {
  return PyTorchMap(*plan.network);
}

ParameterMap PyTorchMap(const ResolvedNetwork& network) {
  ParameterMap map;
  map.ignored_endings = {".num_batches_tracked"};
  for (size_t l = 0; l < network.layers.size(); ++l) {
    const ResolvedNetwork::ResolvedLayer& layer = network.layers[l];
    if (layer.weights_of != l) continue;
    for (const auto* list :
         {&layer.signature.weights, &layer.signature.statistics}) {
      for (const WeightSpec& weight : *list) {
        map.tensors[absl::StrCat(layer.name, ".", weight.name)] =
            PyTorchTensor(layer, weight);
      }
    }
  }
  return map;
}

}  // namespace footprint
