#include "footprint/trainer_manager/runtime/group_optimizers.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

absl::StatusOr<OptimizerPointer> MakeForGroup(const Optimizer& optimizer,
                                              const ParameterGroup& group) {
  OptimizerPointer made =
      optimizer.ForGroup(group.rate_factor, group.weight_decay);
  if (made != nullptr && made->is_elementwise() == optimizer.is_elementwise()) {
    return made;
  }
  if (made != nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("the optimizer ", optimizer.name(),
                     " and the one that its ForGroup makes for \"",
                     group.pattern, "\" must agree in is_elementwise"));
  }
  const std::string decay =
      group.weight_decay ? absl::StrCat(" and the decay ", *group.weight_decay)
                         : "";
  return absl::InvalidArgumentError(absl::StrCat(
      "the optimizer ", optimizer.name(), " cannot train the group \"",
      group.pattern, "\" with the rate factor ", group.rate_factor, decay,
      group.weight_decay ? ": AdamW has a decay"
                         : ": override Optimizer::ForGroup"));
}

}  // namespace

absl::StatusOr<GroupOptimizers> GroupOptimizers::Create(
    const ResolvedNetwork& network, OptimizerPointer optimizer) {
  GroupOptimizers optimizers;
  if (!network.groups.empty()) {
    optimizers.groups_ = std::make_unique<Groups>();
    optimizers.groups_->groups = network.groups;
    optimizers.groups_->group_of = network.group_of;
  }
  const absl::Status status = optimizers.Replace(std::move(optimizer));
  if (!status.ok()) return status;
  return optimizers;
}

absl::Status GroupOptimizers::Replace(OptimizerPointer optimizer) {
  if (groups_ != nullptr) {
    std::vector<OptimizerPointer> by_group;
    for (const ParameterGroup& group : groups_->groups) {
      by_group.push_back(optimizer);
      const bool as_others = group.rate_factor == 1 && !group.weight_decay;
      if (as_others || optimizer == nullptr) continue;
      auto made = MakeForGroup(*optimizer, group);
      if (!made.ok()) return made.status();
      by_group.back() = *std::move(made);
    }
    groups_->optimizers = std::move(by_group);
  }
  common_ = std::move(optimizer);
  return absl::OkStatus();
}

WeightOptimizers GroupOptimizers::At(size_t layer) const {
  if (groups_ == nullptr) return *common_;
  return {*common_, groups_->optimizers, groups_->group_of[layer]};
}

}  // namespace footprint
