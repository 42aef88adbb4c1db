// Trains a network on a data set: the loop that most programs need. A program
// that needs another loop writes a few lines with the Manager
// (//trainer_manager:manager).
//
//   footprint::TrainOptions options;
//   options.manager.optimizer = footprint::AdamW(
//       footprint::AfterWarmUp(100, footprint::CosineRate(3e-3f, 1e-5f,
//                                                      2000)));
//   options.epochs = 30;
//   options.validation = held_out;
//   options.patience = 5;
//   options.best_path = "best.safetensors";
//   options.state_path = "training.safetensors";
//   auto result = footprint::Train(network, data, options);
//
// The batch size is the network's; fewer rows at the end of an epoch train in a
// short batch, unless drop_last is set. After each epoch the loss on
// `validation`, or without one the epoch's mean training loss, decides whether
// the epoch is the best so far.
//
// A training that ended, or was stopped or killed, continues from `state_path`
// when Train is called again with the same arguments, and ends with the same
// bits as one that was not interrupted.
//
// MemoryOptions::micro_batches computes a batch in parts, so that fewer
// activations are live at once. The gradient is the mean over all rows of the
// batch, up to the rounding of sums in another order.
//
// Refers to the memory of the data sets. Two calls at once must not use the
// same files or parameters. Memory: that of the Manager; during an evaluation,
// that of an inference instead of the arena (PlanEvaluationBeside, in
// execution_plan.h). The best weights are kept in a file, not in memory.

#ifndef FOOTPRINT_TRAINER_MANAGER_TRAINING_TRAIN_H_
#define FOOTPRINT_TRAINER_MANAGER_TRAINING_TRAIN_H_

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/manager_options.h"
#include "footprint/trainer_manager/training/data_set.h"
#include "footprint/trainer_manager/training/evaluation.h"
#include "footprint/trainer_manager/training/progress_lines.h"

namespace footprint {

struct TrainOptions {
  // The optimizer, and limits for gradients. The seed also determines the rows'
  // order and the first weights.
  ManagerOptions manager;
  MemoryOptions memory;
  // The number of threads among which each step is divided, from 1 to 64; the
  // bits do not depend on it (//trainer_manager/math:highway_backend).
  int threads = 1;
  int64_t epochs = 1;
  bool shuffle = true;
  bool drop_last = false;  // leaves out rows that do not fill a batch
  // Reads the next batch in a thread of its own while a step runs, so that a
  // slow DataSet::ReadBy takes no time besides the steps. Its function is then
  // called by that thread, while on_step and the validation may run in the
  // caller's, and once more in vain if the training ends early. Needs the
  // memory of one more batch. The bits do not depend on it.
  bool read_ahead = false;

  // The initial weights, which are then trained; null: they are drawn.
  std::shared_ptr<Parameters> parameters;

  absl::optional<DataSet> validation;
  // The training ends after that many epochs without a lower loss; 0: never.
  int64_t patience = 0;
  // The rate is multiplied by plateau_factor each time that more than
  // plateau_patience epochs bring no lower loss, like PyTorch's
  // ReduceLROnPlateau with a threshold of 0. A factor of 1 turns this off.
  float plateau_factor = 1;
  int64_t plateau_patience = 10;

  // The file of the best epoch's weights, which the parameters hold when the
  // training is finished. Unless a training is resumed, the first weights are
  // written to it before the first step. If empty, the parameters hold the
  // weights of the last step.
  std::string best_path;
  // The file of the training. It is read at the start if it exists. It is
  // written before the first step, to fail early if it cannot be, after each
  // epoch, after every `save_every` steps if that is not 0, and when on_step
  // ends the training. While it is written, the disk has it twice. If empty,
  // there is no such file. An empty file beside it, with the ending ".lock",
  // keeps two trainings from writing it at once.
  std::string state_path;
  int64_t save_every = 0;

  // Receives lines of progress, at most one in two seconds; null: none.
  std::ostream* progress = nullptr;
  // Called after each step; returns false to save and end the training.
  std::function<bool(const StepProgress&)> on_step;
};

struct EpochResult {
  int64_t epoch = 0;  // from 1
  // The mean of the batches' losses before each step, weighted by their rows.
  double training_loss = 0;
  absl::optional<Metrics> validation;
};

struct TrainResult {
  std::shared_ptr<Parameters> parameters;
  std::vector<EpochResult> epochs;  // those that this call completed
  int64_t steps = 0;                // in all, including those of earlier calls
  double best_loss = 0;             // infinite: no epoch has ended
  int64_t best_epoch = 0;           // 0: no epoch has ended
  bool stopped_early = false;       // by `patience`
  bool is_finished = false;         // false: on_step ended it
  // The metrics of `parameters`, if there is a validation and the training is
  // finished.
  absl::optional<Metrics> validation;
  int64_t planned_bytes = 0;
  int64_t bytes_saved_by_freezing = 0;
};

// Trains, or resumes the training in the file. A resumed training may have
// other epochs, patience, save_every, memory and threads. With another batch,
// optimizer, rate, group, limit of gradients, order of rows, validation or
// plateau, with other frozen weights in their file, or if only one of the two
// calls has a best_path, it is refused, and nothing changes. Data sets are
// compared by their numbers of rows, and layers by their types and inputs: the
// caller must give the same values and hyperparameters.
//
// Returns InvalidArgument if there is no optimizer, fewer than one epoch, a
// patience, plateau_patience or save_every below 0, a number of threads that is
// not from 1 to 64, or a plateau factor that is not above 0 and at most 1, or
// is below 1 with an optimizer without Optimizer::ForGroup; if both files have
// one path; if there are too many steps to count; if the data do not suit the
// network (BatchLoader::Create); if the file of the training is that of another
// network, seed, data set or setting or has more steps than these epochs, or if
// the file of its best weights is missing. Given parameters are then unchanged.
// Returns FailedPrecondition if another training is using the file of the
// training (LockTrainingState). Other errors are those of planning, of a step
// and of files; the last saved state stays.
absl::StatusOr<TrainResult> Train(const Network& network, const DataSet& data,
                                  const TrainOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_TRAINING_TRAIN_H_
