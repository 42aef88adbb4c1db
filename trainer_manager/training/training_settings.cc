#include "footprint/trainer_manager/training/training_settings.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/networks/parameter_group.h"
#include "footprint/trainer_manager/training/data_set.h"

namespace footprint {
namespace {

std::string DescribeGroup(const ParameterGroup& group) {
  if (group.frozen) return absl::StrCat(group.pattern, " frozen");
  const std::string decay =
      group.weight_decay
          ? absl::StrFormat(", decay of weights %.9g", *group.weight_decay)
          : "";
  return absl::StrFormat("%s rate times %.9g%s", group.pattern,
                         group.rate_factor, decay);
}

// Returns the layer's type and its inputs: "ReLU of conv1".
std::string DescribeLayer(const ResolvedNetwork& network, size_t layer) {
  std::vector<std::string> inputs;
  for (const size_t value : network.layers[layer].inputs) {
    const size_t first = network.inputs.size();
    inputs.push_back(value < first ? network.inputs[value].name
                                   : network.layers[value - first].name);
  }
  return absl::StrCat(network.layers[layer].layer->type(), " of ",
                      absl::StrJoin(inputs, ", "));
}

}  // namespace

TrainingNotes DescribeSettings(const ExecutionPlan& plan,
                               const ManagerOptions& manager,
                               const LoaderOptions& loader) {
  std::vector<std::string> groups;
  for (const ParameterGroup& group : plan.network->groups) {
    groups.push_back(DescribeGroup(group));
  }
  TrainingNotes settings = {
      {"setting.batch", absl::StrCat(PlannedRows(plan), " rows")},
      {"setting.drop_last", loader.drop_last ? "true" : "false"},
      {"setting.shuffle", loader.shuffle ? "true" : "false"},
      {"setting.optimizer", manager.optimizer->Description()},
      {"setting.groups", absl::StrJoin(groups, "; ")},
      {"setting.clip_norm", absl::StrFormat("%.9g", manager.clip_norm)},
      {"setting.clip_value", absl::StrFormat("%.9g", manager.clip_value)},
  };
  for (size_t l = 0; l < plan.network->layers.size(); ++l) {
    settings[absl::StrCat("setting.layer.", plan.network->layers[l].name)] =
        DescribeLayer(*plan.network, l);
  }
  return settings;
}

absl::Status CheckSameSettings(const TrainingNotes& notes,
                               const TrainingNotes& here) {
  std::vector<std::string> differences;
  for (const auto& [name, value] : here) {
    const auto found = notes.find(name);
    if (found == notes.end()) {
      differences.push_back(absl::StrCat("it has no ", name));
    } else if (found->second != value) {
      differences.push_back(absl::StrCat("its ", name, " is \"", found->second,
                                         "\", and this training's \"", value,
                                         "\""));
    }
  }
  if (differences.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      absl::StrJoin(differences, "; "),
      ": go on with the same settings, or begin a training with a new file "
      "from the weights, which LoadParameters takes out of this one"));
}

}  // namespace footprint
