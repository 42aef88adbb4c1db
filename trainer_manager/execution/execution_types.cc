#include "footprint/trainer_manager/execution/execution_types.h"

#include "absl/strings/str_cat.h"
#include "footprint/base/files/fingerprint.h"
#include "footprint/trainer_manager/networks/parameter_group.h"

namespace footprint {
namespace {

double CountProducts(const StepGraph& graph, StepKind kind) {
  double products = 0;
  for (const PlannedStep& step : graph.steps) {
    if (step.kind != kind) continue;
    products += graph.network->layers[step.layer].signature.recompute_products;
  }
  return products;
}

// A hash of a sequence of numbers and texts.
class PlanHash {
 public:
  void Add(int64_t value) { hash_ = Fingerprint(&value, sizeof(value), hash_); }
  void Add(absl::string_view text) {
    Add(static_cast<int64_t>(text.size()));
    hash_ = Fingerprint(text.data(), static_cast<int64_t>(text.size()), hash_);
  }
  void Add(const std::vector<size_t>& numbers) {
    Add(static_cast<int64_t>(numbers.size()));
    for (const size_t number : numbers) Add(static_cast<int64_t>(number));
  }
  void Add(const TensorType& spec) {
    Add(static_cast<int64_t>(spec.type));
    for (const int64_t extent : spec.shape.extents()) Add(extent);
  }
  void Add(const std::vector<WeightSpec>& weights) {
    for (const WeightSpec& weight : weights) {
      Add(weight.name);
      Add(weight.spec);
    }
  }
  void Add(const ParameterGroup& group) {
    Add(static_cast<int64_t>(group.frozen) * 2 +
        group.weight_decay.has_value());
    AddFloat(group.rate_factor);
    AddFloat(group.weight_decay.value_or(0));
  }
  void AddFloat(float value) {
    hash_ = Fingerprint(&value, sizeof(value), hash_);
  }
  void Add(const PlannedTensor& tensor) {
    Add(tensor.name);
    Add(static_cast<int64_t>(tensor.kind) * 2 + tensor.is_retained);
    Add(tensor.spec);
    Add(tensor.size_bytes);
    Add(tensor.lower_step);
    Add(tensor.upper_step);
  }
  void Add(const Storage& storage) {
    Add(static_cast<int64_t>(storage.storage_class));
    Add(storage.size_bytes);
    Add(storage.lower_step);
    Add(storage.upper_step);
    Add(storage.tensors);
  }
  void Add(const PlannedStep& step) {
    Add(static_cast<int64_t>(step.kind));
    Add(static_cast<int64_t>(step.layer));
    Add(step.file_offset_bytes);
    Add(static_cast<int64_t>(step.uses.size()));
    for (const TensorUse& use : step.uses) {
      Add(static_cast<int64_t>(use.operand.role) * 4 + use.read * 2 +
          use.written);
      Add(use.operand.index);
      Add(static_cast<int64_t>(use.tensor));
    }
  }
  void Add(const ResolvedNetwork::ResolvedLayer& layer) {
    Add(layer.name);
    Add(layer.layer == nullptr ? "" : layer.layer->type());
    Add(layer.inputs);
    Add(static_cast<int64_t>(layer.weights_of));
    Add(layer.signature.weights);
    Add(layer.signature.statistics);
  }
  void Add(const ResolvedNetwork& network) {
    Add(static_cast<int64_t>(network.inputs.size()));
    AddAll(network.layers);
    AddAll(network.groups);
    AddAll(network.group_of);
    Add(network.outputs);
  }
  template <typename Record>
  void AddAll(const std::vector<Record>& records) {
    Add(static_cast<int64_t>(records.size()));
    for (const Record& record : records) Add(record);
  }

  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = kFingerprintOfNothing;
};

}  // namespace

MemoryOptions MemoryOptions::Debug() {
  MemoryOptions options;
  options.share_gradients = false;
  options.share_edges = false;
  options.reuse_activations = false;
  options.reuse_derivatives = false;
  options.in_place = false;
  options.reuse_workspaces = false;
  options.slice_derivatives = false;
  options.recompute_outputs = false;
  options.restore_pooled = false;
  options.pack_winners = false;
  options.keep_outputs = true;
  return options;
}

absl::string_view TensorKindName(TensorKind kind) {
  static constexpr absl::string_view kNames[kTensorKinds] = {
      "weight",          "statistic",
      "optimizer state", "sum of gradients",
      "input",           "label",
      "output",          "copy of a statistic",
      "activation",      "saved",
      "gradient",        "derivative",
      "workspace",       "weight from its file"};
  return kNames[static_cast<int>(kind)];
}

absl::string_view StepKindName(StepKind kind) {
  switch (kind) {
    case StepKind::kForward:
      return "forward";
    case StepKind::kCopyInput:
      return "copy input";
    case StepKind::kCalculateGradient:
      return "calculate gradient";
    case StepKind::kCalculateDerivative:
      return "calculate derivative";
    case StepKind::kSlicedDerivative:
      return "calculate derivative by slices";
    case StepKind::kSlicedSum:
      return "add derivative by slices";
    case StepKind::kRecompute:
      return "recompute";
    case StepKind::kSumDerivatives:
      return "sum derivatives";
    case StepKind::kSumGradients:
      return "sum gradients";
    case StepKind::kAccumulateGradient:
      return "accumulate gradient";
    case StepKind::kClipGradients:
      return "clip gradients";
    case StepKind::kApplyGradient:
      return "apply gradient";
    case StepKind::kApplyGradientTiles:
      return "calculate and apply gradient by tiles";
    case StepKind::kCopyStatistics:
      return "copy statistics";
    case StepKind::kRestoreStatistics:
      return "restore statistics";
    case StepKind::kSwapOut:
      return "swap out";
    case StepKind::kSwapIn:
      return "swap in";
    case StepKind::kReadWeights:
      return "read weights";
    case StepKind::kReadRows:
      return "read rows";
  }
  return "unknown";
}

std::vector<std::string> StepGraph::LayersOfPartStatistics() const {
  std::vector<std::string> names;
  if (micro_batches == 1) return names;
  for (const ResolvedNetwork::ResolvedLayer& layer : network->layers) {
    if (layer.depends_on_batch()) names.push_back(layer.name);
  }
  return names;
}

int64_t StepGraph::weight_bytes_read_per_iteration() const {
  int64_t bytes = 0;
  for (const PlannedStep& step : steps) {
    for (const TensorUse& use : step.uses) {
      if (step.kind == StepKind::kReadWeights) {
        bytes += SizeBytes(FindWeight(*network, step.layer, use.operand).spec);
      } else if (step.kind == StepKind::kReadRows && use.written) {
        bytes += tensors[use.tensor].size_bytes;
      }
    }
  }
  return bytes * micro_batches;
}

double StepGraph::forward_products() const {
  return CountProducts(*this, StepKind::kForward);
}

double StepGraph::recompute_products() const {
  return CountProducts(*this, StepKind::kRecompute);
}

const WeightSpec& FindWeight(const ResolvedNetwork& network, size_t layer,
                             const Operand& operand) {
  const ResolvedNetwork::ResolvedLayer& resolved = network.layers[layer];
  const auto index = static_cast<size_t>(operand.index);
  return operand.role == Role::kWeight
             ? network.layers[resolved.weights_of].signature.weights[index]
             : resolved.signature.statistics[index];
}

int64_t TileColumns(const StepGraph& graph, const PlannedStep& step) {
  const LayerSignature& signature = graph.network->layers[step.layer].signature;
  if (!signature.multiplies_by_matrix) return 0;
  const Operand matrix = FindMatrix(signature);
  for (const TensorUse& use : step.uses) {
    const PlannedTensor& tensor = graph.tensors[use.tensor];
    if (!(use.operand == matrix) || tensor.kind != TensorKind::kReadWeight) {
      continue;
    }
    const int64_t columns = tensor.spec.shape.columns();
    const TensorType& whole =
        FindWeight(*graph.network, step.layer, matrix).spec;
    return columns < whole.shape.columns() ? columns : 0;
  }
  return 0;
}

size_t TensorAt(const StepGraph& graph, const Storage& storage, int64_t step) {
  size_t written = storage.tensors[0];
  size_t live = graph.tensors.size();
  for (const size_t t : storage.tensors) {
    if (graph.tensors[t].lower_step > step) continue;
    written = t;
    if (graph.tensors[t].upper_step > step) live = t;
  }
  return live == graph.tensors.size() ? written : live;
}

std::vector<int64_t> LiveBytesByKind(const StorageGraph& graph, int64_t step) {
  std::vector<int64_t> bytes(kTensorKinds, 0);
  for (const Storage& storage : graph.storages) {
    if (storage.storage_class == StorageClass::kUser) continue;
    if (storage.storage_class == StorageClass::kArena &&
        (step < storage.lower_step || step >= storage.upper_step)) {
      continue;
    }
    const PlannedTensor& tensor = graph.tensors[TensorAt(graph, storage, step)];
    bytes[static_cast<size_t>(tensor.kind)] += storage.size_bytes;
  }
  return bytes;
}

std::string StepName(const StepGraph& graph, int64_t step) {
  const PlannedStep& planned = graph.steps[static_cast<size_t>(step)];
  const bool by_tiles =
      planned.kind != StepKind::kReadWeights && TileColumns(graph, planned) > 0;
  return absl::StrCat(graph.network->layers[planned.layer].name, ": ",
                      StepKindName(planned.kind), by_tiles ? " by tiles" : "");
}

uint64_t PlanFingerprint(const ExecutionPlan& plan) {
  PlanHash hash;
  hash.Add(static_cast<int64_t>(plan.mode));
  hash.Add(plan.optimizer_states);
  hash.Add(plan.micro_batches);
  if (plan.network != nullptr) hash.Add(*plan.network);
  hash.AddAll(plan.tensors);
  hash.Add(plan.storage_of);
  hash.AddAll(plan.storages);
  hash.AddAll(plan.offsets_bytes);
  hash.AddAll(plan.steps);
  hash.Add(plan.input_tensors);
  hash.Add(plan.label_tensors);
  hash.Add(plan.output_tensors);
  hash.Add(static_cast<int64_t>(plan.loss_tensor));
  hash.Add(plan.swap_file_bytes);
  hash.Add(plan.model_bytes);
  hash.Add(plan.fixed_bytes);
  hash.Add(plan.arena_bytes);
  return hash.value();
}

absl::Status CheckUnedited(const ExecutionPlan& plan) {
  if (plan.fingerprint == PlanFingerprint(plan)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "the plan is not as PlanExecution made it: do not edit a plan, but plan "
      "with other options");
}

}  // namespace footprint
