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
// A bundle that the server knows is not sent again. Where the server is busy,
// restarts or drops the connection, it is asked again until the time is up:
// submitting twice is submitting once.
//
// Thread-safe. The file is read as it is sent; the result owns its texts.
// Memory: 1 MiB and the report. Errors: InvalidArgument and PermissionDenied:
// the server's, or of the file; Unavailable: no server there; DeadlineExceeded:
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
  // "http://HOST:PORT" or "https://HOST:PORT".
  std::string server;
  std::string token;
  // The deployment's name; empty: as the manifest says.
  std::string deployment;
  // Runs it once more where the verdict that is there is none on memory.
  bool is_again = false;
  int64_t wait_seconds = 1800;
  // The format of the report: text, json, junit, markdown, or another of
  // check's.
  std::string format = "text";
  bool has_every_rule = false;
  bool has_colour = false;
  int64_t width = 80;
  // Called at each step: "waiting", "running: measuring". May be empty.
  std::function<void(absl::string_view step)> report_step;
};

struct SubmittedVerdict {
  std::string report;
  std::string trial_id;
  std::string summary;
  // "enforce", "warn" or "audit"; in the latter two the status is 0.
  std::string mode;
  int exit_status = 0;
  // The server had the verdict already.
  bool is_from_store = false;
  // It is none on memory, and `is_again` would run the bundle once more.
  bool can_run_again = false;
};

// Whether this build's cpp-httplib speaks TLS.
extern const bool kSubmitHasTls;

// Returns whether `server` is http or, where there is TLS, https, a host and a
// port. InvalidArgument: it is something else. FailedPrecondition: https
// without TLS. Pure.
absl::Status CheckServerAddress(const std::string& server, bool has_tls);

absl::StatusOr<SubmittedVerdict> SubmitBundle(const std::string& bundle_path,
                                              const SubmitOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SERVER_SUBMIT_CLIENT_H_
