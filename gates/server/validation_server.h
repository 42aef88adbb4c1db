// Runs a validation server as a process: store, queue, interface and HTTP
// together, until a signal ends it.
//
//   ValidationServerOptions options;
//   options.store_folder = "/var/lib/footprint";
//   absl::Status status =
//       ServeUntilSignalled(options, run_trial, [](int port) {
//         std::printf("listening at port %d\n", port);
//       });
//
// SIGTERM and SIGINT end it: it takes no more requests, waits for running
// trials, and leaves waiting trials in the store. A second signal ends it at
// once: running trials lose an attempt, but nothing that was acknowledged is
// lost.
//
// A process may call it once, on its main thread, since it handles the
// process's signals. Keeps nothing after it returns. Memory: that of its parts
// (trial_store.h, http_server.h). Errors: those of TrialStore::Open,
// HttpServer::Start and VerdictWebhook::Start, and FileError's if there is no
// descriptor for a pipe. If another server has the store, it waits for that to
// end, but not longer than five seconds. If another program has locked the
// database, the one try takes ten.

#ifndef FOOTPRINT_GATES_SERVER_VALIDATION_SERVER_H_
#define FOOTPRINT_GATES_SERVER_VALIDATION_SERVER_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/server/http_server.h"
#include "footprint/gates/server/oidc_issuers.h"
#include "footprint/gates/server/trial_queue.h"
#include "footprint/gates/server/validation_api.h"
#include "footprint/gates/store/trial_store.h"

namespace footprint {

struct ValidationServerOptions {
  // The folder of the database, the bundles, the tokens, the backups and the
  // audit log.
  std::string store_folder;
  TrialStoreOptions store;
  TrialQueueOptions queue;
  // Its `backups_folder`, `backed_up_files` and `audit_log_path` are not used:
  // they lie in the store.
  ApiOptions api;
  HttpServerOptions http;
  // The address that is told of verdicts (verdict_webhook.h), and the key of
  // the signature. If they are empty, none is told.
  std::string webhook_url;
  std::string webhook_key;
  // Takes tokens of CI systems, too; not owned, and null for none.
  OidcIssuers* oidc = nullptr;
  // Gets lines for the operator. Empty: none.
  std::function<void(absl::string_view line)> report;
};

// Returns the path of the file that holds a store's tokens.
std::string MakeTokenPath(const std::string& store_folder);

// Serves until a signal. Calls `is_ready` once the server listens at the port.
absl::Status ServeUntilSignalled(const ValidationServerOptions& options,
                                 const RunTrialFunction& run,
                                 const std::function<void(int port)>& is_ready);

}  // namespace footprint

// Tested by server_process_test.

#endif  // FOOTPRINT_GATES_SERVER_VALIDATION_SERVER_H_
