#include "footprint/trainer_manager/execution_plan.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/trainer_manager/execution_steps.h"
#include "footprint/trainer_manager/lower_bound.h"
#include "footprint/trainer_manager/planner.h"

namespace footprint {
namespace {

// Where sweeps miss the bound, the exact search gets a tenth of a second for
// each plan; slicing plans anew for every derivative.
constexpr int64_t kNodeLimit = 100'000;

StorageClass ClassOf(TensorKind kind, NetworkMode mode) {
  switch (kind) {
    case TensorKind::kWeight:
    case TensorKind::kStatistic:
      return StorageClass::kModel;
    case TensorKind::kInput:
      return mode == NetworkMode::kInference ? StorageClass::kUser
                                             : StorageClass::kFixed;
    case TensorKind::kOptimizerState:
    case TensorKind::kGradientSum:
    case TensorKind::kLabel:
    case TensorKind::kOutput:
      return StorageClass::kFixed;
    default:
      return StorageClass::kArena;
  }
}

// Lets tensors share storages where a step may write what it reads.
class StorageSharing {
 public:
  explicit StorageSharing(ExecutionPlan* plan) : plan_(*plan) {}

  void OneEach() {
    for (size_t t = 0; t < plan_.tensors.size(); ++t) {
      PlannedTensor& tensor = plan_.tensors[t];
      tensor.storage = plan_.storages.size();
      Storage storage;
      storage.storage_class = ClassOf(tensor.kind, plan_.mode);
      storage.size_bytes = tensor.size_bytes;
      storage.lower_step = tensor.lower_step;
      storage.upper_step = tensor.upper_step;
      storage.tensors = {t};
      plan_.storages.push_back(std::move(storage));
    }
  }

  void Share() {
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      for (const InPlace& in_place : plan_.steps[s].in_place) {
        const TensorUse* written = Find(s, in_place.written);
        const TensorUse* read = Find(s, in_place.read);
        if (written == nullptr || read == nullptr) continue;
        if (IsLegal(s, *written, *read, in_place.same_bytes)) {
          Merge(written->tensor, read->tensor);
        }
      }
    }
  }

  void DropEmpty() {
    std::vector<Storage> left;
    for (Storage& storage : plan_.storages) {
      if (storage.tensors.empty()) continue;
      for (const size_t t : storage.tensors) {
        plan_.tensors[t].storage = left.size();
      }
      left.push_back(std::move(storage));
    }
    plan_.storages = std::move(left);
  }

 private:
  const TensorUse* Find(size_t s, const Operand& operand) const {
    for (const TensorUse& use : plan_.steps[s].uses) {
      if (use.operand == operand) return &use;
    }
    return nullptr;
  }

  // Whether the step allows `written` to lie on that operand, too.
  bool IsAllowed(size_t s, const Operand& written, const Operand& read) const {
    for (const InPlace& in_place : plan_.steps[s].in_place) {
      if (in_place.written == written && in_place.read == read) return true;
    }
    return false;
  }

  bool IsLegal(size_t s, const TensorUse& written, const TensorUse& read,
               bool same_bytes) const {
    const PlannedTensor& target = plan_.tensors[written.tensor];
    const Storage& own = plan_.storages[target.storage];
    const Storage& shared = plan_.storages[plan_.tensors[read.tensor].storage];
    if (own.tensors.size() != 1 || &own == &shared ||
        target.size_bytes != shared.size_bytes ||
        target.lower_step != static_cast<int64_t>(s)) {
      return false;
    }
    return HasFittingClass(own, shared, same_bytes) &&
           (same_bytes || IsLastReader(s, shared)) &&
           NoOtherOperandSuffers(s, written, shared, same_bytes);
  }

  static bool HasFittingClass(const Storage& own, const Storage& shared,
                              bool same_bytes) {
    if (own.storage_class != StorageClass::kArena) {
      // An output may be prepared at its final place, but not share it with
      // another's.
      return own.storage_class == StorageClass::kFixed &&
             shared.storage_class == StorageClass::kArena;
    }
    return shared.storage_class == StorageClass::kArena || same_bytes;
  }

  bool IsLastReader(size_t s, const Storage& shared) const {
    for (const size_t t : shared.tensors) {
      const PlannedTensor& tensor = plan_.tensors[t];
      if (tensor.kept || tensor.upper_step > static_cast<int64_t>(s) + 1) {
        return false;
      }
    }
    return true;
  }

  bool NoOtherOperandSuffers(size_t s, const TensorUse& written,
                             const Storage& shared, bool same_bytes) const {
    for (const TensorUse& use : plan_.steps[s].uses) {
      if (use.operand == written.operand ||
          &plan_.storages[plan_.tensors[use.tensor].storage] != &shared) {
        continue;
      }
      if (use.written && !same_bytes) return false;
      if (!same_bytes && !IsAllowed(s, written.operand, use.operand)) {
        return false;
      }
    }
    return true;
  }

  void Merge(size_t written, size_t read) {
    Storage& from = plan_.storages[plan_.tensors[written].storage];
    Storage& to = plan_.storages[plan_.tensors[read].storage];
    plan_.tensors[written].storage = plan_.tensors[read].storage;
    if (from.storage_class == StorageClass::kFixed) {
      to.storage_class = StorageClass::kFixed;
    }
    to.lower_step = std::min(to.lower_step, from.lower_step);
    to.upper_step = std::max(to.upper_step, from.upper_step);
    to.tensors.push_back(written);
    from.tensors.clear();
  }

  ExecutionPlan& plan_;
};

int64_t RoundUp(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// One after the other, each for as long as its memory lives.
absl::Status PlaceSideBySide(StorageClass storage_class, int64_t alignment,
                             std::vector<Storage>* storages, int64_t* bytes) {
  *bytes = 0;
  for (Storage& storage : *storages) {
    if (storage.storage_class != storage_class) continue;
    storage.offset_bytes = RoundUp(*bytes, alignment);
    if (storage.size_bytes > INT64_MAX / 4 - storage.offset_bytes) {
      return absl::OutOfRangeError("the tensors need more than 2^61 bytes");
    }
    *bytes = storage.offset_bytes + storage.size_bytes;
  }
  return absl::OkStatus();
}

// What the arena's storages ask of the planner.
std::vector<TensorRequest> RequestArena(int64_t alignment,
                                        ExecutionPlan* plan) {
  std::vector<TensorRequest> requests;
  for (size_t i = 0; i < plan->storages.size(); ++i) {
    const Storage& storage = plan->storages[i];
    if (storage.storage_class != StorageClass::kArena) continue;
    requests.push_back({plan->tensors[storage.tensors[0]].name,
                        storage.lower_step, storage.upper_step,
                        storage.size_bytes, alignment});
    plan->arena_storages.push_back(i);
  }
  return requests;
}

absl::Status PlaceInArena(int64_t alignment, ExecutionPlan* plan) {
  const std::vector<TensorRequest> requests = RequestArena(alignment, plan);
  PlanOptions plan_options;
  plan_options.node_limit = kNodeLimit;
  absl::StatusOr<MemoryPlan> arena = PlanMemory(requests, plan_options);
  if (!arena.ok()) return arena.status();
  plan->arena = *std::move(arena);
  for (size_t i = 0; i < requests.size(); ++i) {
    plan->storages[plan->arena_storages[i]].offset_bytes =
        plan->arena.offsets_bytes[i];
  }
  return absl::OkStatus();
}

// Plans with everything given but the choices, and looks for good ones.
class PlanSearch {
 public:
  PlanSearch(const ResolvedNetwork& network, const MathBackend& math,
             const MemoryOptions& options, int optimizer_states)
      : network_(network),
        math_(math),
        options_(options),
        optimizer_states_(optimizer_states) {}

  // Only what is bounded: the arena has a lower bound, but no places.
  absl::StatusOr<ExecutionPlan> Bound(const StepChoices& choices) const {
    absl::StatusOr<ExecutionPlan> plan = BuildStorages(choices);
    if (!plan.ok()) return plan;
    const std::vector<TensorRequest> requests =
        RequestArena(options_.alignment_bytes, &*plan);
    const absl::Status status = CheckRequests(requests);
    if (!status.ok()) return status;
    plan->arena.lower_bound = ComputeLowerBound(requests);
    return plan;
  }

  absl::StatusOr<ExecutionPlan> Plan(const StepChoices& choices) const {
    absl::StatusOr<ExecutionPlan> plan = BuildStorages(choices);
    if (!plan.ok()) return plan;
    const absl::Status status = PlaceInArena(options_.alignment_bytes, &*plan);
    if (!status.ok()) return status;
    return plan;
  }

  // Slices one derivative after the other, as the certificate asks for, as long
  // as that lowers the bound, which `bounded` is of.
  absl::Status Slice(StepChoices* choices, ExecutionPlan* bounded) const {
    if (!MaySlice()) return absl::OkStatus();
    StepChoices trial = *choices;
    int64_t last_bytes = bounded->bound_bytes();
    ExecutionPlan last = *bounded;
    for (size_t round = 0; round < network_.layers.size(); ++round) {
      const size_t layer = LayerToSlice(last);
      if (layer == network_.layers.size()) break;
      trial.sliced.push_back(layer);
      absl::StatusOr<ExecutionPlan> next = Bound(trial);
      if (!next.ok()) return next.status();
      if (next->bound_bytes() > last_bytes) break;
      last = *std::move(next);
      last_bytes = last.bound_bytes();
      if (last_bytes < bounded->bound_bytes()) {
        *bounded = last;
        *choices = trial;
      }
    }
    return absl::OkStatus();
  }

  // Drops one output after the other, of those that the certificate names that
  // which lowers the bound most, until it is at most the budget or no output
  // lowers it.
  absl::Status Drop(StepChoices* choices, ExecutionPlan* bounded) const {
    while (bounded->bound_bytes() > options_.budget_bytes) {
      StepChoices best_choices;
      ExecutionPlan best;
      int64_t best_bytes = bounded->bound_bytes();
      for (const size_t layer : LayersInCertificate(*bounded)) {
        StepChoices trial = *choices;
        const std::vector<size_t> more =
            LayersToDrop(network_, trial.dropped, layer);
        trial.dropped.insert(trial.dropped.end(), more.begin(), more.end());
        absl::StatusOr<ExecutionPlan> next = Bound(trial);
        if (!next.ok()) return next.status();
        const absl::Status status = Slice(&trial, &*next);
        if (!status.ok()) return status;
        if (next->bound_bytes() >= best_bytes) continue;
        best_bytes = next->bound_bytes();
        best = *std::move(next);
        best_choices = std::move(trial);
      }
      if (best_bytes == bounded->bound_bytes()) break;
      *bounded = std::move(best);
      *choices = std::move(best_choices);
    }
    return absl::OkStatus();
  }

  // Keeps again what need not be dropped, the costliest first.
  absl::Status KeepAgain(StepChoices* choices) const {
    std::vector<size_t> dropped = choices->dropped;
    std::stable_sort(dropped.begin(), dropped.end(),
                     [this](size_t a, size_t b) {
                       return network_.layers[a].signature.recompute_products >
                              network_.layers[b].signature.recompute_products;
                     });
    for (const size_t layer : dropped) {
      StepChoices trial = *choices;
      trial.dropped.erase(
          std::find(trial.dropped.begin(), trial.dropped.end(), layer));
      const absl::StatusOr<ExecutionPlan> bounded = Bound(trial);
      if (!bounded.ok()) return bounded.status();
      if (bounded->bound_bytes() <= options_.budget_bytes) {
        *choices = std::move(trial);
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<ExecutionPlan> BuildStorages(
      const StepChoices& choices) const {
    ExecutionPlan plan;
    plan.math = &math_;
    absl::Status status =
        BuildSteps(network_, options_, optimizer_states_, choices, &plan);
    if (!status.ok()) return status;
    StorageSharing sharing(&plan);
    sharing.OneEach();
    if (options_.in_place) sharing.Share();
    sharing.DropEmpty();
    status = PlaceSideBySide(StorageClass::kModel, options_.alignment_bytes,
                             &plan.storages, &plan.model_bytes);
    if (!status.ok()) return status;
    status = PlaceSideBySide(StorageClass::kFixed, options_.alignment_bytes,
                             &plan.storages, &plan.fixed_bytes);
    if (!status.ok()) return status;
    return plan;
  }

  bool MaySlice() const {
    return options_.slice_derivatives && options_.share_edges &&
           options_.reuse_activations && options_.reuse_derivatives &&
           options_.in_place && options_.reuse_workspaces;
  }

  // The layer whose derivative makes the certificate's step what it is and may
  // be sliced: its own step, or that of the activation that takes it next. The
  // number of layers if there is none.
  size_t LayerToSlice(const ExecutionPlan& plan) const {
    const size_t none = network_.layers.size();
    if (plan.steps.empty()) return none;
    const PlannedStep& step =
        plan.steps[static_cast<size_t>(plan.arena.lower_bound.step)];
    if (step.kind != StepKind::kCalculateDerivative) return none;
    if (CanSlice(network_, step.layer)) return step.layer;
    for (size_t l = step.layer + 1; l < none; ++l) {
      if (CanSlice(network_, l) &&
          network_.layers[l].inputs[0] == network_.inputs.size() + step.layer) {
        return l;
      }
    }
    return none;
  }

  // The layers whose outputs, as the forward steps left them, lie in the arena
  // at the certificate's step and may be calculated again.
  std::vector<size_t> LayersInCertificate(const ExecutionPlan& plan) const {
    std::vector<size_t> layers;
    for (const size_t tensor : CertificateTensors(plan)) {
      for (size_t s = 0; s < plan.steps.size(); ++s) {
        const PlannedStep& step = plan.steps[s];
        if (step.kind != StepKind::kForward ||
            plan.tensors[tensor].kind != TensorKind::kActivation ||
            !CanRecompute(network_, step.layer)) {
          continue;
        }
        for (const TensorUse& use : step.uses) {
          if (use.tensor == tensor && use.written) layers.push_back(step.layer);
        }
      }
    }
    return layers;
  }

  const ResolvedNetwork& network_;
  const MathBackend& math_;
  const MemoryOptions& options_;
  const int optimizer_states_;
};

// About how many multiplications the forward steps take, and those again.
void CountProducts(ExecutionPlan* plan) {
  for (const PlannedStep& step : plan->steps) {
    const double products =
        plan->network.layers[step.layer].signature.recompute_products;
    if (step.kind == StepKind::kForward) plan->forward_products += products;
    if (step.kind == StepKind::kRecompute) {
      plan->recompute_products += products;
    }
  }
}

// The network for a part of its batch.
absl::StatusOr<Network> SplitBatch(const Network& network, NetworkMode mode,
                                   int64_t parts) {
  if (parts == 1) return network;
  Network split;
  for (const Network::Input& input : network.inputs()) {
    const absl::StatusOr<int64_t> bytes = CheckedSizeBytes(input.spec);
    if (!bytes.ok()) return bytes.status();
    TensorType part = input.spec;
    if (mode != NetworkMode::kTraining || parts < 1 || part.shape.rank() == 0 ||
        part.shape.extent(0) % parts != 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "input \"", input.name, "\" of shape ", part.shape.ToString(),
          " cannot be trained with in ", parts, " micro-batches"));
    }
    part.shape.set_extent(0, part.shape.extent(0) / parts);
    split.AddInput(input.name, part);
  }
  for (const Network::Node& node : network.nodes()) {
    split.AddLayer(node.name, node.layer, node.inputs, node.weights_of);
  }
  return split;
}

absl::Status CheckBudget(const ExecutionPlan& plan, int64_t budget_bytes) {
  if (plan.planned_bytes() <= budget_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("infeasible within ", budget_bytes,
                   " bytes: the minimum found is ", plan.planned_bytes(),
                   " bytes, at ", StepName(plan, plan.arena.lower_bound.step),
                   "; a smaller batch or a ", "budget of that size would do"));
}

// The tensor that a storage holds at a step.
size_t TensorAt(const ExecutionPlan& plan, const Storage& storage,
                int64_t step) {
  size_t live = storage.tensors[0];
  for (const size_t t : storage.tensors) {
    if (plan.tensors[t].lower_step <= step) live = t;
  }
  return live;
}

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
  options.pack_places = false;
  options.keep_outputs = true;
  return options;
}

absl::string_view TensorKindName(TensorKind kind) {
  static constexpr absl::string_view kNames[kTensorKinds] = {
      "weight", "statistic", "optimizer state", "sum of gradients",
      "input",  "label",     "output",          "activation",
      "saved",  "gradient",  "derivative",      "workspace"};
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
  }
  return "unknown";
}

absl::StatusOr<ExecutionPlan> PlanExecution(const Network& network,
                                            NetworkMode mode,
                                            const MemoryOptions& options,
                                            int optimizer_states,
                                            const MathBackend& math) {
  const int64_t alignment = options.alignment_bytes;
  if (alignment < 4 || (alignment & (alignment - 1)) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("an alignment of ", alignment,
                     " bytes; a power of two of at least 4 is needed"));
  }
  const absl::StatusOr<Network> part =
      SplitBatch(network, mode, options.micro_batches);
  if (!part.ok()) return part.status();
  absl::StatusOr<ResolvedNetwork> resolved =
      ResolveNetwork(*part, mode, math, options.pack_places);
  if (!resolved.ok()) return resolved.status();
  const PlanSearch search(*resolved, math, options, optimizer_states);
  StepChoices choices;
  absl::StatusOr<ExecutionPlan> bounded = search.Bound(choices);
  if (!bounded.ok()) return bounded;
  absl::Status status = search.Slice(&choices, &*bounded);
  const bool may_drop = mode == NetworkMode::kTraining && options.share_edges;
  if (status.ok() && may_drop &&
      bounded->bound_bytes() > options.budget_bytes) {
    status = search.Drop(&choices, &*bounded);
    if (status.ok()) status = search.KeepAgain(&choices);
  }
  if (!status.ok()) return status;
  absl::StatusOr<ExecutionPlan> plan = search.Plan(choices);
  if (!plan.ok()) return plan;
  status = CheckBudget(*plan, options.budget_bytes);
  if (!status.ok()) return status;
  CountProducts(&*plan);
  return plan;
}

std::vector<size_t> CertificateTensors(const ExecutionPlan& plan) {
  std::vector<size_t> tensors;
  for (const size_t request : plan.arena.lower_bound.tensors) {
    tensors.push_back(TensorAt(plan,
                               plan.storages[plan.arena_storages[request]],
                               plan.arena.lower_bound.step));
  }
  return tensors;
}

std::vector<int64_t> LiveBytesByKind(const ExecutionPlan& plan, int64_t step) {
  std::vector<int64_t> bytes(kTensorKinds, 0);
  for (const Storage& storage : plan.storages) {
    if (storage.storage_class == StorageClass::kUser) continue;
    if (storage.storage_class == StorageClass::kArena &&
        (step < storage.lower_step || step >= storage.upper_step)) {
      continue;
    }
    const PlannedTensor& tensor = plan.tensors[TensorAt(plan, storage, step)];
    bytes[static_cast<size_t>(tensor.kind)] += storage.size_bytes;
  }
  return bytes;
}

std::string StepName(const ExecutionPlan& plan, int64_t step) {
  const PlannedStep& planned = plan.steps[static_cast<size_t>(step)];
  return absl::StrCat(plan.network.layers[planned.layer].name, ": ",
                      StepKindName(planned.kind));
}

}  // namespace footprint
