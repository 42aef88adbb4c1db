#include "footprint/trainer_manager/execution/execution_types.h"

#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

// The tensor that a storage holds at a step: the last written, but of several
// with the same bytes one that is still read.
size_t TensorAt(const ExecutionPlan& plan, const Storage& storage,
                int64_t step) {
  size_t written = storage.tensors[0];
  size_t live = plan.tensors.size();
  for (const size_t t : storage.tensors) {
    if (plan.tensors[t].lower_step > step) continue;
    written = t;
    if (plan.tensors[t].upper_step > step) live = t;
  }
  return live == plan.tensors.size() ? written : live;
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
  options.pack_winners = false;
  options.keep_outputs = true;
  return options;
}

absl::string_view TensorKindName(TensorKind kind) {
  static constexpr absl::string_view kNames[kTensorKinds] = {
      "weight",     "statistic", "optimizer state", "sum of gradients",
      "input",      "label",     "output",          "copy of a statistic",
      "activation", "saved",     "gradient",        "derivative",
      "workspace"};
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
    case StepKind::kCopyStatistics:
      return "copy statistics";
    case StepKind::kRestoreStatistics:
      return "restore statistics";
    case StepKind::kSwapOut:
      return "swap out";
    case StepKind::kSwapIn:
      return "swap in";
  }
  return "unknown";
}

std::vector<std::string> ExecutionPlan::LayersOfPartStatistics() const {
  std::vector<std::string> names;
  if (micro_batches == 1) return names;
  for (const ResolvedNetwork::ResolvedLayer& layer : network.layers) {
    if (!layer.signature.statistics.empty()) names.push_back(layer.name);
  }
  return names;
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
