// What the bits of a training depend on, beside its data and what its file
// holds: by name and text, as notes of that file, so that a training that is
// resumed with other settings is noticed.
//
//   const footprint::TrainingNotes settings =
//       footprint::DescribeSettings(plan, manager_options, loader_options);
//   ...
//   absl::Status status = footprint::CheckSameSettings(notes, settings);
//
// Functions, thread-safe. Memory: the texts, of some 50 bytes a
// layer.

#ifndef FOOTPRINT_TRAINER_MANAGER_TRAINING_TRAINING_SETTINGS_H_
#define FOOTPRINT_TRAINER_MANAGER_TRAINING_TRAINING_SETTINGS_H_

#include "absl/status/status.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/runtime/manager_options.h"
#include "footprint/trainer_manager/runtime/training_state.h"
#include "footprint/trainer_manager/training/batch_loader.h"

namespace footprint {

// The rows of a batch, their order, the optimizer with its numbers, the groups
// of parameters, the limits of gradients, and each layer's type and inputs; not
// what a layer's type does not say, such as the rate of a dropout.
TrainingNotes DescribeSettings(const ExecutionPlan& plan,
                               const ManagerOptions& manager,
                               const LoaderOptions& loader);

// InvalidArgument: a setting of `here` is missing from the notes or is another
// one there; the text names each that is, and both its values.
absl::Status CheckSameSettings(const TrainingNotes& notes,
                               const TrainingNotes& here);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_TRAINING_TRAINING_SETTINGS_H_
