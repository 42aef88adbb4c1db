// Runs the trial of an order on this machine, and makes the reply to it.
//
//   absl::StatusOr<OrderedTrial> ordered = ReadTrialOrder("work/order");
//   LocalTrial local;
//   local.bundle_path = "work/bundle";
//   local.work_folder = TemporaryFolderParent();
//   TrialReply reply = TryOrder(*ordered, local);
//   absl::Status status = WriteTrialReply(reply, key, "work/result");
//
// Every order gets a reply: a result, or the error for which there is none. A
// bundle that is not the ordered one is not tried, nor is an order of a server
// whose judge is of another version.
//
// Thread-safe. Memory and time: those of RunTrial (run_trial.h). What is left
// behind: that of WorkFolder (work_folder.h).

#ifndef FOOTPRINT_GATES_ENGINE_TRY_ORDER_H_
#define FOOTPRINT_GATES_ENGINE_TRY_ORDER_H_

#include <string>

#include "footprint/gates/engine/trial_files.h"
#include "footprint/gates/server/stored_result.pb.h"
#include "footprint/gates/trials/trial.pb.h"

namespace footprint {

// The part of a trial that differs from machine to machine, so that no order
// says it.
struct LocalTrial {
  std::string bundle_path;
  // A folder in which one is made for the trial's files, on a disk of this
  // machine.
  std::string work_folder;
  // The program that runs checkpoints; empty: they are refused.
  std::string lowmem_program;
};

TrialReply TryOrder(const OrderedTrial& ordered, const LocalTrial& local);

// Returns what a server stores of a trial's result.
StoredResult MakeStoredResult(const TrialResult& result);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_ENGINE_TRY_ORDER_H_
