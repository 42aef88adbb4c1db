// A group of parameters that are trained differently from the others: with
// their own rate, with another decay, or not at all.
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
  // A pattern of the parameters' names, such as "conv1.weight"; a * matches any
  // number of characters.
  std::string pattern;
  // The weights are not trained. A layer can only be frozen as a whole.
  bool frozen = false;
  // The optimizer's rate is multiplied by this.
  float rate_factor = 1;
  // The weight decay that replaces the optimizer's (AdamW).
  absl::optional<float> weight_decay;
};

// Returns whether the pattern matches the whole name. Time: at most the product
// of the lengths.
bool MatchesPattern(absl::string_view pattern, absl::string_view name);

// Returns InvalidArgument, with the group's pattern in the message, if the
// pattern is empty, if the factor is not finite or not above 0, if the decay is
// not finite or negative, or if a frozen group has a factor or a decay.
absl::Status CheckGroup(const ParameterGroup& group);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_NETWORKS_PARAMETER_GROUP_H_
