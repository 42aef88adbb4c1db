// Submits a bundle to a validation server, and waits for its verdict.
//
//   SubmitOptions options;
//   options.server = "http://127.0.0.1:7878";
//   options.token = token;
//   absl::StatusOr<SubmittedVerdict> verdict =
//       SubmitBundle("model.bundle", options);
//   if (!verdict.ok()) return verdict.status();    // says the next step
//   std::fputs(verdict->report.c_str(), stdout);
//   return verdict->exit_status;
//
// A bundle that the server knows is not sent again. If the server is busy,
// restarts or drops the connection, the request is repeated until the time is
// up, which is safe because submitting is idempotent. If nothing listens at the
// address at the beginning, or the bundle is larger than the server takes,
// SubmitBundle fails at once.
//
// Thread-safe. The file is read while it is sent; the result owns its texts.
// Memory: 1 MiB and the report. Errors: those of the file; InvalidArgument if
// the address is malformed; ResourceExhausted if the bundle is too large;
// FailedPrecondition for https without TLS; PermissionDenied if the server
// refuses the token; NotFound if it does not know the trial or the path;
// InvalidArgument if it refuses the request otherwise; Unavailable if no server
// answers, or it stays busy, fails or has no room; DeadlineExceeded if there is
// no verdict in time.

#ifndef FOOTPRINT_GATES_SERVER_SUBMIT_CLIENT_H_
#define FOOTPRINT_GATES_SERVER_SUBMIT_CLIENT_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace footprint {

struct SubmitOptions {
  // "http://HOST:PORT" or "https://HOST:PORT". The port and "http://" may be
  // left out.
  std::string server;
  std::string token;
  // Returns the token of now. Called if the server refuses one, since tokens of
  // CI jobs expire within minutes. May be empty.
  std::function<absl::StatusOr<std::string>()> renew_token;
  // The deployment's name; empty for the manifest's.
  std::string deployment;
  // Whether to run the bundle again if its last verdict says nothing about
  // memory.
  bool is_again = false;
  int64_t wait_seconds = 1800;
  // The size of the largest bundle that the server takes; 0: the server is
  // asked.
  int64_t most_bundle_bytes = 0;
  // The format of the report: text, json, junit, markdown, or another format of
  // //gates:check.
  std::string format = "text";
  bool has_every_rule = false;
  bool has_colour = false;
  int64_t width = 80;  // from 40 to 1000
  // Called at each step: "waiting", "running: measuring". May be empty.
  std::function<void(absl::string_view step)> report_step;
  // This function, unless it is empty, is called while the bundle is "hashing"
  // or "sending", a literal, with the bytes that are done.
  std::function<void(const char* work, int64_t done_bytes, int64_t all_bytes)>
      report_bytes;
};

struct SubmittedVerdict {
  std::string report;
  std::string trial_id;
  std::string summary;
  // "enforce", "warn" or "audit"; in the latter two the status is 0.
  std::string mode;
  int exit_status = 0;
  // Whether the server already had the verdict.
  bool is_from_store = false;
  // Whether the verdict says nothing about memory, so that `is_again` would run
  // the bundle again.
  bool can_run_again = false;
};

// Whether this build's cpp-httplib speaks TLS.
extern const bool kSubmitHasTls;

// Checks that `server` is "http://HOST:PORT" or, with TLS, "https://HOST:PORT".
// The port and "http://" may be left out. Returns InvalidArgument if it is
// something else, and FailedPrecondition for https without TLS. Pure function.
absl::Status CheckServerAddress(const std::string& server, bool has_tls);

// Returns the size of the largest bundle that the server takes, or the largest
// int64 if the server does not say it. Fails at once if nothing listens at the
// address. The errors are those above.
absl::StatusOr<int64_t> AskMostBundleBytes(const SubmitOptions& options);

// Submits the bundle and waits for its verdict, with the errors above. A REJECT
// is not an error: it is in the report and the exit status.
absl::StatusOr<SubmittedVerdict> SubmitBundle(const std::string& bundle_path,
                                              const SubmitOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SERVER_SUBMIT_CLIENT_H_
