#include "footprint/trainer_manager/recomputation.h"

#include <algorithm>

namespace footprint {
namespace {

bool Reads(const StepUse& use, Role role, int index = 0) {
  return std::count(use.reads.begin(), use.reads.end(), Operand{role, index}) >
         0;
}

bool ReadsBackwards(const LayerSignature& signature, Role role, int index = 0) {
  return Reads(signature.gradient, role, index) ||
         Reads(signature.derivative, role, index);
}

// Whether the backward steps of layer `last` or one before it read the value.
// What a max pooling restores counts, too: it may be dropped on its own.
bool IsReadLate(const ResolvedNetwork& network, size_t value, size_t last) {
  const size_t inputs = network.inputs.size();
  if (value < inputs) return true;
  if (ReadsBackwards(network.layers[value - inputs].signature, Role::kOutput)) {
    return true;
  }
  for (size_t l = 0; l <= last; ++l) {
    const ResolvedNetwork::ResolvedLayer& layer = network.layers[l];
    for (size_t i = 0; i < layer.inputs.size(); ++i) {
      if (layer.inputs[i] == value &&
          ReadsBackwards(layer.signature, Role::kInput, static_cast<int>(i))) {
        return true;
      }
    }
  }
  return false;
}

ptrdiff_t CountReaders(const ResolvedNetwork& network, size_t value) {
  ptrdiff_t readers = 0;
  for (const ResolvedNetwork::ResolvedLayer& layer : network.layers) {
    readers += std::count(layer.inputs.begin(), layer.inputs.end(), value);
  }
  return readers;
}

}  // namespace

bool CanRecompute(const ResolvedNetwork& network, size_t layer) {
  const LayerSignature& signature = network.layers[layer].signature;
  return !signature.recompute.reads.empty() && !signature.label.has_value();
}

std::vector<bool> FindRecomputed(const ResolvedNetwork& network, bool cheap,
                                 const std::vector<size_t>& dropped,
                                 const std::vector<size_t>& swapped) {
  const auto contains = [](const std::vector<size_t>& layers, size_t layer) {
    return std::count(layers.begin(), layers.end(), layer) > 0;
  };
  const size_t inputs = network.inputs.size();
  std::vector<bool> found(network.layers.size(), false);
  for (size_t l = 0; l < network.layers.size(); ++l) {
    const ResolvedNetwork::ResolvedLayer& layer = network.layers[l];
    found[l] = cheap && CanRecompute(network, l) &&
               layer.signature.recompute_products == 0;
    for (const Operand& operand : layer.signature.recompute.reads) {
      if (operand.role != Role::kInput) continue;
      const size_t value = layer.inputs[static_cast<size_t>(operand.index)];
      const bool again = value >= inputs && (found[value - inputs] ||
                                             contains(swapped, value - inputs));
      found[l] = found[l] && (again || IsReadLate(network, value, l));
    }
    if (contains(dropped, l)) found[l] = true;
    if (contains(swapped, l)) found[l] = false;
  }
  return found;
}

std::vector<size_t> LayersToDrop(const ResolvedNetwork& network,
                                 const std::vector<size_t>& dropped,
                                 size_t layer) {
  std::vector<size_t> more = {layer};
  for (size_t i = 0; i < more.size(); ++i) {
    for (const size_t value : network.layers[more[i]].inputs) {
      if (IsReadLate(network, value, more[i])) continue;
      const size_t source = value - network.inputs.size();
      if (CanRecompute(network, source) &&
          std::count(dropped.begin(), dropped.end(), source) == 0 &&
          std::count(more.begin(), more.end(), source) == 0) {
        more.push_back(source);
      }
    }
  }
  return more;
}

bool CanSlice(const ResolvedNetwork& network, size_t layer) {
  const ResolvedNetwork::ResolvedLayer& user = network.layers[layer];
  if (network.mode != NetworkMode::kTraining || user.inputs.size() != 1 ||
      user.inputs[0] < network.inputs.size() ||
      !user.signature.derivative_by_element ||
      user.signature.derivative.reads.size() > 4 ||
      Reads(user.signature.derivative, Role::kInput) ||
      Reads(user.signature.derivative, Role::kOutput)) {
    return false;
  }
  const ResolvedNetwork::ResolvedLayer& activation =
      network.layers[user.inputs[0] - network.inputs.size()];
  const StepUse& slope = activation.signature.derivative;
  return activation.signature.weights.empty() &&
         activation.signature.derivative_by_element &&
         slope.reads.size() == 2 && Reads(slope, Role::kOutputDerivative) &&
         Reads(slope, Role::kOutput) &&
         CountReaders(network, user.inputs[0]) == 1 &&
         CountReaders(network, activation.inputs[0]) == 1;
}

bool CanRestore(const ResolvedNetwork& network, size_t layer) {
  return !network.layers[layer].signature.restore_input.reads.empty() &&
         CanSlice(network, layer);
}

}  // namespace footprint
