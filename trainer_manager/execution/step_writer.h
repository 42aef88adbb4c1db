// Writes the tensors and steps of a graph one after the other. A step names
// operands of its layer, and the writer finds their current tensors.
//
//   StepWriter writer(options, choices, network);
//   writer.layer(l).output = writer.AddTensor("fc output", kind, spec);
//   writer.AddStep(StepKind::kForward, l, signature.forward);
//   const footprint::StepGraph graph = writer.Finish();
//
// If a backward step reads a value that is not kept, the writer first adds the
// step that recomputes it or reads it back from the file. If a step reads
// weights that stay in their file, the writer adds a step before it that reads
// them, or their first tile. A layer that only picks rows of such a table
// becomes one step that reads these rows.
//
// Refers to the options, shares the network. Thread-compatible. Memory: about
// that of the graph's tensors.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_STEP_WRITER_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_STEP_WRITER_H_

#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/layers/tensor_type.h"
#include "footprint/trainer_manager/networks/network.h"

namespace footprint {

class StepWriter {
 public:
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  // The tensors of one layer, by role and index.
  struct LayerTensors {
    std::vector<size_t> inputs;
    std::vector<size_t> labels;
    std::vector<size_t> weights;
    std::vector<size_t> statistics;
    std::vector<size_t> optimizer_states;
    std::vector<size_t> saved;
    std::vector<size_t> gradients;
    std::vector<size_t> input_derivatives;
    std::vector<size_t> slices;
    size_t output = kNone;
  };

  // The choices for each layer.
  struct LayerChoices {
    explicit LayerChoices(size_t layers)
        : recomputed(layers),
          swapped(layers),
          forgotten(layers),
          keeps_weights(layers) {}

    std::vector<bool> recomputed;  // backward steps recompute its output
    std::vector<bool> swapped;     // they read it back from the file
    // A recomputed output is forgotten once nothing holds it. After 16
    // recomputations a layer on average, nothing is forgotten any more.
    std::vector<bool> forgotten;
    // Weights that its first step reads from their file stay for its others.
    std::vector<bool> keeps_weights;
    int64_t tile_bytes = std::numeric_limits<int64_t>::max();  // StepChoices
  };

  StepWriter(const MemoryOptions& options, LayerChoices choices,
             std::shared_ptr<const ResolvedNetwork> network);

  // Returns the graph as written so far, without lifespans.
  StepGraph& graph() { return graph_; }
  LayerTensors& layer(size_t l) { return layers_[l]; }
  const LayerTensors& layer(size_t l) const { return layers_[l]; }
  // Returns the tensor with the derivative of the loss by a value, as summed so
  // far, or kNone.
  size_t& derivative(size_t value) { return derivatives_[value]; }
  // Returns the tensor that holds a recomputed value, or kNone.
  size_t recomputed_tensor(size_t value) const {
    return recomputed_tensors_[value];
  }

  // Returns whether the value must be readable when all steps are done.
  bool IsOutput(size_t value) const;
  bool IsSwapped(size_t l) const { return choices_.swapped[l]; }

  // Adds a tensor and returns its index in the graph.
  size_t AddTensor(std::string name, TensorKind kind, const TensorType& spec);
  // Adds a tensor that holds all micro-batches.
  size_t AddWholeBatch(std::string name, TensorKind kind,
                       const TensorType& spec);
  // Adds a layer's weights or statistics, and returns their indices. The index
  // of one that is read from its file before each use is kNone.
  std::vector<size_t> AddWeights(const ResolvedNetwork::ResolvedLayer& layer,
                                 TensorKind kind);

  // Adds a step. Operands that do not exist, such as a derivative that nothing
  // needs, are left out. A workspace is a tensor of this step alone.
  void AddStep(StepKind kind, size_t l, const StepUse& use);
  // Values that a step of the layer reads are not forgotten between Hold and
  // Release, which nest. AddStep calls both around every step but a forward
  // one.
  void Hold(size_t l, const StepUse& use);
  void Release(size_t l, const StepUse& use);
  void AddSum(StepKind kind, size_t l, size_t first, size_t second, size_t sum);
  // Adds a step that writes to the file or reads from it.
  void AddSwap(StepKind kind, size_t l, size_t tensor);

  // Returns the graph. Its tensors have lifespans, and its swapped tensors have
  // offsets in the file. Must be the last call.
  StepGraph Finish();

 private:
  void PlaceInFile();
  void SetLifespans();
  bool IsKept(TensorKind kind) const;
  size_t Lookup(size_t l, Operand operand) const;
  size_t Again(size_t value, size_t first) const;
  size_t FindValue(size_t l, const Operand& operand) const;
  void EnsureReadable(size_t l, const Operand& operand);
  std::vector<size_t>* FindWeights(size_t l, Role role);
  std::vector<TensorUse> ReadWeights(StepKind kind, size_t l,
                                     const StepUse& use);
  int64_t ColumnsInMemory(StepKind kind, size_t l, const WeightSpec& weight,
                          const Operand& operand) const;
  bool ReadsRows(StepKind kind, size_t l) const;

  const MemoryOptions& options_;
  StepGraph graph_;
  const ResolvedNetwork& network_;  // of the graph
  const LayerChoices choices_;
  std::vector<LayerTensors> layers_;
  std::vector<size_t> derivatives_;         // of each value
  std::vector<size_t> recomputed_tensors_;  // of each value
  std::vector<int> holds_;                  // of each value
  size_t recomputations_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_STEP_WRITER_H_
