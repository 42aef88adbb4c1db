// A training in a file, to go on with it later: stopped after any step and
// resumed, it has the bits that it would have had.
//
//   // Every hundred steps:
//   absl::Status status =
//       footprint::SaveTraining(plan, *manager, "training.safetensors");
//   // In another process, with the same network, optimizer and seed:
//   const auto notes = footprint::ResumeTraining("training.safetensors", plan,
//                                                manager.get());
//   // manager->iteration() steps are done.
//
// A safetensors file with the weights and running statistics by their names,
// what the optimizer remembers of each weight (NAME.optimizer0, ...), and as
// metadata the version of these files, the iteration, the seed, the optimizer's
// name and notes of the caller's: its place in the data, its best loss. The
// iteration is where a rate's schedule and the random numbers of dropout go on.
// The plan may be another one of the same network: another budget, other
// micro-batches. LoadParameters takes the parameters out of such a file for an
// inference.
//
// Saving replaces the file as a whole or not at all, also where the process is
// killed. Loading is strict, and checks all that the file says before the first
// value changes. Thread-compatible; nothing is kept. Memory: 64 KiB and the
// file's header. Time: that of writing the file, or of reading it twice.

#ifndef FOOTPRINT_TRAINER_MANAGER_RUNTIME_TRAINING_STATE_H_
#define FOOTPRINT_TRAINER_MANAGER_RUNTIME_TRAINING_STATE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/runtime/manager.h"

namespace footprint {

// The caller's, by names of its own.
using TrainingNotes = std::map<std::string, std::string>;

// Saves a training between two steps. InvalidArgument: `plan` is not that of
// the manager. FailedPrecondition: the plan is one for inference. Otherwise as
// SaveParameters.
absl::Status SaveTraining(const ExecutionPlan& plan, const Manager& manager,
                          absl::string_view path,
                          const TrainingNotes& notes = {});

// Says whether a training may go on from these notes, after so many steps.
using CheckNotes =
    std::function<absl::Status(const TrainingNotes& notes, int64_t iteration)>;

// Sets the manager's weights, statistics, states and iteration, and returns the
// notes. `check` is asked before the first value changes, if it is given; its
// error is returned after the file's name. InvalidArgument, besides that of
// LoadParameters: the file is of no training, of another version, of one with
// another network, optimizer or seed, or says an iteration that is none.
// Otherwise as SaveTraining and LoadParameters.
absl::StatusOr<TrainingNotes> ResumeTraining(absl::string_view path,
                                             const ExecutionPlan& plan,
                                             Manager* manager,
                                             const CheckNotes& check = nullptr);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_RUNTIME_TRAINING_STATE_H_
