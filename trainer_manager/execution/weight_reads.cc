#include "footprint/trainer_manager/execution/weight_reads.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace footprint {
namespace {

// The steps of one pass that use memory of the arena.
class Pass {
 public:
  explicit Pass(const ExecutionPlan& plan) : plan_(plan) {}

  void Add(const PlannedStep& step) {
    const size_t number = other_bytes_.size();
    std::set<size_t> storages;
    for (const TensorUse& use : step.uses) {
      const PlannedTensor& tensor = plan_.tensors[use.tensor];
      if (tensor.kind == TensorKind::kReadWeight) {
        // A tile stands for its matrix, any part of which may stay.
        const WeightSpec& weight =
            FindWeight(*plan_.network, step.layer, use.operand);
        const Uses uses = {SizeBytes(weight.spec), number, number};
        weights_.try_emplace(tensor.name, uses).first->second.last = number;
      } else if (plan_.StorageOfTensor(use.tensor).storage_class ==
                 StorageClass::kArena) {
        storages.insert(plan_.storage_of[use.tensor]);
      }
    }
    int64_t bytes = 0;
    for (const size_t storage : storages) {
      bytes += plan_.storages[storage].size_bytes;
    }
    other_bytes_.push_back(bytes);
  }

  int64_t WeightBytes() const {
    int64_t bytes = 0;
    for (const auto& [name, uses] : weights_) bytes += uses.size_bytes;
    return bytes;
  }

  // Returns the most bytes of weights that can stay after the pass.
  int64_t MostKeptAfter() const {
    return MostKept([](const Uses& uses, size_t step) {
      return uses.last > step;  // may be read after the step
    });
  }

  // Returns the most bytes of weights that can stay until the pass uses them.
  int64_t MostKeptBefore() const {
    return MostKept([](const Uses& uses, size_t step) {
      return uses.first < step;  // may be dropped before the step
    });
  }

 private:
  struct Uses {
    int64_t size_bytes;
    size_t first;  // step
    size_t last;
  };

  template <typename MayBeAbsent>
  int64_t MostKept(const MayBeAbsent& may_be_absent) const {
    int64_t most = WeightBytes();
    for (size_t step = 0; step < other_bytes_.size(); ++step) {
      int64_t absent_bytes = 0;
      for (const auto& [name, uses] : weights_) {
        if (may_be_absent(uses, step)) absent_bytes += uses.size_bytes;
      }
      most =
          std::min(most, plan_.arena_bytes - other_bytes_[step] + absent_bytes);
    }
    return most;
  }

  const ExecutionPlan& plan_;
  std::map<std::string, Uses> weights_;
  std::vector<int64_t> other_bytes_;  // of each step, without weights
};

// Returns whether every plan of the network has the step.
bool IsNeeded(StepKind kind) {
  return kind == StepKind::kForward || kind == StepKind::kCalculateGradient ||
         kind == StepKind::kCalculateDerivative ||
         kind == StepKind::kSlicedDerivative || kind == StepKind::kSlicedSum;
}

}  // namespace

int64_t LeastWeightBytesRead(const ExecutionPlan& plan) {
  Pass forward(plan);
  Pass backward(plan);
  for (const PlannedStep& step : plan.steps) {
    if (!IsNeeded(step.kind)) continue;
    (step.kind == StepKind::kForward ? forward : backward).Add(step);
  }
  if (plan.mode == NetworkMode::kInference) {
    return forward.WeightBytes() -
           std::min(forward.MostKeptAfter(), forward.MostKeptBefore());
  }
  const int64_t kept_in_between =
      std::min(forward.MostKeptAfter(), backward.MostKeptBefore());
  const int64_t kept_for_the_next =
      std::min(backward.MostKeptAfter(), forward.MostKeptBefore());
  return plan.micro_batches * (forward.WeightBytes() + backward.WeightBytes() -
                               kept_in_between - kept_for_the_next);
}

}  // namespace footprint
