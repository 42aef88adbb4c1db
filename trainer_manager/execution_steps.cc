#include "footprint/trainer_manager/execution_steps.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/trainer_manager/placement_problem.h"
#include "footprint/trainer_manager/recomputation.h"

namespace footprint {
namespace {

constexpr size_t kNone = std::numeric_limits<size_t>::max();
constexpr int64_t kSlices = 16;  // of a batch
constexpr int64_t kFileAlignmentBytes = 4096;

using trainer_manager_internal::AlignUp;

class StepBuilder {
 public:
  StepBuilder(const MemoryOptions& options, const StepChoices& choices,
              ExecutionPlan* plan)
      : options_(options),
        choices_(choices),
        plan_(*plan),
        network_(plan->network) {}

  absl::Status Build() {
    AddInputs();
    if (network_.mode == NetworkMode::kTraining) AddStatisticCopies();
    for (size_t l = 0; l < network_.layers.size(); ++l) AddForward(l);
    if (network_.mode == NetworkMode::kTraining) {
      for (size_t l = network_.layers.size(); l-- > 0;) {
        const absl::Status status = AddBackward(l);
        if (!status.ok()) return status;
      }
      if (options_.clip_global_norm) AddClip();
      for (const size_t l : deferred_) AddApply(l);
      PlaceInFile();
    }
    SetLifespans();
    return absl::OkStatus();
  }

 private:
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

  bool IsKept(TensorKind kind) const {
    switch (kind) {
      case TensorKind::kStatisticCopy:
        return !options_.reuse_activations || plan_.micro_batches > 1;
      case TensorKind::kActivation:
      case TensorKind::kSaved:
        return !options_.reuse_activations;
      case TensorKind::kGradient:
        return !options_.share_gradients;
      case TensorKind::kDerivative:
        return !options_.reuse_derivatives;
      case TensorKind::kWorkspace:
        return !options_.reuse_workspaces;
      default:
        return true;
    }
  }

  size_t AddTensor(std::string name, TensorKind kind, const TensorType& spec) {
    PlannedTensor tensor;
    tensor.name = std::move(name);
    tensor.kind = kind;
    tensor.spec = spec;
    tensor.size_bytes = SizeBytes(spec);
    tensor.kept = IsKept(kind);
    plan_.tensors.push_back(std::move(tensor));
    return plan_.tensors.size() - 1;
  }

  // The last tensor holds all micro-batches.
  void TakeWholeBatch() {
    int64_t& size_bytes = plan_.tensors.back().size_bytes;
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 4;
    size_bytes = size_bytes > kMost / plan_.micro_batches
                     ? kMost  // which no plan can place
                     : size_bytes * plan_.micro_batches;
  }

  void AddInputs() {
    for (const Network::Input& input : network_.inputs) {
      plan_.input_tensors.push_back(
          AddTensor(input.name, TensorKind::kInput, input.spec));
      TakeWholeBatch();
    }
    values_ = plan_.input_tensors;
    derivatives_.assign(network_.inputs.size() + network_.layers.size(), kNone);
    needs_derivative_.assign(network_.inputs.size(), false);
    done_.assign(network_.layers.size(), false);
    again_.assign(derivatives_.size(), kNone);
    users_.assign(network_.layers.size(), 0);
    sums_.resize(network_.layers.size());
    recomputed_.assign(network_.layers.size(), false);
    swapped_.assign(network_.layers.size(), false);
    layers_.resize(network_.layers.size());
    if (network_.mode == NetworkMode::kTraining && options_.share_edges) {
      recomputed_ = FindRecomputed(network_, options_.recompute_outputs,
                                   choices_.dropped, choices_.swapped);
      for (const size_t l : choices_.swapped) swapped_[l] = true;
    }
  }

  // Forward steps change statistics before the loss is known. What they were is
  // kept until then.
  void AddStatisticCopies() {
    PlannedStep step;
    step.kind = StepKind::kCopyStatistics;
    step.layer = network_.layers.size() - 1;
    for (size_t l = 0; l < network_.layers.size(); ++l) {
      const ResolvedNetwork::ResolvedLayer& layer = network_.layers[l];
      layers_[l].statistics = AddWeights(layer.name, layer.signature.statistics,
                                         TensorKind::kStatistic);
      for (const size_t statistic : layers_[l].statistics) {
        const TensorType spec = plan_.tensors[statistic].spec;
        const size_t copy =
            AddTensor(absl::StrCat(plan_.tensors[statistic].name, " before"),
                      TensorKind::kStatisticCopy, spec);
        const int index = static_cast<int>(step.uses.size() / 2);
        step.uses.push_back(
            {{Role::kStatistic, index}, statistic, true, false});
        step.uses.push_back({{Role::kSaved, index}, copy, false, true});
      }
    }
    copies_ = step.uses;
    if (!copies_.empty()) plan_.steps.push_back(std::move(step));
  }

  // After the loss: the other way round.
  void AddStatisticRestore(size_t l) {
    if (copies_.empty()) return;
    PlannedStep step;
    step.kind = StepKind::kRestoreStatistics;
    step.layer = l;
    step.uses = copies_;
    for (TensorUse& use : step.uses) std::swap(use.read, use.written);
    plan_.steps.push_back(std::move(step));
  }

  std::vector<size_t> AddWeights(const std::string& layer,
                                 const std::vector<WeightSpec>& weights,
                                 TensorKind kind) {
    std::vector<size_t> tensors;
    for (const WeightSpec& weight : weights) {
      tensors.push_back(
          AddTensor(absl::StrCat(layer, ".", weight.name), kind, weight.spec));
    }
    return tensors;
  }

  bool IsOutput(size_t value) const {
    if (network_.mode == NetworkMode::kTraining && !options_.keep_outputs) {
      return false;
    }
    return std::count(network_.outputs.begin(), network_.outputs.end(), value) >
           0;
  }

  void AddForward(size_t l) {
    const ResolvedNetwork::ResolvedLayer& layer = network_.layers[l];
    const LayerSignature& signature = layer.signature;
    const size_t value = network_.inputs.size() + l;
    LayerTensors& tensors = layers_[l];
    tensors.weights =
        layer.weights_of == l
            ? AddWeights(layer.name, signature.weights, TensorKind::kWeight)
            : layers_[layer.weights_of].weights;
    ++users_[layer.weights_of];
    if (network_.mode == NetworkMode::kInference) {
      tensors.statistics =
          AddWeights(layer.name, signature.statistics, TensorKind::kStatistic);
    }
    if (layer.weights_of == l) AddOptimizerStates(layer, &tensors);
    AddLayerInputs(l);
    if (signature.label.has_value()) {
      tensors.labels = {AddTensor(absl::StrCat(layer.name, " label"),
                                  TensorKind::kLabel, *signature.label)};
      TakeWholeBatch();
      plan_.label_tensors = tensors.labels;
    }
    const bool is_output = layer.is_loss() || IsOutput(value);
    tensors.output =
        AddTensor(absl::StrCat(layer.name, " output"),
                  is_output ? TensorKind::kOutput : TensorKind::kActivation,
                  signature.output);
    values_.push_back(tensors.output);
    if (layer.is_loss()) {
      plan_.loss_tensor = tensors.output;
    } else if (is_output) {
      plan_.output_tensors.push_back(tensors.output);
    }
    for (size_t i = 0; i < signature.saved.size(); ++i) {
      tensors.saved.push_back(AddTensor(absl::StrCat(layer.name, " saved ", i),
                                        TensorKind::kSaved,
                                        signature.saved[i]));
    }
    AddStep(StepKind::kForward, l, signature.forward);
    if (layer.is_loss()) AddStatisticRestore(l);
    if (swapped_[l] && !IsOutput(value))
      AddSwap(StepKind::kSwapOut, l, tensors.output);
    bool needs = !signature.weights.empty();
    for (const size_t input : layer.inputs) needs |= needs_derivative_[input];
    needs_derivative_.push_back(needs);
  }

  void AddOptimizerStates(const ResolvedNetwork::ResolvedLayer& layer,
                          LayerTensors* tensors) {
    if (network_.mode != NetworkMode::kTraining) return;
    for (const WeightSpec& weight : layer.signature.weights) {
      for (int i = 0; i < plan_.optimizer_states; ++i) {
        tensors->optimizer_states.push_back(
            AddTensor(absl::StrCat(layer.name, ".", weight.name, " state ", i),
                      TensorKind::kOptimizerState, weight.spec));
      }
    }
  }

  // The layer's inputs are the values themselves, or copies of them.
  void AddLayerInputs(size_t l) {
    const ResolvedNetwork::ResolvedLayer& layer = network_.layers[l];
    for (size_t i = 0; i < layer.inputs.size(); ++i) {
      const size_t value = layer.inputs[i];
      size_t tensor = values_[value];
      if (!options_.share_edges && value >= network_.inputs.size()) {
        const size_t copy =
            AddTensor(absl::StrCat(layer.name, " input ", i),
                      TensorKind::kActivation, network_.spec(value));
        plan_.steps.push_back({StepKind::kCopyInput,
                               l,
                               {{{Role::kInput}, tensor, true, false},
                                {{Role::kOutput}, copy, false, true}},
                               {}});
        tensor = copy;
      }
      layers_[l].inputs.push_back(tensor);
    }
  }

  size_t Lookup(const LayerTensors& tensors, size_t l, Operand operand) const {
    const auto at = [&operand](const std::vector<size_t>& list) {
      const size_t index = static_cast<size_t>(operand.index);
      return index < list.size() ? list[index] : kNone;
    };
    switch (operand.role) {
      case Role::kInput:
        return at(tensors.inputs) == kNone
                   ? kNone
                   : Again(at(network_.layers[l].inputs), at(tensors.inputs));
      case Role::kLabel:
        return at(tensors.labels);
      case Role::kOutput:
        return Again(network_.inputs.size() + l, tensors.output);
      case Role::kWeight:
        return at(tensors.weights);
      case Role::kStatistic:
        return at(tensors.statistics);
      case Role::kSaved:
        return at(tensors.saved);
      case Role::kGradient:
        return at(tensors.gradients);
      case Role::kInputDerivative:
        return at(tensors.input_derivatives);
      case Role::kOutputDerivative:
        return derivatives_[network_.inputs.size() + l];
      case Role::kOptimizerState:
        return at(tensors.optimizer_states);
      case Role::kSlice:
        return at(tensors.slices);
      case Role::kWorkspace:
        break;
    }
    return kNone;
  }

  // The tensor that holds a value now: `first`, unless it was recomputed.
  size_t Again(size_t value, size_t first) const {
    return again_[value] == kNone ? first : again_[value];
  }

  // Calculates an operand of a backward step again if it is not kept.
  void EnsureReadable(size_t l, const Operand& operand) {
    const size_t inputs = network_.inputs.size();
    size_t value = inputs + l;
    if (operand.role == Role::kInput) {
      value = network_.layers[l].inputs[static_cast<size_t>(operand.index)];
    } else if (operand.role != Role::kOutput) {
      return;
    }
    if (value < inputs || again_[value] != kNone || IsOutput(value)) return;
    const ResolvedNetwork::ResolvedLayer& layer =
        network_.layers[value - inputs];
    if (swapped_[value - inputs]) {
      again_[value] =
          AddTensor(absl::StrCat(layer.name, " output back"),
                    TensorKind::kActivation, layer.signature.output);
      AddSwap(StepKind::kSwapIn, value - inputs, again_[value]);
      return;
    }
    if (!recomputed_[value - inputs]) return;
    again_[value] = AddTensor(absl::StrCat(layer.name, " output again"),
                              TensorKind::kActivation, layer.signature.output);
    AddStep(StepKind::kRecompute, value - inputs, layer.signature.recompute);
  }

  void AddSwap(StepKind kind, size_t l, size_t tensor) {
    const bool out = kind == StepKind::kSwapOut;
    PlannedStep step;
    step.kind = kind;
    step.layer = l;
    step.uses = {{{out ? Role::kInput : Role::kOutput}, tensor, out, !out}};
    plan_.steps.push_back(std::move(step));
  }

  // Gives what is swapped its place in the file, and leaves out what no
  // backward step asked for.
  void PlaceInFile() {
    std::vector<int64_t> offsets(network_.layers.size(), 0);
    std::vector<PlannedStep> steps;
    for (PlannedStep& step : plan_.steps) {
      if (step.kind == StepKind::kSwapOut) {
        if (again_[network_.inputs.size() + step.layer] == kNone) continue;
        offsets[step.layer] =
            AlignUp(plan_.swap_file_bytes, kFileAlignmentBytes);
        step.file_offset_bytes = offsets[step.layer];
        plan_.swap_file_bytes =
            offsets[step.layer] + plan_.tensors[step.uses[0].tensor].size_bytes;
      } else if (step.kind == StepKind::kSwapIn) {
        step.file_offset_bytes = offsets[step.layer];
      }
      steps.push_back(std::move(step));
    }
    plan_.steps = std::move(steps);
  }

  // Operands that do not exist, as a derivative that nobody needs, are left
  // out; a workspace is a tensor of this step alone.
  void AddStep(StepKind kind, size_t l, const StepUse& use) {
    if (kind != StepKind::kForward) {
      for (const Operand& operand : use.reads) EnsureReadable(l, operand);
    }
    PlannedStep step;
    step.kind = kind;
    step.layer = l;
    step.in_place = use.in_place;
    const auto add = [&](const Operand& operand, bool read, bool written) {
      for (TensorUse& other : step.uses) {
        if (!(other.operand == operand)) continue;
        other.read |= read;
        other.written |= written;
        return;
      }
      size_t tensor = Lookup(layers_[l], l, operand);
      if (operand.role == Role::kWorkspace) {
        const ResolvedNetwork::ResolvedLayer& layer = network_.layers[l];
        tensor = AddTensor(
            absl::StrCat(layer.name, " workspace ", operand.index),
            TensorKind::kWorkspace,
            layer.signature.workspaces[static_cast<size_t>(operand.index)]);
      }
      if (tensor == kNone) return;
      step.uses.push_back({operand, tensor, read, written});
    };
    for (const Operand& operand : use.reads) add(operand, true, false);
    for (const Operand& operand : use.writes) add(operand, false, true);
    plan_.steps.push_back(std::move(step));
  }

  absl::Status AddBackward(size_t l) {
    const ResolvedNetwork::ResolvedLayer& layer = network_.layers[l];
    LayerTensors& tensors = layers_[l];
    const size_t value = network_.inputs.size() + l;
    if (!needs_derivative_[value] || done_[l]) return absl::OkStatus();
    if (!layer.is_loss() && derivatives_[value] == kNone) {
      return absl::InvalidArgumentError(
          absl::StrCat("layer \"", layer.name,
                       "\" is to be trained, but no derivative reaches it"));
    }
    const std::vector<WeightSpec>& weights = layer.signature.weights;
    for (const WeightSpec& weight : weights) {
      tensors.gradients.push_back(
          AddTensor(absl::StrCat(layer.name, ".", weight.name, " gradient"),
                    TensorKind::kGradient, weight.spec));
    }
    if (!weights.empty()) {
      AddStep(StepKind::kCalculateGradient, l, layer.signature.gradient);
    }
    if (options_.restore_pooled && options_.share_edges &&
        CanRestore(network_, l)) {
      AddSlicedDerivative(l, /*restore=*/true);
    } else if (std::count(choices_.sliced.begin(), choices_.sliced.end(), l) >
               0) {
      AddSlicedDerivative(l, /*restore=*/false);
    } else {
      AddDerivative(l);
    }
    if (!weights.empty()) AddUpdate(l);
    return absl::OkStatus();
  }

  // Applies gradients once all users of the weights have contributed to them.
  void AddUpdate(size_t l) {
    const size_t owner = network_.layers[l].weights_of;
    if (sums_[owner].empty()) {
      sums_[owner] = layers_[l].gradients;
    } else {
      for (size_t i = 0; i < sums_[owner].size(); ++i) {
        sums_[owner][i] = AddSumOfGradients(l, i, sums_[owner][i]);
      }
    }
    if (--users_[owner] > 0) return;
    layers_[owner].gradients = sums_[owner];
    if (plan_.micro_batches > 1) Accumulate(owner);
    if (options_.share_gradients && !options_.clip_global_norm) {
      AddApply(owner);
    } else {
      deferred_.push_back(owner);
    }
  }

  // Replaces the layer's gradients by their sums over micro-batches.
  void Accumulate(size_t l) {
    const ResolvedNetwork::ResolvedLayer& layer = network_.layers[l];
    for (size_t i = 0; i < layers_[l].gradients.size(); ++i) {
      const WeightSpec& weight = layer.signature.weights[i];
      const size_t sum = AddTensor(
          absl::StrCat(layer.name, ".", weight.name, " sum of gradients"),
          TensorKind::kGradientSum, weight.spec);
      PlannedStep step;
      step.kind = StepKind::kAccumulateGradient;
      step.layer = l;
      step.uses = {{{Role::kInput}, layers_[l].gradients[i], true, false},
                   {{Role::kOutput}, sum, true, true}};
      plan_.steps.push_back(std::move(step));
      layers_[l].gradients[i] = sum;
    }
  }

  size_t AddSumOfGradients(size_t l, size_t weight, size_t earlier) {
    const PlannedTensor& gradient = plan_.tensors[earlier];
    const size_t sum = AddTensor(
        absl::StrCat(gradient.name, " with ", network_.layers[l].name),
        TensorKind::kGradient, gradient.spec);
    AddSum(StepKind::kSumGradients, l, earlier, layers_[l].gradients[weight],
           sum);
    return sum;
  }

  void AddSum(StepKind kind, size_t l, size_t first, size_t second,
              size_t sum) {
    plan_.steps.push_back({kind,
                           l,
                           {{{Role::kInput, 0}, first, true, false},
                            {{Role::kInput, 1}, second, true, false},
                            {{Role::kOutput}, sum, false, true}},
                           {{{Role::kOutput}, {Role::kInput, 0}},
                            {{Role::kOutput}, {Role::kInput, 1}}}});
  }

  // A step of the loss, which sees all gradients, in the order of the layers.
  void AddClip() {
    PlannedStep step;
    step.kind = StepKind::kClipGradients;
    step.layer = network_.layers.size() - 1;
    for (size_t l = 0; l < layers_.size(); ++l) {
      if (std::count(deferred_.begin(), deferred_.end(), l) == 0) continue;
      for (const size_t gradient : layers_[l].gradients) {
        const int index = static_cast<int>(step.uses.size());
        step.uses.push_back({{Role::kGradient, index}, gradient, true, true});
      }
    }
    plan_.steps.push_back(std::move(step));
  }

  void AddDerivative(size_t l) {
    const ResolvedNetwork::ResolvedLayer& layer = network_.layers[l];
    bool any = false;
    for (size_t i = 0; i < layer.inputs.size(); ++i) {
      const bool needed =
          needs_derivative_[layer.inputs[i]] &&
          std::count(layer.signature.derivative.writes.begin(),
                     layer.signature.derivative.writes.end(),
                     Operand{Role::kInputDerivative, static_cast<int>(i)}) > 0;
      layers_[l].input_derivatives.push_back(
          needed ? AddTensor(absl::StrCat(layer.name, " input derivative ", i),
                             TensorKind::kDerivative,
                             network_.spec(layer.inputs[i]))
                 : kNone);
      any |= needed;
    }
    if (!any) return;
    AddStep(StepKind::kCalculateDerivative, l, layer.signature.derivative);
    for (size_t i = 0; i < layer.inputs.size(); ++i) {
      const size_t tensor = layers_[l].input_derivatives[i];
      if (tensor != kNone) Contribute(l, layer.inputs[i], tensor);
    }
  }

  // The layer's derivative and that of the activation before it, in one step.
  void AddSlicedDerivative(size_t l, bool restore) {
    const ResolvedNetwork::ResolvedLayer& layer = network_.layers[l];
    const size_t activation = layer.inputs[0] - network_.inputs.size();
    done_[activation] = true;
    const size_t source = network_.layers[activation].inputs[0];
    if (!needs_derivative_[source]) return;
    TensorType slice = network_.spec(layer.inputs[0]);
    slice.shape.set_extent(0, (slice.shape.extent(0) + kSlices - 1) / kSlices);
    LayerTensors& tensors = layers_[l];
    for (int i = 0; i <= (restore ? 1 : 0); ++i) {
      tensors.slices.push_back(AddTensor(absl::StrCat(layer.name, " slice ", i),
                                         TensorKind::kWorkspace, slice));
    }
    const size_t tensor = AddTensor(
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
    AddStep(StepKind::kSlicedDerivative, l, use);
    Contribute(activation, source, tensor);
  }

  // A value that several layers read has the sum of their derivatives.
  void Contribute(size_t l, size_t value, size_t tensor) {
    const size_t earlier = derivatives_[value];
    derivatives_[value] = tensor;
    if (earlier == kNone) return;
    const size_t sum = AddTensor(
        absl::StrCat(network_.layers[value - network_.inputs.size()].name,
                     " output derivative with ", network_.layers[l].name),
        TensorKind::kDerivative, network_.spec(value));
    AddSum(StepKind::kSumDerivatives, l, earlier, tensor, sum);
    derivatives_[value] = sum;
  }

  void AddApply(size_t l) {
    StepUse use;
    const LayerTensors& tensors = layers_[l];
    for (size_t i = 0; i < tensors.weights.size(); ++i) {
      const int index = static_cast<int>(i);
      use.reads.push_back({Role::kGradient, index});
      use.writes.push_back({Role::kGradient, index});  // to clip it
      use.writes.push_back({Role::kWeight, index});
    }
    for (size_t i = 0; i < tensors.optimizer_states.size(); ++i) {
      use.writes.push_back({Role::kOptimizerState, static_cast<int>(i)});
    }
    AddStep(StepKind::kApplyGradient, l, use);
  }

  void SetLifespans() {
    const int64_t end = static_cast<int64_t>(plan_.steps.size());
    std::vector<bool> seen(plan_.tensors.size(), false);
    for (int64_t s = 0; s < end; ++s) {
      for (const TensorUse& use : plan_.steps[static_cast<size_t>(s)].uses) {
        PlannedTensor& tensor = plan_.tensors[use.tensor];
        if (!seen[use.tensor]) tensor.lower_step = s;
        seen[use.tensor] = true;
        tensor.upper_step = s + 1;
      }
    }
    for (PlannedTensor& tensor : plan_.tensors) {
      if (tensor.kept) tensor.upper_step = end;
      // These hold something before the first step.
      if (tensor.kind <= TensorKind::kLabel) tensor.lower_step = 0;
    }
  }

  const MemoryOptions& options_;
  const StepChoices& choices_;
  ExecutionPlan& plan_;
  const ResolvedNetwork& network_;
  std::vector<LayerTensors> layers_;
  std::vector<size_t> values_;       // tensor of each value
  std::vector<size_t> derivatives_;  // of each value, as far as known
  std::vector<bool> needs_derivative_;
  std::vector<size_t> again_;      // of each value, its recomputed tensor
  std::vector<bool> recomputed_;   // layers whose output is not kept
  std::vector<bool> swapped_;      // layers whose output goes to the file
  std::vector<TensorUse> copies_;  // of statistics: each, then its copy
  std::vector<bool> done_;  // layers whose derivative a sliced step contains
  std::vector<int> users_;  // of each layer's weights, still to contribute
  std::vector<std::vector<size_t>> sums_;  // of the gradients of a layer's
                                           // weights, as far as known
  std::vector<size_t> deferred_;  // layers whose gradients wait for the end
};

}  // namespace

absl::Status BuildSteps(ResolvedNetwork network, const MemoryOptions& options,
                        int optimizer_states, const StepChoices& choices,
                        ExecutionPlan* plan) {
  plan->mode = network.mode;
  plan->network = std::move(network);
  plan->optimizer_states = optimizer_states;
  plan->micro_batches = options.micro_batches;
  return StepBuilder(options, choices, plan).Build();
}

}  // namespace footprint
