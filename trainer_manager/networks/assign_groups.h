// Assigns a network's parameters to its groups, and removes from its layers the
// work that frozen parameters make needless.
//
//   absl::Status status = footprint::AssignGroups(math, pack_winners,
//                                                &resolved);
//
// This is a step of planning (//trainer_manager/execution:execution_plan). A
// frozen layer is described again, as one that is not trained. If a group is
// frozen, a layer has no backward steps unless it or a layer before it is
// trained. A frozen layer after a trained one has a derivative, and has
// gradients only if the derivative reads them. Networks without a group stay as
// they are.
//
// Changes only `network`; thread-safe. Memory: some words a parameter. Time:
// parameters times groups, and describing the frozen layers again.

#ifndef FOOTPRINT_TRAINER_MANAGER_NETWORKS_ASSIGN_GROUPS_H_
#define FOOTPRINT_TRAINER_MANAGER_NETWORKS_ASSIGN_GROUPS_H_

#include "absl/status/status.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "footprint/trainer_manager/networks/network.h"

namespace footprint {

// Does nothing for inference. `math` and `pack_winners` are those of
// ResolveNetwork. Returns InvalidArgument, with the name of the group,
// parameter or layer, if CheckGroup refuses a group, if a pattern matches no
// parameter, if a parameter is in two groups, if a layer is frozen in part, if
// all parameters are frozen, or if a frozen layer describes another output,
// other weights or other statistics. Other errors are those of Layer::Describe,
// CheckSizes and CheckOperands for a frozen layer. After an error `network` is
// only partly changed: do not use it.
absl::Status AssignGroups(const MathBackend& math, bool pack_winners,
                          ResolvedNetwork* network);

// Marks the layers of which a weight is in a frozen group, as AssignGroups does
// for training. Ignores groups that match nothing, since an inference may run a
// part of the network.
void MarkFrozen(ResolvedNetwork* network);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_NETWORKS_ASSIGN_GROUPS_H_
