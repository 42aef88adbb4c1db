// Draws the place of each tensor in each step of a training or inference.
//
//   std::string html = footprint::DrawExecution(plan, "LeNet-5, batch 32");
//
// Steps go to the right, bytes upwards: weights and other lasting tensors are
// at the bottom, the arena is above. Colours distinguish eight kinds, such as
// weights, gradients, activations, derivatives and workspaces. layout_picture.h
// draws it. Pure and thread-safe; the page keeps nothing of the plan. Memory: a
// request for each tensor while it draws, and the page, about 300 bytes a
// tensor.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_TRAINING_PICTURE_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_TRAINING_PICTURE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "footprint/trainer_manager/execution/execution_types.h"

namespace footprint {

// Returns the whole HTML page. The plan must have a step.
std::string DrawExecution(const ExecutionPlan& plan, absl::string_view title);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_TRAINING_PICTURE_H_
