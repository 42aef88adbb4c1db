#include "footprint/trainer_manager/execution/step_writer.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/base/memory/alignment.h"

namespace footprint {
namespace {

constexpr size_t kMostRecomputations = 16;  // of a layer on average
constexpr int64_t kFileAlignmentBytes = 4096;

}  // namespace

StepWriter::StepWriter(const MemoryOptions& options, LayerChoices choices,
                       std::shared_ptr<const ResolvedNetwork> network)
    : options_(options),
      network_(*network),
      choices_(std::move(choices)),
      layers_(network_.layers.size()),
      derivatives_(network_.inputs.size() + network_.layers.size(), kNone),
      recomputed_tensors_(derivatives_.size(), kNone),
      holds_(derivatives_.size(), 0) {
  graph_.mode = network_.mode;
  graph_.micro_batches = options.micro_batches;
  graph_.network = std::move(network);
}

bool StepWriter::IsKept(TensorKind kind) const {
  switch (kind) {
    case TensorKind::kStatisticCopy:
      return !options_.reuse_activations || graph_.micro_batches > 1;
    case TensorKind::kActivation:
    case TensorKind::kSaved:
    case TensorKind::kReadWeight:
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

size_t StepWriter::AddTensor(std::string name, TensorKind kind,
                             const TensorType& spec) {
  PlannedTensor tensor;
  tensor.name = std::move(name);
  tensor.kind = kind;
  tensor.spec = spec;
  tensor.size_bytes = SizeBytes(spec);
  tensor.is_retained = IsKept(kind);
  graph_.tensors.push_back(std::move(tensor));
  return graph_.tensors.size() - 1;
}

size_t StepWriter::AddWholeBatch(std::string name, TensorKind kind,
                                 const TensorType& spec) {
  const size_t tensor = AddTensor(std::move(name), kind, spec);
  int64_t& size_bytes = graph_.tensors[tensor].size_bytes;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 4;
  size_bytes = size_bytes > kMost / graph_.micro_batches
                   ? kMost  // which no plan can hold
                   : size_bytes * graph_.micro_batches;
  return tensor;
}

std::vector<size_t> StepWriter::AddWeights(
    const ResolvedNetwork::ResolvedLayer& layer, TensorKind kind) {
  const bool are_weights = kind == TensorKind::kWeight;
  std::vector<size_t> tensors;
  for (const WeightSpec& weight :
       are_weights ? layer.signature.weights : layer.signature.statistics) {
    const bool stays_in_file =
        options_.read_frozen_weights &&
        (are_weights ? layer.is_frozen : weight.is_constant);
    tensors.push_back(
        stays_in_file ? kNone
                      : AddTensor(absl::StrCat(layer.name, ".", weight.name),
                                  kind, weight.spec));
  }
  return tensors;
}

// Returns the list that has the operands of the role, or null if these are
// neither weights nor statistics.
std::vector<size_t>* StepWriter::FindWeights(size_t l, Role role) {
  if (role == Role::kWeight) return &layers_[l].weights;
  return role == Role::kRunningStatistic ? &layers_[l].statistics : nullptr;
}

// Returns whether the step only picks rows of a table that stays in its file.
bool StepWriter::ReadsRows(StepKind kind, size_t l) const {
  return network_.layers[l].signature.picks_rows &&
         (kind == StepKind::kForward || kind == StepKind::kRecompute) &&
         layers_[l].weights[0] == kNone;
}

// Returns how many columns of a weight in the file a step has in memory at a
// time: all, unless its layer multiplies by this matrix, which is large.
int64_t StepWriter::ColumnsInMemory(StepKind kind, size_t l,
                                    const WeightSpec& weight,
                                    const Operand& operand) const {
  const LayerSignature& signature = network_.layers[l].signature;
  const int64_t columns = weight.spec.shape.columns();
  const bool has_tiles = kind == StepKind::kForward ||
                         kind == StepKind::kRecompute ||
                         kind == StepKind::kCalculateDerivative;
  const int64_t block = graph_.math->SumBlock();
  if (!has_tiles || block == 0 || !signature.multiplies_by_matrix ||
      !(operand == FindMatrix(signature)) || choices_.keeps_weights[l] ||
      SizeBytes(weight.spec) <= choices_.tile_bytes) {
    return columns;
  }
  const int64_t column_bytes = SizeBytes(weight.spec) / columns;
  const int64_t blocks = choices_.tile_bytes / column_bytes / block;
  return std::min(columns, std::max<int64_t>(1, blocks) * block);
}

// Adds a step that reads the weights of `use` that stay in their file, or their
// first tile, and returns what it writes. The next step must set their indices
// to kNone again, unless the layer keeps them.
std::vector<TensorUse> StepWriter::ReadWeights(StepKind kind, size_t l,
                                               const StepUse& use) {
  PlannedStep step;
  step.kind = StepKind::kReadWeights;
  step.layer = l;
  for (const Operand& operand : use.reads) {
    std::vector<size_t>* const tensors = FindWeights(l, operand.role);
    const size_t index = static_cast<size_t>(operand.index);
    if (tensors == nullptr || index >= tensors->size() ||
        (*tensors)[index] != kNone) {
      continue;
    }
    const WeightSpec& weight = FindWeight(network_, l, operand);
    TensorType spec = weight.spec;
    const int64_t columns = ColumnsInMemory(kind, l, weight, operand);
    if (columns < spec.shape.columns()) {
      spec.shape.set_extent(spec.shape.rank() - 1, columns);
    }
    const size_t owner =
        operand.role == Role::kWeight ? network_.layers[l].weights_of : l;
    (*tensors)[index] =
        AddTensor(absl::StrCat(network_.layers[owner].name, ".", weight.name),
                  TensorKind::kReadWeight, spec);
    step.uses.push_back({operand, (*tensors)[index], false, true});
  }
  if (!step.uses.empty()) graph_.steps.push_back(step);
  return step.uses;
}

bool StepWriter::IsOutput(size_t value) const {
  if (network_.mode == NetworkMode::kTraining && !options_.keep_outputs) {
    return false;
  }
  return std::count(network_.outputs.begin(), network_.outputs.end(), value) >
         0;
}

size_t StepWriter::Lookup(size_t l, Operand operand) const {
  const LayerTensors& tensors = layers_[l];
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
    case Role::kRunningStatistic:
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

// Returns the tensor that holds a value now: `first`, unless it was recomputed.
size_t StepWriter::Again(size_t value, size_t first) const {
  return recomputed_tensors_[value] == kNone ? first
                                             : recomputed_tensors_[value];
}

// Returns the value that the operand is, or kNone.
size_t StepWriter::FindValue(size_t l, const Operand& operand) const {
  if (operand.role == Role::kInput) {
    return network_.layers[l].inputs[static_cast<size_t>(operand.index)];
  }
  return operand.role == Role::kOutput ? network_.inputs.size() + l : kNone;
}

void StepWriter::Hold(size_t l, const StepUse& use) {
  for (const Operand& operand : use.reads) {
    const size_t value = FindValue(l, operand);
    if (value != kNone) ++holds_[value];
  }
}

// Forgets recomputed values that no step holds any more. In a chain of sums,
// each layer would double the number of recomputations, so beyond a limit
// nothing is forgotten.
void StepWriter::Release(size_t l, const StepUse& use) {
  const size_t inputs = network_.inputs.size();
  for (const Operand& operand : use.reads) {
    const size_t value = FindValue(l, operand);
    if (value == kNone || --holds_[value] > 0 || value < inputs) continue;
    if (choices_.forgotten[value - inputs] &&
        !choices_.swapped[value - inputs] &&
        recomputations_ < kMostRecomputations * network_.layers.size()) {
      recomputed_tensors_[value] = kNone;
    }
  }
}

// Recomputes an operand of a backward step if it is not kept.
void StepWriter::EnsureReadable(size_t l, const Operand& operand) {
  const size_t inputs = network_.inputs.size();
  const size_t value = FindValue(l, operand);
  if (value == kNone || value < inputs || recomputed_tensors_[value] != kNone ||
      IsOutput(value)) {
    return;
  }
  const ResolvedNetwork::ResolvedLayer& layer = network_.layers[value - inputs];
  if (choices_.swapped[value - inputs]) {
    recomputed_tensors_[value] =
        AddTensor(absl::StrCat(layer.name, " output back"),
                  TensorKind::kActivation, layer.signature.output);
    AddSwap(StepKind::kSwapIn, value - inputs, recomputed_tensors_[value]);
    return;
  }
  if (!choices_.recomputed[value - inputs]) return;
  ++recomputations_;
  recomputed_tensors_[value] =
      AddTensor(absl::StrCat(layer.name, " output again"),
                TensorKind::kActivation, layer.signature.output);
  AddStep(StepKind::kRecompute, value - inputs, layer.signature.recompute);
}

void StepWriter::AddSwap(StepKind kind, size_t l, size_t tensor) {
  const bool out = kind == StepKind::kSwapOut;
  PlannedStep step;
  step.kind = kind;
  step.layer = l;
  step.uses = {{{out ? Role::kInput : Role::kOutput}, tensor, out, !out}};
  graph_.steps.push_back(std::move(step));
}

void StepWriter::AddStep(StepKind kind, size_t l, const StepUse& use) {
  if (kind != StepKind::kForward) {
    Hold(l, use);
    for (const Operand& operand : use.reads) EnsureReadable(l, operand);
  }
  const bool reads_rows = ReadsRows(kind, l);
  const std::vector<TensorUse> read =
      reads_rows ? std::vector<TensorUse>() : ReadWeights(kind, l, use);
  PlannedStep step;
  step.kind = reads_rows ? StepKind::kReadRows : kind;
  step.layer = l;
  step.in_place = use.in_place;
  const auto add = [&](const Operand& operand, bool read, bool written) {
    for (TensorUse& other : step.uses) {
      if (!(other.operand == operand)) continue;
      other.read |= read;
      other.written |= written;
      return;
    }
    size_t tensor = Lookup(l, operand);
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
  // A step that runs by tiles reads the others over the first.
  if (TileColumns(graph_, step) > 0) {
    add(FindMatrix(network_.layers[l].signature), false, true);
  }
  graph_.steps.push_back(std::move(step));
  for (const TensorUse& weight : read) {
    if (choices_.keeps_weights[l]) break;
    (*FindWeights(
        l, weight.operand.role))[static_cast<size_t>(weight.operand.index)] =
        kNone;
  }
  if (kind != StepKind::kForward) Release(l, use);
}

void StepWriter::AddSum(StepKind kind, size_t l, size_t first, size_t second,
                        size_t sum) {
  graph_.steps.push_back({kind,
                          l,
                          {{{Role::kInput, 0}, first, true, false},
                           {{Role::kInput, 1}, second, true, false},
                           {{Role::kOutput}, sum, false, true}},
                          {{{Role::kOutput}, {Role::kInput, 0}},
                           {{Role::kOutput}, {Role::kInput, 1}}}});
}

StepGraph StepWriter::Finish() {
  PlaceInFile();
  SetLifespans();
  return std::move(graph_);
}

// Gives each swapped tensor its offset in the file, and drops the writes that
// no backward step reads back.
void StepWriter::PlaceInFile() {
  std::vector<int64_t> offsets(network_.layers.size(), 0);
  std::vector<PlannedStep> steps;
  for (PlannedStep& step : graph_.steps) {
    if (step.kind == StepKind::kSwapOut) {
      const size_t value = network_.inputs.size() + step.layer;
      if (recomputed_tensors_[value] == kNone) continue;
      offsets[step.layer] =
          AlignUp(graph_.swap_file_bytes, kFileAlignmentBytes);
      step.file_offset_bytes = offsets[step.layer];
      graph_.swap_file_bytes =
          offsets[step.layer] + graph_.tensors[step.uses[0].tensor].size_bytes;
    } else if (step.kind == StepKind::kSwapIn) {
      step.file_offset_bytes = offsets[step.layer];
    }
    steps.push_back(std::move(step));
  }
  graph_.steps = std::move(steps);
}

void StepWriter::SetLifespans() {
  const int64_t end = static_cast<int64_t>(graph_.steps.size());
  std::vector<bool> seen(graph_.tensors.size(), false);
  for (int64_t s = 0; s < end; ++s) {
    for (const TensorUse& use : graph_.steps[static_cast<size_t>(s)].uses) {
      PlannedTensor& tensor = graph_.tensors[use.tensor];
      if (!seen[use.tensor]) tensor.lower_step = s;
      seen[use.tensor] = true;
      tensor.upper_step = s + 1;
    }
  }
  for (PlannedTensor& tensor : graph_.tensors) {
    if (tensor.is_retained) tensor.upper_step = end;
    // These tensors hold a value before the first step.
    if (tensor.kind <= TensorKind::kLabel) tensor.lower_step = 0;
  }
}

}  // namespace footprint
