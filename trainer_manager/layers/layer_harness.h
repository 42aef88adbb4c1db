// Runs the steps of one layer on tensors of its own, and compares derivatives
// and gradients with central differences.
//
//   LayerHarness harness(Relu(), {{{{2, 3}}}});
//   harness.Forward();
//   EXPECT_LT(harness.WorstDerivativeError(), 1e-2);
//
// Every tensor has its own memory. Results, gradients and workspaces are NaN
// until a step writes them. Ends the program if the layer refuses its inputs.
// Owns the tensors and keeps the layer alive. Thread-compatible.

#ifndef FOOTPRINT_TRAINER_MANAGER_LAYERS_LAYER_HARNESS_H_
#define FOOTPRINT_TRAINER_MANAGER_LAYERS_LAYER_HARNESS_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/trainer_manager/layers/layer.h"

namespace footprint {

// Returns the error with which the layer refuses such inputs in training, or
// OK.
absl::Status Refusal(const LayerPointer& layer, std::vector<TensorType> inputs);

class LayerHarness {
 public:
  // Float inputs, labels, weights and output derivatives get random values
  // between -1 and 1 from `seed`, and statistics between 1 and 3; int32 inputs
  // and labels get random indices below `indices`. The output derivative of a
  // loss is 1. A `frozen` layer is described as not trained. `math`, which the
  // steps compute with, must outlive the harness.
  LayerHarness(LayerPointer layer, std::vector<TensorType> inputs,
               NetworkMode mode = NetworkMode::kTraining, uint64_t seed = 1,
               int32_t indices = 3, bool frozen = false,
               const MathBackend& math = ReferenceMath());

  const LayerSignature& signature() const { return signature_; }
  std::vector<float>& Values(Role role, int index = 0);
  void SetIndices(Role role, std::vector<int32_t> indices);

  absl::Status Forward();
  void Backward();  // the gradient, then the derivative
  absl::Status Recompute();
  void RestoreInput();
  // These run the forward step and the derivative of a layer that
  // multiplies_by_matrix, with at most `columns` columns of the matrix at a
  // time.
  absl::Status ForwardByTiles(int64_t columns);
  void DerivativeByTiles(int64_t columns);
  // Runs the gradient of such a layer, whose matrix is weight 0, with at most
  // `rows` rows of the matrix at a time.
  void GradientByTiles(int64_t rows);

  // These compare the gradients, or the input derivatives, with the central
  // differences of an objective, which is the sum of all outputs, each times a
  // fixed random factor. They return the largest error divided by the largest
  // central difference, and infinity if an error is not finite or all central
  // differences are zero. They run the forward step many times, which moves
  // running statistics.
  double WorstGradientError();
  double WorstDerivativeError();

 private:
  using Key = std::pair<Role, int>;
  struct Tensor {
    TensorType spec;
    std::vector<float> values;  // also hold int32 and uint8
  };

  void Add(Role role, int index, const TensorType& spec, bool random);
  std::vector<StepData::Slot> FindSlots(const StepUse& use);
  void Run(const StepUse& use, int phase);
  void RunTiles(const StepUse& use, int phase, int64_t columns);
  double Objective();
  double WorstError(Role varied, Role calculated);

  LayerPointer layer_;
  NetworkMode mode_;
  RandomSequence random_;
  int32_t indices_;
  const MathBackend& math_;
  LayerSignature signature_;
  std::map<Key, Tensor> tensors_;
  absl::Status status_;
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_LAYERS_LAYER_HARNESS_H_
