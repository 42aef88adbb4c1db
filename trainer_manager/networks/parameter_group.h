// Groups of parameters, which are trained otherwise than the others: by a rate
// of their own, with another decay, or not at all.
//
//   footprint::ParameterGroup biases;
//   biases.pattern = "*.bias";
//   biases.weight_decay = 0;
//   network.AddGroup(biases);
//
// Plain data, thread-compatible. Memory: some words and the pattern.

#ifndef FOOTPRINT_TRAINER_MANAGER_NETWORKS_PARAMETER_GROUP_H_
#define FOOTPRINT_TRAINER_MANAGER_NETWORKS_PARAMETER_GROUP_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace footprint {

struct ParameterGroup {
  // The parameters' names, "conv1.weight", where a * stands for any characters
  // and also for none.
  std::string pattern;
  // The weights stay as they are. Layers are frozen whole.
  bool frozen = false;
  // The optimizer's rate is multiplied by it.
  float rate_factor = 1;
  // The weights' decay instead of the optimizer's, for AdamW.
  absl::optional<float> weight_decay;
};

// Returns whether the whole name fits the pattern. Time: at most the product of
// the lengths.
bool MatchesPattern(absl::string_view pattern, absl::string_view name);

// InvalidArgument, naming the group: an empty pattern, a factor that is not
// finite and above 0, a decay that is not finite and at least 0, or a frozen
// group with one of the two.
absl::Status CheckGroup(const ParameterGroup& group);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_NETWORKS_PARAMETER_GROUP_H_
