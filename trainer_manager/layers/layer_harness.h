// Runs the steps of one layer on tensors of its own, and holds what the layer
// calculates against central differences.
//
//   LayerHarness harness(Relu(), {{{{2, 3}}}});
//   harness.Forward();
//   EXPECT_LT(harness.WorstDerivativeError(), 1e-2);
//
// Every tensor has its own memory; what a step does not write stays NaN. Ends
// the program where the layer refuses its inputs. Owns the tensors, keeps the
// layer alive. Thread-compatible.

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

// Returns why a layer does not take such inputs in training; OK if it does.
absl::Status Refusal(const LayerPointer& layer, std::vector<TensorType> inputs);

class LayerHarness {
 public:
  // Float inputs and weights get random values of seed `seed`, int32 inputs and
  // labels random indices below `indices`. A `frozen` layer is described as one
  // that is not trained.
  LayerHarness(LayerPointer layer, std::vector<TensorType> inputs,
               NetworkMode mode = NetworkMode::kTraining, uint64_t seed = 1,
               int32_t indices = 3, bool frozen = false);

  const LayerSignature& signature() const { return signature_; }
  std::vector<float>& Values(Role role, int index = 0);
  void SetIndices(Role role, std::vector<int32_t> indices);

  absl::Status Forward();
  void Backward();  // the gradient, then the derivative
  absl::Status Recompute();
  void RestoreInput();

  // The largest difference between a gradient, or input derivative, and the
  // central difference of the sum of the outputs, each times a fixed random
  // factor; as a share of the largest of them. Infinite where there is none but
  // zeros to compare.
  double WorstGradientError();
  double WorstDerivativeError();

 private:
  using Key = std::pair<Role, int>;
  struct Tensor {
    TensorType spec;
    std::vector<float> values;  // int32 and uint8 lie in them, too
  };

  void Add(Role role, int index, const TensorType& spec, bool random);
  void Run(const StepUse& use, int phase);
  double Objective();
  double WorstError(Role varied, Role calculated);

  LayerPointer layer_;
  NetworkMode mode_;
  RandomSequence random_;
  int32_t indices_;
  LayerSignature signature_;
  std::map<Key, Tensor> tensors_;
  absl::Status status_;
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_LAYERS_LAYER_HARNESS_H_
