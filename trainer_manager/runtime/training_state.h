// Saves a training in a file and resumes it later. A training that was stopped
// after any step and resumed has the same bits as one that was not.
//
//   // Every hundred steps:
//   absl::Status status =
//       footprint::SaveTraining(plan, *manager, "training.safetensors");
//   // In another process, with the same network, optimizer and seed:
//   const auto notes = footprint::ResumeTraining("training.safetensors", plan,
//                                                manager.get());
//   // manager->iteration() steps are done.
//
// The file is a safetensors file. It holds the weights and running statistics
// by their names, and the optimizer's states of each weight (NAME.optimizer0,
// ...). Its metadata are the version of these files, the iteration, the seed,
// the optimizer's name, a hash of the frozen weights if they stay in a file of
// their own, and the caller's notes, such as its position in the data or its
// best loss. The learning rate's schedule and the random numbers of
// dropout continue from the iteration. The plan may be another one of the same
// network: another budget, other micro-batches. LoadParameters reads the
// parameters from such a file for an inference.
//
// Saving replaces the file as a whole or not at all, even if the process is
// killed. Loading is strict, and checks the whole file before the first value
// changes. Thread-compatible; nothing is kept. Memory: 64 KiB and the file's
// header. Time: that of writing the file, or of reading it twice.

#ifndef FOOTPRINT_TRAINER_MANAGER_RUNTIME_TRAINING_STATE_H_
#define FOOTPRINT_TRAINER_MANAGER_RUNTIME_TRAINING_STATE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/safetensors/safetensors_file.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/runtime/manager.h"

namespace footprint {

// The caller's notes, by names that the caller chooses.
using TrainingNotes = std::map<std::string, std::string>;

// Saves a training between two steps. Returns InvalidArgument if `plan` is not
// that of the manager. Returns FailedPrecondition if the plan is for inference.
// Other errors are those of SaveParameters.
absl::Status SaveTraining(const ExecutionPlan& plan, const Manager& manager,
                          absl::string_view path,
                          const TrainingNotes& notes = {});

// Returns InvalidArgument if the training in the file read its frozen weights
// from a file (ManagerOptions::weights_file), and the manager reads others, or
// the same in another layout. ResumeTraining calls this; an inference that
// loads the parameters of a training should, too.
absl::Status CheckFrozenWeights(const SafetensorsFile& file,
                                const Manager& manager);

// A check of the caller's, which returns an error if a training may not
// continue from these notes after `iteration` steps.
using CheckNotes =
    std::function<absl::Status(const TrainingNotes& notes, int64_t iteration)>;

// Sets the manager's weights, statistics, states and iteration, and returns the
// notes. `check`, if given, is called before the first value changes; its error
// is returned with the file's name before the message. Returns InvalidArgument
// also if the file is not that of a training, has another version, or is from
// another network, optimizer, seed or file of frozen weights, or if its
// iteration is not valid. Other errors are those of SaveTraining and
// LoadParameters.
absl::StatusOr<TrainingNotes> ResumeTraining(absl::string_view path,
                                             const ExecutionPlan& plan,
                                             Manager* manager,
                                             const CheckNotes& check = nullptr);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_RUNTIME_TRAINING_STATE_H_
