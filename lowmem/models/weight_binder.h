// Finds a model's weights in its checkpoint and compares them with its config,
// keeping the first fault.
//
//   footprint::WeightBinder binder(*store, "transformer.", "wte.weight");
//   footprint::Weight words = binder.Matrix("wte.weight", 50257, 768);
//   if (!binder.status().ok()) return binder.status();
//
// Checkpoints name tensors with or without the family's prefix; the finder
// looks which.
//
// NotFound: a tensor is missing; names the closest ones. InvalidArgument: a
// shape or element type that the config contradicts or that cannot be computed
// with.
//
// Thread-compatible. Weights that it finds refer to the store's index. Memory:
// the prefix and the fault's text.

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

// The outputs of a matrix from one of them on: several products share one.
struct LinearPart {
  LinearWeights weights;
  int64_t first_output = 0;
};

struct NormTensors {
  Weight gain;
  Weight bias;
};

// The matrices of all layers. A layer says by linears() which it has.
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

// Adds every tensor of the layers, of linears() and norms(). Weights that do
// not exist are left out.
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

// The names of the file's tensors that are not among `used`, in the order of
// the file: adapters, heads and parts that this model does not calculate. Left
// out are padding, and buffers that hold no weights (masks and numbers of
// positions).
std::vector<std::string> UnusedTensors(const WeightStore& store,
                                       const std::vector<Weight>& used);

class WeightBinder {
 public:
  // The prefix is used if `sample` is there with it.
  WeightBinder(const WeightStore& store, const std::string& prefix,
               const std::string& sample);

  const absl::Status& status() const { return status_; }
  bool Has(const std::string& name) const;

  Weight Matrix(const std::string& name, int64_t rows, int64_t columns);
  Weight Vector(const std::string& name, int64_t count);
  // name.weight, [rows, columns], and name.bias.
  LinearWeights Linear(const std::string& name, int64_t rows, int64_t columns);
  // The same, without name.bias unless `has_bias`.
  LinearWeights LinearWithBias(const std::string& name, int64_t rows,
                               int64_t columns, bool has_bias);
  // The same with a matrix that lies transposed: [inputs, outputs].
  LinearWeights TransposedLinear(const std::string& name, int64_t inputs,
                                 int64_t outputs);
  // name.weight and name.bias, or the older name.gamma and name.beta.
  NormTensors Norm(const std::string& name, int64_t count);

  // A checkpoint with more layers than its config is another model's. `begin`
  // is how names of the first layer too many begin.
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
