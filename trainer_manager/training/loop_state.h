// The state of a training loop in addition to the manager's weights, states and
// iteration. The file of a training holds it as notes.
//
//   footprint::LoopState state;
//   state.best_loss = 0.25;
//   status = SaveTraining(plan, manager, path, ToNotes(state));
//   ...
//   absl::StatusOr<footprint::LoopState> read = footprint::FromNotes(*notes);
//
// Numbers are read back bit for bit. Plain data, thread-compatible. Memory:
// some words, and a kibibyte as notes.

#ifndef FOOTPRINT_TRAINER_MANAGER_TRAINING_LOOP_STATE_H_
#define FOOTPRINT_TRAINER_MANAGER_TRAINING_LOOP_STATE_H_

#include <cstdint>
#include <limits>

#include "absl/status/statusor.h"
#include "footprint/trainer_manager/runtime/training_state.h"

namespace footprint {

struct LoopState {
  // The size of the data. The position of a step in them follows from its
  // number.
  int64_t rows = 0;
  int64_t batches = 0;  // in an epoch

  // The losses of the epoch so far, each times the rows of its batch.
  double loss_sum = 0;
  int64_t loss_rows = 0;

  double best_loss = std::numeric_limits<double>::infinity();
  int64_t best_epoch = 0;      // from 1; 0: none yet
  int64_t worse_epochs = 0;    // since the best
  int64_t plateau_epochs = 0;  // since the best, or since the rate was lowered
  int64_t reductions = 0;      // of the rate
  bool stopped_early = false;

  friend bool operator==(const LoopState& a, const LoopState& b);
};

// Returns the state as notes, whose names begin with "loop.".
TrainingNotes ToNotes(const LoopState& state);

// Returns InvalidArgument if a note is missing, as in the file of a training
// that Train did not save, or if it is not a number, is NaN, or is a count
// below 0; the message names it.
absl::StatusOr<LoopState> FromNotes(const TrainingNotes& notes);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_TRAINING_LOOP_STATE_H_
