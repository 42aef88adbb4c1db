// Finds the optimizer of each weight when groups of parameters have rates or
// decays of their own.
//
//   auto optimizers = footprint::GroupOptimizers::Create(*plan.network, adam);
//   const footprint::Optimizer& mine = optimizers->At(layer).At(weight);
//
// Keeps the common optimizer, one more for each group, and each weight's group,
// but does not refer to the network. Thread-compatible. Memory: a few words
// without groups; with groups also a copy of each, 24 bytes a layer and 8 for
// each of its weight tensors.

#ifndef FOOTPRINT_TRAINER_MANAGER_RUNTIME_GROUP_OPTIMIZERS_H_
#define FOOTPRINT_TRAINER_MANAGER_RUNTIME_GROUP_OPTIMIZERS_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/networks/parameter_group.h"

namespace footprint {

// The optimizers of one layer's weights. Refers to its constructor's arguments.
class WeightOptimizers {
 public:
  // Uses one optimizer for all weights.
  WeightOptimizers(const Optimizer& common)  // NOLINT: converts
      : common_(common) {}
  // `groups` holds for each weight the index of its group in `by_group`, or
  // kNoGroup.
  WeightOptimizers(const Optimizer& common,
                   absl::Span<const OptimizerPointer> by_group,
                   absl::Span<const size_t> groups)
      : common_(common), by_group_(by_group), groups_(groups) {}

  const Optimizer& At(int weight) const {
    const size_t index = static_cast<size_t>(weight);
    if (index >= groups_.size() ||
        groups_[index] == ResolvedNetwork::kNoGroup) {
      return common_;
    }
    return *by_group_[groups_[index]];
  }

 private:
  const Optimizer& common_;
  absl::Span<const OptimizerPointer> by_group_;
  absl::Span<const size_t> groups_;
};

class GroupOptimizers {
 public:
  // Returns InvalidArgument, with the pattern of the group, if the optimizer
  // cannot train it, for example because it has no decay and the group has one,
  // or if only one of it and its optimizer for the group is elementwise.
  // `optimizer` may be null, as in an inference; At must not be called then.
  static absl::StatusOr<GroupOptimizers> Create(const ResolvedNetwork& network,
                                                OptimizerPointer optimizer);

  // Replaces the common optimizer; if that fails, nothing changes. Errors are
  // those of Create.
  absl::Status Replace(OptimizerPointer optimizer);

  const OptimizerPointer& common() const { return common_; }
  // Returns the optimizers of a layer's weights, which are valid until Replace
  // and as long as this object.
  WeightOptimizers At(size_t layer) const;

 private:
  GroupOptimizers() = default;

  struct Groups {
    std::vector<ParameterGroup> groups;
    std::vector<OptimizerPointer> optimizers;   // of each
    std::vector<std::vector<size_t>> group_of;  // of each layer's weights
  };

  OptimizerPointer common_;
  std::unique_ptr<Groups> groups_;  // null without groups
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_RUNTIME_GROUP_OPTIMIZERS_H_
