// Reads the next batch of a training while a step runs.
//
//   footprint::BatchReadAhead batches(plan, loader, /*steps=*/100);
//   for (int64_t step = 0; step < 100; ++step) {
//     status = batches.Fill(step, manager.get());
//     loss = manager->TrainStep();
//   }
//
// Use it if rows take long to read, for example if a function decodes pictures.
// A thread of its own then reads the rows of step n + 1 during step n, and the
// manager gets the same values as from BatchLoader. For rows in memory, filling
// the manager's batch itself is faster.
//
// Keeps a copy of the loader, whose data set no other thread may read
// meanwhile. The destructor waits for the batch that is being read.
// Thread-compatible. Memory: that of a BatchCopy and of the loader. Time: a new
// thread for each batch, some 30 us, and a copy of its values.

#ifndef FOOTPRINT_TRAINER_MANAGER_TRAINING_BATCH_READ_AHEAD_H_
#define FOOTPRINT_TRAINER_MANAGER_TRAINING_BATCH_READ_AHEAD_H_

#include <cstdint>
#include <future>

#include "absl/status/status.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/runtime/manager.h"
#include "footprint/trainer_manager/training/batch_copy.h"
#include "footprint/trainer_manager/training/batch_loader.h"

namespace footprint {

class BatchReadAhead {
 public:
  // Reads nothing beyond the step `steps` - 1. The plan is not kept.
  BatchReadAhead(const ExecutionPlan& plan, BatchLoader loader, int64_t steps);
  BatchReadAhead(const BatchReadAhead&) = delete;
  BatchReadAhead& operator=(const BatchReadAhead&) = delete;

  // Fills the batch of a step, waits for its rows if necessary, and begins to
  // read those of the next step. Steps in another order cost the batch that was
  // read in vain. `manager` must be one of the plan. Errors: those of
  // BatchLoader::Fill, each in the step whose rows could not be read.
  absl::Status Fill(int64_t step, Manager* manager);

 private:
  void Begin(int64_t step);

  BatchLoader loader_;
  BatchCopy batch_;
  const int64_t steps_;
  int64_t step_ = -1;  // whose batch is read or being read; -1: none
  // The last member, since its destructor waits for the thread.
  std::future<absl::Status> read_;
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_TRAINING_BATCH_READ_AHEAD_H_
