// A validation server as a process: store, queue, interface and HTTP together,
// until it is told to end.
//
//   ValidationServerOptions options;
//   options.store_folder = "/var/lib/footprint";
//   absl::Status status = ServeUntilSignalled(options, run_trial, [](int port)
//   {
//     std::printf("listening at port %d\n", port);
//   });
//
// SIGTERM and SIGINT end it: no request is taken any more, what runs is waited
// for, what waits stays in the store. A second signal ends it at once, which
// costs the trials that run another try, and nothing that was acknowledged.
//
// Once in a process, on its main thread, since signals are the process's. Owns
// nothing after the return. Memory: that of its parts (trial_store.h,
// http_server.h). Errors: those of TrialStore::Open and HttpServer::Start.

#ifndef FOOTPRINT_GATES_SERVER_VALIDATION_SERVER_H_
#define FOOTPRINT_GATES_SERVER_VALIDATION_SERVER_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "footprint/gates/server/http_server.h"
#include "footprint/gates/server/trial_queue.h"
#include "footprint/gates/server/validation_api.h"
#include "footprint/gates/store/trial_store.h"

namespace footprint {

struct ValidationServerOptions {
  // The folder of the database, the bundles, the tokens and the backups.
  std::string store_folder;
  TrialStoreOptions store;
  TrialQueueOptions queue;
  ApiOptions api;
  HttpServerOptions http;
};

// Returns the path of the file that holds a store's tokens.
std::string MakeTokenPath(const std::string& store_folder);

// `is_ready` is called once the port is listened at.
absl::Status ServeUntilSignalled(const ValidationServerOptions& options,
                                 const RunTrialFunction& run,
                                 const std::function<void(int port)>& is_ready);

}  // namespace footprint

// Tested by server_process_test.

#endif  // FOOTPRINT_GATES_SERVER_VALIDATION_SERVER_H_
