#include "footprint/trainer_manager/execution/execution_steps.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/trainer_manager/execution/gradient_tiles.h"
#include "footprint/trainer_manager/execution/recomputation.h"
#include "footprint/trainer_manager/execution/step_writer.h"

namespace footprint {
namespace {

constexpr size_t kNone = StepWriter::kNone;
constexpr int64_t kSlices = 16;  // of a batch

bool MayBeAbsent(const ResolvedNetwork& network, const MemoryOptions& options) {
  return network.mode == NetworkMode::kTraining && options.share_edges;
}

// Returns the choices layer by layer.
StepWriter::LayerChoices ChoicesByLayer(const ResolvedNetwork& network,
                                        const MemoryOptions& options,
                                        const StepChoices& choices) {
  StepWriter::LayerChoices by_layer(network.layers.size());
  if (MayBeAbsent(network, options)) {
    by_layer.recomputed = FindRecomputed(network, options.recompute_outputs,
                                         choices.dropped, choices.swapped);
    for (const size_t l : choices.swapped) by_layer.swapped[l] = true;
  }
  for (const size_t l : choices.forgotten) by_layer.forgotten[l] = true;
  for (const size_t l : choices.kept_weights) by_layer.keeps_weights[l] = true;
  by_layer.tile_bytes = choices.tile_bytes;
  return by_layer;
}

// Copies of running statistics. Forward steps of layers that are not frozen
// change statistics before the loss is known. The earlier values are kept until
// the loss, or until all gradients are known, and are written back if the
// iteration is refused.
class StatisticCopies {
 public:
  StatisticCopies(StepWriter* writer, const ResolvedNetwork& network)
      : writer_(*writer), graph_(writer->graph()), network_(network) {}

  // Adds the step that copies all statistics, if there are any.
  void Add() {
    PlannedStep step;
    step.kind = StepKind::kCopyStatistics;
    step.layer = network_.layers.size() - 1;
    for (size_t l = 0; l < network_.layers.size(); ++l) {
      const ResolvedNetwork::ResolvedLayer& layer = network_.layers[l];
      writer_.layer(l).statistics =
          writer_.AddWeights(layer, TensorKind::kRunningStatistic);
      if (!layer.depends_on_batch()) continue;
      for (const size_t statistic : writer_.layer(l).statistics) {
        if (statistic == kNone) continue;  // it stays in its file
        const TensorType spec = graph_.tensors[statistic].spec;
        const size_t copy = writer_.AddTensor(
            absl::StrCat(graph_.tensors[statistic].name, " before"),
            TensorKind::kStatisticCopy, spec);
        const int index = static_cast<int>(step.uses.size() / 2);
        step.uses.push_back(
            {{Role::kRunningStatistic, index}, statistic, true, false});
        step.uses.push_back({{Role::kSaved, index}, copy, false, true});
      }
    }
    copies_ = step.uses;
    if (!copies_.empty()) graph_.steps.push_back(std::move(step));
  }

  // Adds the step of layer `l` that writes the copies back.
  void AddRestore(size_t l) {
    if (copies_.empty()) return;
    PlannedStep step;
    step.kind = StepKind::kRestoreStatistics;
    step.layer = l;
    step.uses = copies_;
    for (TensorUse& use : step.uses) std::swap(use.read, use.written);
    graph_.steps.push_back(std::move(step));
  }

 private:
  StepWriter& writer_;
  StepGraph& graph_;
  const ResolvedNetwork& network_;
  std::vector<TensorUse> copies_;  // each statistic, then its copy
};

// Steps that add up gradients and apply them to weights.
class UpdateSteps {
 public:
  UpdateSteps(const MemoryOptions& options, StepWriter* writer,
              const ResolvedNetwork& network)
      : defers_updates_(DefersUpdates(options)),
        writer_(*writer),
        graph_(writer->graph()),
        network_(network),
        users_(network_.layers.size(), 0),
        sums_(network_.layers.size()) {}

  // Notes that a layer uses the weights of layer `owner`.
  void CountUser(size_t owner) { ++users_[owner]; }

  // Returns whether several layers contribute to the gradients of `owner`.
  bool IsShared(size_t owner) const {
    return users_[owner] > 1 || !sums_[owner].empty();
  }

  // Applies gradients once all users of the weights have contributed to them.
  void AddUpdate(size_t l) {
    const size_t owner = network_.layers[l].weights_of;
    const std::vector<size_t> own = writer_.layer(l).gradients;
    if (sums_[owner].empty()) {
      sums_[owner] = own;
    } else {
      for (size_t i = 0; i < sums_[owner].size(); ++i) {
        sums_[owner][i] = AddSumOfGradients(l, i, sums_[owner][i]);
      }
    }
    if (--users_[owner] > 0) return;
    writer_.layer(owner).gradients = sums_[owner];
    if (sums_[owner] != own) NameGradients(owner);
    if (graph_.micro_batches > 1) Accumulate(owner);
    if (defers_updates_) {
      deferred_.push_back(owner);
    } else {
      AddApply(owner);
    }
  }

  // Adds the step that calculates the gradients of a layer part by part, and
  // applies each part. No other layer uses the weights.
  void AddTiledUpdate(size_t l) {
    --users_[l];
    StepUse use = network_.layers[l].signature.gradient;
    AddUpdatedOperands(l, &use);
    writer_.AddStep(StepKind::kApplyGradientTiles, l, use);
  }

  // Adds a step at the loss that sees all gradients, in the order of the
  // layers.
  void AddClip() {
    PlannedStep step;
    step.kind = StepKind::kClipGradients;
    step.layer = network_.layers.size() - 1;
    for (size_t l = 0; l < network_.layers.size(); ++l) {
      if (std::count(deferred_.begin(), deferred_.end(), l) == 0) continue;
      for (const size_t gradient : writer_.layer(l).gradients) {
        const int index = static_cast<int>(step.uses.size());
        step.uses.push_back({{Role::kGradient, index}, gradient, true, true});
      }
    }
    graph_.steps.push_back(std::move(step));
  }

  // Adds the updates that waited for all gradients.
  void AddDeferred() {
    for (const size_t l : deferred_) AddApply(l);
  }

 private:
  // Gives the sums that change shared weights the names that gradients of other
  // weights have.
  void NameGradients(size_t owner) {
    const ResolvedNetwork::ResolvedLayer& layer = network_.layers[owner];
    for (size_t i = 0; i < sums_[owner].size(); ++i) {
      graph_.tensors[sums_[owner][i]].name = absl::StrCat(
          layer.name, ".", layer.signature.weights[i].name, " gradient");
    }
  }

  // Replaces the layer's gradients by their sums over micro-batches.
  void Accumulate(size_t l) {
    const ResolvedNetwork::ResolvedLayer& layer = network_.layers[l];
    for (size_t i = 0; i < writer_.layer(l).gradients.size(); ++i) {
      const WeightSpec& weight = layer.signature.weights[i];
      const size_t sum = writer_.AddTensor(
          absl::StrCat(layer.name, ".", weight.name, " sum of gradients"),
          TensorKind::kGradientSum, weight.spec);
      PlannedStep step;
      step.kind = StepKind::kAccumulateGradient;
      step.layer = l;
      step.uses = {{{Role::kInput}, writer_.layer(l).gradients[i], true, false},
                   {{Role::kOutput}, sum, true, true}};
      graph_.steps.push_back(std::move(step));
      writer_.layer(l).gradients[i] = sum;
    }
  }

  size_t AddSumOfGradients(size_t l, size_t weight, size_t earlier) {
    const PlannedTensor& gradient = graph_.tensors[earlier];
    const size_t sum = writer_.AddTensor(
        absl::StrCat(gradient.name, " with ", network_.layers[l].name),
        TensorKind::kGradient, gradient.spec);
    writer_.AddSum(StepKind::kSumGradients, l, earlier,
                   writer_.layer(l).gradients[weight], sum);
    return sum;
  }

  // Adds what an update changes: gradients, which it may clip, weights and
  // states.
  void AddUpdatedOperands(size_t l, StepUse* use) {
    const StepWriter::LayerTensors& tensors = writer_.layer(l);
    for (size_t i = 0; i < tensors.weights.size(); ++i) {
      const int index = static_cast<int>(i);
      use->writes.push_back({Role::kGradient, index});
      use->writes.push_back({Role::kWeight, index});
    }
    for (size_t i = 0; i < tensors.optimizer_states.size(); ++i) {
      use->writes.push_back({Role::kOptimizerState, static_cast<int>(i)});
    }
  }

  void AddApply(size_t l) {
    StepUse use;
    for (size_t i = 0; i < writer_.layer(l).weights.size(); ++i) {
      use.reads.push_back({Role::kGradient, static_cast<int>(i)});
    }
    AddUpdatedOperands(l, &use);
    writer_.AddStep(StepKind::kApplyGradient, l, use);
  }

  const bool defers_updates_;
  StepWriter& writer_;
  StepGraph& graph_;
  const ResolvedNetwork& network_;
  // users of each layer's weights that have yet to contribute
  std::vector<int> users_;
  // the gradients of a layer's weights, summed so far
  std::vector<std::vector<size_t>> sums_;
  std::vector<size_t> deferred_;  // layers whose updates wait for all gradients
};

// Steps that calculate derivatives with respect to layers' inputs.
class DerivativeSteps {
 public:
  DerivativeSteps(const MemoryOptions& options, const StepChoices& choices,
                  StepWriter* writer, const ResolvedNetwork& network)
      : options_(options),
        choices_(choices),
        writer_(*writer),
        network_(network),
        needs_derivative_(network.inputs.size(), false),
        is_contained_(network.layers.size(), false) {}

  // Notes whether the layer's output needs a derivative: the layer trains
  // weights, or one of its inputs needs one. Must be called in the order of the
  // forward steps.
  void AddNeed(const ResolvedNetwork::ResolvedLayer& layer) {
    bool needs = layer.is_trained();
    for (const size_t input : layer.inputs) needs |= needs_derivative_[input];
    needs_derivative_.push_back(needs);
  }

  bool NeedsDerivative(size_t value) const { return needs_derivative_[value]; }

  // Returns whether the backward step of layer `l` is part of another step.
  bool IsContained(size_t l) const { return is_contained_[l]; }

  // Adds the step of layer `l` in the form that was chosen for it.
  void Add(size_t l) {
    if (options_.restore_pooled && options_.share_edges &&
        CanRestore(network_, l)) {
      AddSlicedDerivative(l, /*restore=*/true);
    } else if (std::count(choices_.sliced.begin(), choices_.sliced.end(), l) ==
               0) {
      AddDerivative(l);
    } else if (CanSlice(network_, l)) {
      AddSlicedDerivative(l, /*restore=*/false);
    } else {
      AddSlicedSum(l);
    }
  }

 private:
  void AddDerivative(size_t l) {
    const ResolvedNetwork::ResolvedLayer& layer = network_.layers[l];
    bool any = false;
    for (size_t i = 0; i < layer.inputs.size(); ++i) {
      const bool needed =
          needs_derivative_[layer.inputs[i]] &&
          std::count(layer.signature.derivative.writes.begin(),
                     layer.signature.derivative.writes.end(),
                     Operand{Role::kInputDerivative, static_cast<int>(i)}) > 0;
      writer_.layer(l).input_derivatives.push_back(
          needed ? writer_.AddTensor(
                       absl::StrCat(layer.name, " input derivative ", i),
                       TensorKind::kDerivative, network_.spec(layer.inputs[i]))
                 : kNone);
      any |= needed;
    }
    if (!any) return;
    writer_.AddStep(StepKind::kCalculateDerivative, l,
                    layer.signature.derivative);
    for (size_t i = 0; i < layer.inputs.size(); ++i) {
      const size_t tensor = writer_.layer(l).input_derivatives[i];
      if (tensor != kNone) Contribute(l, layer.inputs[i], tensor);
    }
  }

  // Adds one step for the layer's derivative and that of the activation before
  // it.
  void AddSlicedDerivative(size_t l, bool restore) {
    const ResolvedNetwork::ResolvedLayer& layer = network_.layers[l];
    const size_t activation = layer.inputs[0] - network_.inputs.size();
    is_contained_[activation] = true;
    const size_t source = network_.layers[activation].inputs[0];
    if (!needs_derivative_[source]) return;
    StepWriter::LayerTensors& tensors = writer_.layer(l);
    AddSlices(l, restore ? 2 : 1);
    const size_t tensor = writer_.AddTensor(
        absl::StrCat(network_.layers[activation].name, " input derivative 0"),
        TensorKind::kDerivative, network_.spec(source));
    tensors.input_derivatives = {tensor};
    StepUse use = layer.signature.derivative;
    use.writes.push_back({Role::kSlice, 0});
    if (restore) {
      const StepUse& more = layer.signature.restore_input;
      use.reads.insert(use.reads.end(), more.reads.begin(), more.reads.end());
      use.writes.push_back({Role::kSlice, 1});
      use.in_place.clear();
    } else {
      use.reads.push_back({Role::kInput});
      use.in_place = {{{Role::kInputDerivative}, {Role::kInput}}};
    }
    writer_.AddStep(StepKind::kSlicedDerivative, l, use);
    Contribute(activation, source, tensor);
  }

  void AddSlices(size_t l, int count) {
    const ResolvedNetwork::ResolvedLayer& layer = network_.layers[l];
    TensorType slice = network_.spec(layer.inputs[0]);
    slice.shape.set_extent(0, (slice.shape.extent(0) + kSlices - 1) / kSlices);
    for (int i = 0; i < count; ++i) {
      writer_.layer(l).slices.push_back(
          writer_.AddTensor(absl::StrCat(layer.name, " slice ", i),
                            TensorKind::kWorkspace, slice));
    }
  }

  // Adds one step for the layer's derivative and its sum with those of other
  // readers of its input.
  void AddSlicedSum(size_t l) {
    const ResolvedNetwork::ResolvedLayer& layer = network_.layers[l];
    const size_t value = layer.inputs[0];
    if (!needs_derivative_[value]) return;
    AddSlices(l, 1);
    const size_t earlier = writer_.derivative(value);
    const size_t tensor =
        writer_.AddTensor(absl::StrCat(layer.name, " input derivative 0"),
                          TensorKind::kDerivative, network_.spec(value));
    writer_.layer(l).input_derivatives = {tensor};
    StepUse use = layer.signature.derivative;
    use.writes.push_back({Role::kSlice, 0});
    use.in_place.clear();
    if (earlier != kNone) {
      writer_.layer(l).input_derivatives.push_back(earlier);
      use.reads.push_back({Role::kInputDerivative, 1});
      use.in_place.push_back(
          {{Role::kInputDerivative}, {Role::kInputDerivative, 1}});
    }
    use.in_place.push_back(
        {{Role::kInputDerivative}, {Role::kOutputDerivative}});
    writer_.AddStep(StepKind::kSlicedSum, l, use);
    writer_.derivative(value) = tensor;
  }

  // Adds a sum if several layers read the value.
  void Contribute(size_t l, size_t value, size_t tensor) {
    const size_t earlier = writer_.derivative(value);
    writer_.derivative(value) = tensor;
    if (earlier == kNone) return;
    const size_t sum = writer_.AddTensor(
        absl::StrCat(network_.layers[value - network_.inputs.size()].name,
                     " output derivative with ", network_.layers[l].name),
        TensorKind::kDerivative, network_.spec(value));
    writer_.AddSum(StepKind::kSumDerivatives, l, earlier, tensor, sum);
    writer_.derivative(value) = sum;
  }

  const MemoryOptions& options_;
  const StepChoices& choices_;
  StepWriter& writer_;
  const ResolvedNetwork& network_;
  std::vector<bool> needs_derivative_;  // of each value
  std::vector<bool> is_contained_;      // in a sliced step, of each layer
};

// Adds the steps in the order in which they run.
class StepBuilder {
 public:
  StepBuilder(const MemoryOptions& options, const StepChoices& choices,
              std::shared_ptr<const ResolvedNetwork> network)
      : options_(options),
        choices_(choices),
        network_(*network),
        writer_(options, ChoicesByLayer(*network, options, choices), network),
        graph_(writer_.graph()),
        copies_(&writer_, network_),
        updates_(options, &writer_, network_),
        derivatives_(options, choices, &writer_, network_) {}

  absl::StatusOr<StepGraph> Build(const MathBackend& math,
                                  int optimizer_states) {
    graph_.math = &math;
    graph_.optimizer_states = optimizer_states;
    AddInputs();
    if (network_.mode == NetworkMode::kTraining) copies_.Add();
    for (size_t l = 0; l < network_.layers.size(); ++l) AddForward(l);
    if (network_.mode == NetworkMode::kTraining) {
      for (size_t l = network_.layers.size(); l-- > 0;) {
        const absl::Status status = AddBackward(l);
        if (!status.ok()) return status;
      }
      if (options_.clip_global_norm) updates_.AddClip();
      // Every step that may refuse the iteration has run by then.
      if (DefersUpdates(options_)) {
        copies_.AddRestore(network_.layers.size() - 1);
      }
      updates_.AddDeferred();
    }
    return writer_.Finish();
  }

 private:
  void AddInputs() {
    for (const Network::Input& input : network_.inputs) {
      graph_.input_tensors.push_back(
          writer_.AddWholeBatch(input.name, TensorKind::kInput, input.spec));
    }
    values_ = graph_.input_tensors;
  }

  void AddForward(size_t l) {
    const ResolvedNetwork::ResolvedLayer& layer = network_.layers[l];
    const LayerSignature& signature = layer.signature;
    const size_t value = network_.inputs.size() + l;
    // Adds the tensors that the layer reads.
    StepWriter::LayerTensors& tensors = writer_.layer(l);
    tensors.weights = layer.weights_of == l
                          ? writer_.AddWeights(layer, TensorKind::kWeight)
                          : writer_.layer(layer.weights_of).weights;
    updates_.CountUser(layer.weights_of);
    if (network_.mode == NetworkMode::kInference) {
      tensors.statistics =
          writer_.AddWeights(layer, TensorKind::kRunningStatistic);
    }
    if (layer.weights_of == l) AddOptimizerStates(layer, &tensors);
    AddLayerInputs(l);
    if (signature.label.has_value()) {
      tensors.labels = {
          writer_.AddWholeBatch(absl::StrCat(layer.name, " label"),
                                TensorKind::kLabel, *signature.label)};
      graph_.label_tensors = tensors.labels;
    }
    // Adds its output.
    const bool is_output = layer.is_loss() || writer_.IsOutput(value);
    tensors.output = writer_.AddTensor(
        absl::StrCat(layer.name, " output"),
        is_output ? TensorKind::kOutput : TensorKind::kActivation,
        signature.output);
    values_.push_back(tensors.output);
    if (layer.is_loss()) {
      graph_.loss_tensor = tensors.output;
    } else if (is_output) {
      graph_.output_tensors.push_back(tensors.output);
    }
    derivatives_.AddNeed(layer);
    // Without a backward step nothing would read what the layer saves. A layer
    // with weights need not handle that case: it has a backward step unless it
    // is frozen.
    const size_t saved = derivatives_.NeedsDerivative(value) ||
                                 layer.is_loss() || layer.is_frozen
                             ? signature.saved.size()
                             : 0;
    for (size_t i = 0; i < saved; ++i) {
      tensors.saved.push_back(
          writer_.AddTensor(absl::StrCat(layer.name, " saved ", i),
                            TensorKind::kSaved, signature.saved[i]));
    }
    // Adds the forward step, and the steps that follow it at once.
    writer_.AddStep(StepKind::kForward, l, signature.forward);
    if (layer.is_loss() && !DefersUpdates(options_)) copies_.AddRestore(l);
    if (writer_.IsSwapped(l) && !writer_.IsOutput(value)) {
      writer_.AddSwap(StepKind::kSwapOut, l, tensors.output);
    }
  }

  void AddOptimizerStates(const ResolvedNetwork::ResolvedLayer& layer,
                          StepWriter::LayerTensors* tensors) {
    if (network_.mode != NetworkMode::kTraining || layer.is_frozen) return;
    for (const WeightSpec& weight : layer.signature.weights) {
      for (int i = 0; i < graph_.optimizer_states; ++i) {
        tensors->optimizer_states.push_back(writer_.AddTensor(
            absl::StrCat(layer.name, ".", weight.name, " state ", i),
            TensorKind::kOptimizerState, weight.spec));
      }
    }
  }

  // Sets the layer's inputs to the values themselves, or to copies of them.
  void AddLayerInputs(size_t l) {
    const ResolvedNetwork::ResolvedLayer& layer = network_.layers[l];
    for (size_t i = 0; i < layer.inputs.size(); ++i) {
      const size_t value = layer.inputs[i];
      size_t tensor = values_[value];
      if (!options_.share_edges && value >= network_.inputs.size()) {
        const size_t copy =
            writer_.AddTensor(absl::StrCat(layer.name, " input ", i),
                              TensorKind::kActivation, network_.spec(value));
        graph_.steps.push_back({StepKind::kCopyInput,
                                l,
                                {{{Role::kInput}, tensor, true, false},
                                 {{Role::kOutput}, copy, false, true}},
                                {}});
        tensor = copy;
      }
      writer_.layer(l).inputs.push_back(tensor);
    }
  }

  absl::Status AddBackward(size_t l) {
    const ResolvedNetwork::ResolvedLayer& layer = network_.layers[l];
    StepWriter::LayerTensors& tensors = writer_.layer(l);
    const size_t value = network_.inputs.size() + l;
    if (!derivatives_.NeedsDerivative(value) || derivatives_.IsContained(l)) {
      return absl::OkStatus();
    }
    if (!layer.is_loss() && writer_.derivative(value) == kNone) {
      return absl::InvalidArgumentError(
          absl::StrCat("layer \"", layer.name,
                       "\" is to be trained, but no derivative reaches it"));
    }
    const std::vector<WeightSpec>& weights = layer.signature.weights;
    const size_t owner = layer.weights_of;
    const bool is_shared = updates_.IsShared(owner);
    const bool has_gradient =
        !weights.empty() &&
        (layer.is_trained() || !layer.signature.gradient.writes.empty());
    const bool has_tiles = std::count(choices_.tiled_gradients.begin(),
                                      choices_.tiled_gradients.end(), l) > 0;
    for (size_t i = 0; has_gradient && i < weights.size(); ++i) {
      TensorType spec = weights[i].spec;
      const bool is_tile = has_tiles && i == 0;
      if (is_tile) spec.shape.set_extent(0, GradientTileRows(spec));
      tensors.gradients.push_back(writer_.AddTensor(
          absl::StrCat(layer.name, ".", weights[i].name,
                       is_shared ? " share of gradient" : " gradient",
                       is_tile ? " tile" : ""),
          TensorKind::kGradient, spec));
    }
    writer_.Hold(l, layer.signature.gradient);
    writer_.Hold(l, layer.signature.derivative);
    if (has_gradient && !has_tiles) {
      writer_.AddStep(StepKind::kCalculateGradient, l,
                      layer.signature.gradient);
    }
    derivatives_.Add(l);
    // The derivative needs the weights as they were.
    if (has_tiles) updates_.AddTiledUpdate(l);
    writer_.Release(l, layer.signature.gradient);
    writer_.Release(l, layer.signature.derivative);
    if (layer.is_trained() && !has_tiles) updates_.AddUpdate(l);
    return absl::OkStatus();
  }

  const MemoryOptions& options_;
  const StepChoices& choices_;
  const ResolvedNetwork& network_;
  StepWriter writer_;
  StepGraph& graph_;  // of the writer
  StatisticCopies copies_;
  UpdateSteps updates_;
  DerivativeSteps derivatives_;
  std::vector<size_t> values_;  // the tensor of each value
};

}  // namespace

absl::StatusOr<StepGraph> BuildSteps(
    std::shared_ptr<const ResolvedNetwork> network, const MathBackend& math,
    const MemoryOptions& options, int optimizer_states,
    const StepChoices& choices) {
  return StepBuilder(options, choices, std::move(network))
      .Build(math, optimizer_states);
}

}  // namespace footprint
