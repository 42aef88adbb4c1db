// A network of dense layers with ReLU between them, and its gradient.
//
//   DenseNetwork network({10, 50, 50, 1}, /*batch_capacity=*/64);
//   std::vector<double> parameters(network.parameter_count());
//   network.Initialize(/*seed=*/1, absl::MakeSpan(parameters));
//   double* inputs = network.inputs();       // fill 10 numbers for each sample
//   const double* outputs = network.Forward(parameters, /*sample_count=*/64);
//   network.Backward(parameters, targets, absl::MakeSpan(gradient));
//
// Owns the activations of one batch and reuses them; parameters and gradient
// are the caller's. Inputs, outputs and targets lie sample after sample.
// Parameters: of each layer the weights, output after output for each input,
// then the biases.
//
// Thread-compatible. Memory: 8 bytes x batch capacity x all units, taken in the
// constructor, and again x all units but the inputs in the first Backward.
// Time: Forward, samples x parameters; Backward, about twice that.

#ifndef FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_DENSE_NETWORK_H_
#define FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_DENSE_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace footprint {
namespace tabular {

class DenseNetwork {
 public:
  // `unit_counts`: of the inputs, each hidden layer, and the outputs.
  DenseNetwork(const std::vector<size_t>& unit_counts, size_t batch_capacity);

  size_t parameter_count() const { return parameter_count_; }
  size_t batch_capacity() const { return batch_capacity_; }

  // He's initialisation: normal weights, biases zero. Equal seeds give equal
  // parameters.
  void Initialize(uint64_t seed, absl::Span<double> parameters) const;

  // Where the inputs of the next Forward are to be put.
  double* inputs() { return activations_.data(); }

  // Computes the outputs of the first `sample_count` inputs; valid until the
  // next call.
  const double* Forward(absl::Span<const double> parameters,
                        size_t sample_count);

  // Of the last Forward: returns half the mean squared difference of outputs
  // and `targets`, and writes its gradient by the parameters.
  double Backward(absl::Span<const double> parameters,
                  absl::Span<const double> targets,
                  absl::Span<double> gradient);

 private:
  struct Layer {
    size_t input_count;
    size_t output_count;
    size_t first_weight;      // in the parameters
    size_t first_bias;        // in the parameters
    size_t first_activation;  // of its outputs, in activations_
    size_t first_delta;       // of its outputs, in deltas_
  };

  double ComputeOutputDelta(absl::Span<const double> targets);
  void BackwardThroughLayer(size_t index, absl::Span<const double> parameters,
                            absl::Span<double> gradient);
  // Of the layer's inputs.
  const double* InputActivations(size_t index) const;

  std::vector<Layer> layers_;
  size_t parameter_count_ = 0;
  size_t batch_capacity_ = 0;
  size_t delta_count_ = 0;
  size_t sample_count_ = 0;
  std::vector<double> activations_;
  std::vector<double> deltas_;
};

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_DENSE_NETWORK_H_
