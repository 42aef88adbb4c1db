#include "footprint/trainer_manager/execution/recomputation.h"

#include <algorithm>

#include "footprint/trainer_manager/layers/tensor_type.h"

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

// The values that the backward steps read. Searches ask for all of them at
// once, so the constructor visits all layers once.
class BackwardReaders {
 public:
  explicit BackwardReaders(const ResolvedNetwork& network)
      : inputs_(network.inputs.size()),
        earliest_(inputs_ + network.layers.size(), network.layers.size()) {
    for (size_t l = network.layers.size(); l-- > 0;) {
      const ResolvedNetwork::ResolvedLayer& layer = network.layers[l];
      for (size_t i = 0; i < layer.inputs.size(); ++i) {
        if (ReadsBackwards(layer.signature, Role::kInput,
                           static_cast<int>(i))) {
          earliest_[layer.inputs[i]] = l;
        }
      }
      if (ReadsBackwards(layer.signature, Role::kOutput)) {
        earliest_[inputs_ + l] = 0;
      }
    }
  }

  // Returns whether the value is read by the backward steps of layer `last` or
  // an earlier layer, or of the layer whose output it is. A value that a max
  // pooling restores also counts, since it may be dropped on its own.
  bool IsReadLate(size_t value, size_t last) const {
    return value < inputs_ || earliest_[value] <= last;
  }

 private:
  const size_t inputs_;
  // For each value, the first layer whose backward steps read it.
  std::vector<size_t> earliest_;
};

ptrdiff_t CountReaders(const ResolvedNetwork& network, size_t value) {
  ptrdiff_t readers = 0;
  for (const ResolvedNetwork::ResolvedLayer& layer : network.layers) {
    readers += std::count(layer.inputs.begin(), layer.inputs.end(), value);
  }
  return readers;
}

// Returns whether the layer's derivative works element by element and reads
// neither its input nor its output.
bool HasSlices(const ResolvedNetwork& network,
               const ResolvedNetwork::ResolvedLayer& layer) {
  const LayerSignature& signature = layer.signature;
  return network.mode == NetworkMode::kTraining && layer.inputs.size() == 1 &&
         layer.inputs[0] >= network.inputs.size() &&
         signature.derivative_by_element &&
         signature.derivative.reads.size() <= 4 &&
         !Reads(signature.derivative, Role::kInput) &&
         !Reads(signature.derivative, Role::kOutput);
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
  const BackwardReaders readers(network);
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
      found[l] = found[l] && (again || readers.IsReadLate(value, l));
    }
    if (contains(dropped, l)) found[l] = true;
    if (contains(swapped, l)) found[l] = false;
  }
  return found;
}

std::vector<size_t> LayersToDrop(const ResolvedNetwork& network,
                                 const std::vector<size_t>& dropped,
                                 size_t layer) {
  const BackwardReaders readers(network);
  std::vector<size_t> more = {layer};
  for (size_t i = 0; i < more.size(); ++i) {
    for (const size_t value : network.layers[more[i]].inputs) {
      if (readers.IsReadLate(value, more[i])) continue;
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
  if (!HasSlices(network, user)) return false;
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

bool CanSliceSum(const ResolvedNetwork& network, size_t layer) {
  const ResolvedNetwork::ResolvedLayer& user = network.layers[layer];
  return HasSlices(network, user) &&
         (CountReaders(network, user.inputs[0]) > 1 ||
          SizeBytes(network.spec(user.inputs[0])) ==
              SizeBytes(user.signature.output));
}

bool CanRestore(const ResolvedNetwork& network, size_t layer) {
  return !network.layers[layer].signature.restore_input.reads.empty() &&
         CanSlice(network, layer);
}

}  // namespace footprint
