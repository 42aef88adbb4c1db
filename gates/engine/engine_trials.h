// Has the command of an engine run trials, on whichever machine it chooses.
//
//   EngineOptions options;
//   options.command = *EngineCommand::Parse(text, folder);
//   options.key = *ReadSigningKey("/etc/footprint/key");
//   options.folder = "/shared/footprint";
//   options.make_request = ...;
//   TrialQueue queue(store, RunByEngine(options), {});
//
// Each attempt to run a trial has a name and a folder of its own, with the
// bundle, the order and the place for the result (trial_files.h). The command
// must end after the trial, and only a signed result to this order counts,
// whatever the command's status. These are failures of the engine: it cannot be
// started, it leaves no result or one that is refused, it does not end in time.
// After a failure the trial is handed over again, at most `most_attempts` times
// in all, after pauses that grow tenfold, up to ten minutes. A result that
// comes later finds its folder gone. If no folder can be made in
// `options.folder`, the trial waits until one can. So a trial ends in exactly
// one of these ways:
//
//   the result's verdict    a host with this environment tried the bundle
//   ENVIRONMENT_MISMATCH    a host with another one tried it
//   an error                the host could not try it, or the engine has failed
//                           too often: the queue makes it INCONCLUSIVE, or
//                           tries again later if the host had no room
//   kCancelled              the server stops, and the command was ended
//
// `options.make_request` and `options.report` are called on several threads at
// once; what they refer to must outlive the function. Memory: a reply for each
// trial that runs. No memory of this machine is admitted: the command's {limit}
// tells the engine what the trial needs.

#ifndef FOOTPRINT_GATES_ENGINE_ENGINE_TRIALS_H_
#define FOOTPRINT_GATES_ENGINE_ENGINE_TRIALS_H_

#include <functional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "footprint/gates/engine/engine_command.h"
#include "footprint/gates/server/trial_queue.h"
#include "footprint/gates/trials/trial.pb.h"

namespace footprint {

struct EngineOptions {
  EngineCommand command;
  // Signs the results; at least 16 bytes.
  std::string key;
  // The folder in which each attempt has one, on a disk that all machines see.
  std::string folder;
  // The names of these folders begin with it.
  std::string prefix = "trial";
  // The environment (HostText) for which this server's verdicts are.
  std::string environment;
  // Returns the request of a trial. Its bundle_path, work_folder and
  // lowmem_program are ignored, since the other machine has its own.
  std::function<TrialRequest(const TrialToRun&)> make_request;
  // How much longer than its trial a command may take: a scheduler's queue.
  absl::Duration most_wait = absl::Minutes(10);
  int most_attempts = 3;
  absl::Duration first_pause = absl::Seconds(1);
  // Gets a line for the operator at each failure. Empty: none.
  std::function<void(absl::string_view line)> report;
};

RunTrialFunction RunByEngine(EngineOptions options);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_ENGINE_ENGINE_TRIALS_H_
