// Describes the settings on which the bits of a training depend, in addition to
// its data and its state file. They are saved as notes in the state file, so
// that resuming with other settings is detected.
//
//   const footprint::TrainingNotes settings =
//       footprint::DescribeSettings(plan, manager_options, loader_options);
//   ...
//   absl::Status status = footprint::CheckSameSettings(notes, settings);
//
// Pure functions, thread-safe. Memory: the texts, about 200 bytes for each
// layer.

#ifndef FOOTPRINT_TRAINER_MANAGER_TRAINING_TRAINING_SETTINGS_H_
#define FOOTPRINT_TRAINER_MANAGER_TRAINING_TRAINING_SETTINGS_H_

#include "absl/status/status.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/runtime/manager_options.h"
#include "footprint/trainer_manager/runtime/training_state.h"
#include "footprint/trainer_manager/training/batch_loader.h"

namespace footprint {

// Returns notes on the number of rows of a batch, their order, the optimizer
// with its numbers, the groups of parameters, the limits of gradients, and each
// layer's type and inputs. Hyperparameters that a layer's type does not tell,
// such as the rate of a dropout, are not included. `manager` must have an
// optimizer.
TrainingNotes DescribeSettings(const ExecutionPlan& plan,
                               const ManagerOptions& manager,
                               const LoaderOptions& loader);

// Returns InvalidArgument if a setting of `here` is missing from the notes or
// differs there; the message names each such setting, and both values if it
// differs. Notes that `here` lacks are not compared.
absl::Status CheckSameSettings(const TrainingNotes& notes,
                               const TrainingNotes& here);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_TRAINING_TRAINING_SETTINGS_H_
