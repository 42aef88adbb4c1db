#include "footprint/trainer_manager/networks/assign_groups.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/text/near_names.h"
#include "footprint/trainer_manager/networks/parameter_group.h"

namespace footprint {
namespace {

using ResolvedLayer = ResolvedNetwork::ResolvedLayer;

std::string ParameterName(const ResolvedLayer& layer, size_t weight) {
  return absl::StrCat(layer.name, ".", layer.signature.weights[weight].name);
}

// Returns the group of a parameter, or kNoGroup.
absl::StatusOr<size_t> FindGroup(const std::vector<ParameterGroup>& groups,
                                 const std::string& name) {
  size_t found = ResolvedNetwork::kNoGroup;
  for (size_t g = 0; g < groups.size(); ++g) {
    if (!MatchesPattern(groups[g].pattern, name)) continue;
    if (found != ResolvedNetwork::kNoGroup) {
      return absl::InvalidArgumentError(
          absl::StrCat("the parameter \"", name, "\" is in two groups, \"",
                       groups[found].pattern, "\" and \"", groups[g].pattern,
                       "\": change a pattern so that it is in one"));
    }
    found = g;
  }
  return found;
}

// Finds the groups of a layer's own weights.
absl::Status AssignLayer(const std::vector<ParameterGroup>& groups,
                         std::vector<bool>* used, ResolvedLayer* layer,
                         std::vector<size_t>* group_of) {
  const size_t weights = layer->signature.weights.size();
  size_t frozen = 0;
  for (size_t w = 0; w < weights; ++w) {
    const auto group = FindGroup(groups, ParameterName(*layer, w));
    if (!group.ok()) return group.status();
    group_of->push_back(*group);
    if (*group == ResolvedNetwork::kNoGroup) continue;
    (*used)[*group] = true;
    if (groups[*group].frozen) ++frozen;
  }
  layer->is_frozen = frozen > 0;
  if (frozen == 0 || frozen == weights) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("layer \"", layer->name, "\": ", frozen, " of its ", weights,
                   " parameters are frozen, but only whole layers can be: use "
                   "the pattern \"",
                   layer->name, ".*\", or none that matches it"));
}

absl::Status CheckUsed(const ResolvedNetwork& network,
                       const std::vector<bool>& used) {
  const size_t unused = static_cast<size_t>(
      std::find(used.begin(), used.end(), false) - used.begin());
  if (unused == used.size()) return absl::OkStatus();
  std::vector<std::string> names;
  for (size_t l = 0; l < network.layers.size(); ++l) {
    for (size_t w = 0; w < network.group_of[l].size(); ++w) {
      names.push_back(ParameterName(network.layers[l], w));
    }
  }
  const std::string& pattern = network.groups[unused].pattern;
  return absl::InvalidArgumentError(absl::StrCat(
      "the group \"", pattern, "\" matches no parameter of the network",
      NearNamesText(pattern, std::vector<absl::string_view>(names.begin(),
                                                            names.end()))));
}

// Describes a frozen layer as one that is not trained.
absl::Status DescribeFrozen(const MathBackend& math, bool pack_winners,
                            const ResolvedNetwork& network,
                            ResolvedLayer* layer) {
  LayerInputs inputs = {{}, network.mode, math, pack_winners, true};
  for (const size_t value : layer->inputs) {
    inputs.inputs.push_back(network.spec(value));
  }
  absl::StatusOr<LayerSignature> signature = layer->layer->Describe(inputs);
  absl::Status status = signature.status();
  if (status.ok()) status = CheckSizes(*signature);
  if (status.ok()) status = CheckOperands(*signature, inputs);
  const LayerSignature& before = layer->signature;
  if (status.ok() &&
      (signature->output.shape != before.output.shape ||
       signature->weights.size() != before.weights.size() ||
       signature->statistics.size() != before.statistics.size())) {
    status = absl::InvalidArgumentError(
        "it describes another output, other weights or other statistics when "
        "it is frozen");
  }
  if (!status.ok()) {
    return absl::Status(status.code(), absl::StrCat("layer \"", layer->name,
                                                    "\": ", status.message()));
  }
  layer->signature = *std::move(signature);
  return absl::OkStatus();
}

// Removes gradients that no step reads.
void DropGradient(LayerSignature* signature) {
  for (const Operand& operand : signature->derivative.reads) {
    if (operand.role == Role::kGradient) return;
  }
  signature->gradient = StepUse();
}

// Removes the backward steps of layers that have nothing trained before them.
absl::Status DropBackward(ResolvedNetwork* network) {
  std::vector<bool> needs(network->inputs.size(), false);
  for (ResolvedLayer& layer : network->layers) {
    bool need = !layer.signature.weights.empty() && !layer.is_frozen;
    for (const size_t value : layer.inputs) need = need || needs[value];
    needs.push_back(need);
    if (layer.is_loss() && !need) {
      return absl::InvalidArgumentError(
          "all parameters are frozen, so there is nothing to train: leave one "
          "layer out of the frozen groups");
    }
    if (layer.is_frozen) DropGradient(&layer.signature);
    if (need) continue;
    layer.signature.gradient = StepUse();
    layer.signature.derivative = StepUse();
    layer.signature.restore_input = StepUse();
    layer.signature.derivative_by_element = false;
  }
  return absl::OkStatus();
}

}  // namespace

void MarkFrozen(ResolvedNetwork* network) {
  for (ResolvedLayer& layer : network->layers) {
    const ResolvedLayer& owner = network->layers[layer.weights_of];
    for (size_t w = 0; w < owner.signature.weights.size(); ++w) {
      for (const ParameterGroup& group : network->groups) {
        layer.is_frozen |=
            group.frozen &&
            MatchesPattern(group.pattern, ParameterName(owner, w));
      }
    }
  }
}

absl::Status AssignGroups(const MathBackend& math, bool pack_winners,
                          ResolvedNetwork* network) {
  if (network->groups.empty() || network->mode == NetworkMode::kInference) {
    return absl::OkStatus();
  }
  absl::Status status;
  bool any_frozen = false;
  for (const ParameterGroup& group : network->groups) {
    if (status.ok()) status = CheckGroup(group);
    any_frozen |= group.frozen;
  }
  std::vector<bool> used(network->groups.size(), false);
  network->group_of.assign(network->layers.size(), {});
  for (size_t l = 0; l < network->layers.size() && status.ok(); ++l) {
    ResolvedLayer& layer = network->layers[l];
    if (layer.weights_of == l) {
      status =
          AssignLayer(network->groups, &used, &layer, &network->group_of[l]);
    } else {
      layer.is_frozen = network->layers[layer.weights_of].is_frozen;
    }
    if (status.ok() && layer.is_frozen) {
      status = DescribeFrozen(math, pack_winners, *network, &layer);
    }
  }
  if (status.ok()) status = CheckUsed(*network, used);
  if (status.ok() && any_frozen) status = DropBackward(network);
  return status;
}

}  // namespace footprint
