// Finds a model's weights in its checkpoint, compares them with its config, and
// keeps the first error.
//
//   footprint::WeightBinder binder(*store, "transformer.", "wte.weight");
//   footprint::Weight words = binder.Matrix("wte.weight", 50257, 768);
//   if (!binder.status().ok()) return binder.status();
//
// Checkpoints name tensors with or without the family's prefix; the binder
// finds out which.
//
// The error is NotFound if a tensor is missing; the message names the closest
// ones. The error is InvalidArgument if a shape contradicts the config, or if a
// type or the width of column panels is not supported.
//
// Thread-compatible. The weights refer to the index of the store, which must
// outlive them and the binder. Memory: the prefix and the error's text.

#ifndef FOOTPRINT_LOWMEM_MODELS_WEIGHT_BINDER_H_
#define FOOTPRINT_LOWMEM_MODELS_WEIGHT_BINDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "footprint/base/safetensors/safetensors.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

// A matrix and the vector that is added.
struct LinearWeights {
  Weight matrix;
  Weight bias;
};

// The outputs of a matrix from `first_output` on; several products may share
// one matrix.
struct LinearPart {
  LinearWeights weights;
  int64_t first_output = 0;
};

struct NormTensors {
  Weight gain;
  Weight bias;
};

// Returns the matrices that the layers' linears() list.
template <class Layer>
std::vector<Weight> LayerMatrices(const std::vector<Layer>& layers) {
  std::vector<Weight> matrices;
  for (const Layer& layer : layers) {
    for (const LinearWeights* linear : layer.linears()) {
      matrices.push_back(linear->matrix);
    }
  }
  return matrices;
}

// Adds every tensor that the layers' linears() and norms() list. Biases that do
// not exist are left out; matrices and gains must exist.
template <class Layer>
void AddLayerTensors(const std::vector<Layer>& layers,
                     std::vector<Weight>* tensors) {
  for (const Layer& layer : layers) {
    for (const LinearWeights* linear : layer.linears()) {
      if (linear->bias.exists()) tensors->push_back(linear->bias);
      tensors->push_back(linear->matrix);
    }
    for (const NormTensors* norm : layer.norms()) {
      tensors->push_back(norm->gain);
      if (norm->bias.exists()) tensors->push_back(norm->bias);
    }
  }
}

// Returns the bytes that the weights take in their file.
int64_t AddStoredBytes(const std::vector<Weight>& weights);

// Returns the names of the file's tensors that are not among `used`, in the
// order of the file: adapters, heads and parts that this model does not
// calculate. Leaves out padding, and buffers that hold no weights (masks and
// numbers of positions).
std::vector<std::string> UnusedTensors(const WeightStore& store,
                                       const std::vector<Weight>& used);

class WeightBinder {
 public:
  // Names get the prefix if the store has the tensor prefix + sample.
  WeightBinder(const WeightStore& store, const std::string& prefix,
               const std::string& sample);

  const absl::Status& status() const { return status_; }
  bool Has(const std::string& name) const;

  // The following functions find tensors by their names without the prefix. If
  // a tensor is missing or does not fit, they record the error; the weight may
  // then not exist.
  Weight Matrix(const std::string& name, int64_t rows, int64_t columns);
  Weight Vector(const std::string& name, int64_t count);
  // Finds name.weight, [rows, columns], and name.bias.
  LinearWeights Linear(const std::string& name, int64_t rows, int64_t columns);
  // Does the same, but finds name.bias only if `has_bias`.
  LinearWeights LinearWithBias(const std::string& name, int64_t rows,
                               int64_t columns, bool has_bias);
  // Does the same with a matrix that is stored transposed: [inputs, outputs].
  LinearWeights TransposedLinear(const std::string& name, int64_t inputs,
                                 int64_t outputs);
  // Finds name.weight and name.bias, or the older name.gamma and name.beta.
  NormTensors Norm(const std::string& name, int64_t count);

  // Records an error if a tensor's name begins with `begin`, which is how the
  // names of layer `layers` would begin: a checkpoint with more layers than its
  // config belongs to another model.
  void CheckNoLayer(const std::string& begin, int64_t layers);

 private:
  void Fail(const std::string& what);
  Weight Shaped(const std::string& name, const Shape& shape);

  const WeightStore& store_;
  std::string prefix_;
  absl::Status status_;
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODELS_WEIGHT_BINDER_H_
