#include "footprint/trainer_manager/execution/training_picture.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "footprint/trainer_manager/plan_files/layout_picture.h"
#include "footprint/trainer_manager/planner/plan.h"

namespace footprint {
namespace {

// The kinds of tensors, as many as a picture can distinguish. Kinds that some
// networks lack come last, so that a kind has the same colour in nearly all
// pictures.
constexpr const char* kKinds[] = {"weight",     "input, label, output",
                                  "activation", "gradient",
                                  "derivative", "workspace",
                                  "saved",      "optimizer state"};

std::string DescribeKind(TensorKind kind) {
  switch (kind) {
    case TensorKind::kRunningStatistic:
    case TensorKind::kReadWeight:
      return "weight";
    case TensorKind::kStatisticCopy:
      return "saved";
    case TensorKind::kGradientSum:
      return "gradient";
    case TensorKind::kInput:
    case TensorKind::kLabel:
    case TensorKind::kOutput:
      return "input, label, output";
    case TensorKind::kWeight:
    case TensorKind::kOptimizerState:
    case TensorKind::kActivation:
    case TensorKind::kSaved:
    case TensorKind::kGradient:
    case TensorKind::kDerivative:
    case TensorKind::kWorkspace:
      break;
  }
  return std::string(TensorKindName(kind));
}

// A picture in one address space: the model, fixed memory, then the arena.
class Picture {
 public:
  explicit Picture(const ExecutionPlan& plan) : plan_(plan) {
    for (const char* kind : kKinds) {
      for (size_t s = 0; s < plan.storages.size(); ++s) AddStorage(s, kind);
    }
    AddSpans();
    if (!plan.steps.empty()) {
      labels_.bound_step = StepName(plan, plan.certificate.step);
    }
    layout_.height_bytes = plan.planned_bytes();
    layout_.lower_bound.bytes = plan.bound_bytes();
    layout_.lower_bound.step = plan.certificate.step;
    layout_.lower_bound.tensors = InCertificate();
  }

  std::string Draw(absl::string_view title) const {
    return DrawPlan(requests_, layout_, title, labels_);
  }

 private:
  int64_t FindBase(StorageClass storage_class) const {
    if (storage_class == StorageClass::kModel) return 0;
    if (storage_class == StorageClass::kFixed) return plan_.model_bytes;
    return plan_.model_bytes + plan_.fixed_bytes;
  }

  // Adds the spans of the forward and backward steps; an inference has no
  // backward steps.
  void AddSpans() {
    if (plan_.mode != NetworkMode::kTraining) return;
    const int64_t end = static_cast<int64_t>(plan_.steps.size());
    int64_t forward_end = 0;
    for (int64_t step = 0; step < end; ++step) {
      if (plan_.steps[step].kind == StepKind::kForward) forward_end = step + 1;
    }
    labels_.spans = {{"forward", 0, forward_end},
                     {"backward, weights change", forward_end, end}};
  }

  // Adds a box for each tensor of `kind` that the storage holds in turn.
  void AddStorage(size_t s, const std::string& kind) {
    const Storage& storage = plan_.storages[s];
    if (storage.storage_class == StorageClass::kUser) return;
    std::vector<size_t> tensors = storage.tensors;
    std::stable_sort(
        tensors.begin(), tensors.end(), [this](size_t a, size_t b) {
          return plan_.tensors[a].lower_step < plan_.tensors[b].lower_step;
        });
    const int64_t last = static_cast<int64_t>(plan_.steps.size());
    const bool lasts = storage.storage_class != StorageClass::kArena;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const PlannedTensor& tensor = plan_.tensors[tensors[i]];
      const bool is_last = i + 1 == tensors.size();
      const int64_t begin = lasts && i == 0 ? 0 : tensor.lower_step;
      const int64_t end = !is_last ? plan_.tensors[tensors[i + 1]].lower_step
                                   : (lasts ? last : storage.upper_step);
      if (begin >= end || DescribeKind(tensor.kind) != kind) continue;
      requests_.push_back({tensor.name, begin, end, storage.size_bytes, 1});
      labels_.kinds.push_back(kind);
      layout_.offsets_bytes.push_back(FindBase(storage.storage_class) +
                                      plan_.offsets_bytes[s]);
    }
  }

  std::vector<size_t> InCertificate() const {
    std::vector<size_t> live;
    const int64_t step = plan_.certificate.step;
    for (size_t i = 0; i < requests_.size(); ++i) {
      if (requests_[i].lower_step <= step && step < requests_[i].upper_step) {
        live.push_back(i);
      }
    }
    return live;
  }

  const ExecutionPlan& plan_;
  std::vector<TensorRequest> requests_;
  PictureLabels labels_;
  MemoryPlan layout_;
};

}  // namespace

std::string DrawExecution(const ExecutionPlan& plan, absl::string_view title) {
  return Picture(plan).Draw(title);
}

}  // namespace footprint
