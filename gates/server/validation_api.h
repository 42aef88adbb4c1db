// Implements version 1 of the validation server's interface: the effect of each
// request and its answer, independent of HTTP. README.md lists the requests.
//
//   ValidationApi api(&store, &queue, &tokens, options);
//   ApiRequest request = {"GET", "/v1/trials/" + id, {}, token};
//   ApiResponse response = api.Answer(request);
//
// A bundle is uploaded in pieces: BeginUpload, BundleUpload::Append, EndUpload.
// To wait for a verdict, call StateEvent repeatedly.
//
// A bundle has one trial for each `verdict_context` and limits of a token. If
// its verdict says nothing about memory, the submitter may ask for another
// trial; the last one counts.
//
// A submission for a label that belongs to another token (access_tokens.h) is
// refused: by the label in the request at once, and by that of the bundle's
// manifest before there is a trial.
//
// Each answer is JSON, except binary profiles and the texts of verdicts,
// comparisons and metrics. An error is {"error": {"code", "message"}}, and the
// message names the next step. Every request except that for health needs a
// token with the right scope.
//
// Store, queue and tokens must outlive it. Thread-safe. Memory: an answer, at
// most a few MiB.

#ifndef FOOTPRINT_GATES_SERVER_VALIDATION_API_H_
#define FOOTPRINT_GATES_SERVER_VALIDATION_API_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/server/access_tokens.h"
#include "footprint/gates/server/label_reader.h"
#include "footprint/gates/server/rate_limit.h"
#include "footprint/gates/server/trial_queue.h"
#include "footprint/gates/store/bundle_folder.h"
#include "footprint/gates/store/trial_store.h"
#include "nlohmann/json_fwd.hpp"

namespace footprint {

struct ApiRequest {
  std::string method;
  // The path, decoded and without the query.
  std::string path;
  std::map<std::string, std::string> query;
  // The token of "Authorization: Bearer TOKEN"; empty if there is none.
  std::string token;
};

struct ApiResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::map<std::string, std::string> headers;
};

// The effect of a REJECT verdict.
enum class ServerMode {
  kEnforce,  // the submission is refused
  kWarn,     // accepted, with a warning
  kAudit,    // accepted, and recorded
};

// Parses "enforce", "warn" or "audit". Returns InvalidArgument for any other
// text.
absl::StatusOr<ServerMode> ParseServerMode(absl::string_view text);
const char* WordOfMode(ServerMode mode);

struct ApiOptions {
  // What a verdict depends on besides the bundle: thresholds, environment and
  // judge. A new context gives the same bundle a new trial.
  std::string verdict_context;
  ServerMode mode = ServerMode::kEnforce;
  int64_t most_bundle_bytes = int64_t{1} << 30;
  // The folder in which POST /v1/backups makes backups.
  std::string backups_folder;
  // Files that a backup has besides the store's own; a missing one is left out.
  std::vector<std::string> backed_up_files;
  // The file that gets an entry for each change that a token asks for (see
  // audit_log.h). Empty: none.
  std::string audit_log_path;
  // Reads the label of a bundle, if labels have owners (label_reader.h).
  // InvalidArgument says that the bundle is at fault: it has no label, and its
  // trial will say why. Other errors refuse the submission. Empty: only labels
  // in requests are checked. Called by one thread at a time.
  LabelReader::ReadLabel read_label;
  double most_requests_at_once = 1000;
  double requests_per_second = 500;
  // A clock for tests; empty for the system's.
  std::function<int64_t()> now_unix_seconds;
};

class ValidationApi {
 public:
  ValidationApi(TrialStore* store, TrialQueue* queue, AccessTokens* tokens,
                const ApiOptions& options);

  // Answers any request except an upload and events.
  ApiResponse Answer(const ApiRequest& request);

  // Begins POST /v1/trials with a body of `announced_bytes`. Returns the
  // upload, or the answer that refuses it.
  std::variant<ApiResponse, BundleUpload> BeginUpload(const ApiRequest& request,
                                                      int64_t announced_bytes);
  // Completes the upload, submits its trial, and returns the answer.
  ApiResponse EndUpload(const ApiRequest& request, BundleUpload upload);

  // Returns the key of the trial whose events the request may follow, or the
  // answer that refuses it.
  std::variant<ApiResponse, std::string> BeginEvents(const ApiRequest& request);
  // Returns a trial's state as one line of JSON, or the error of
  // TrialStore::Find. Sets `is_last` to whether the trial is decided.
  absl::StatusOr<std::string> StateEvent(const std::string& key, bool* is_last);

  // Ends requests that read bundles for their labels soon.
  void Stop() { labels_.Stop(); }

 private:
  using Handler = ApiResponse (ValidationApi::*)(const ApiRequest& request,
                                                 const std::string& id);
  struct Route;

  // Returns the token's rights, or the answer that refuses it.
  std::variant<ApiResponse, AccessGrant> Admit(const ApiRequest& request,
                                               unsigned scope);
  int64_t Now() const;
  // Writes an entry of the audit log.
  absl::Status Record(
      const AccessGrant& grant, const char* action,
      std::vector<std::pair<std::string, std::string>> details) const;
  // Returns the token's rights without counting the request. Returns
  // Unauthenticated for a token without any, and Internal if the file of tokens
  // cannot be read; the message does not tell a stranger why.
  absl::StatusOr<AccessGrant> CheckToken(const ApiRequest& request) const;
  // Returns the trial that a request asks for, apart from its key.
  static absl::StatusOr<NewTrial> ParseSubmission(const ApiRequest& request,
                                                  const AccessGrant& grant);
  absl::Status RecordSubmission(const ApiRequest& request,
                                const AccessGrant& grant,
                                const NewTrial& trial) const;
  // Returns PermissionDenied, and writes an entry of the audit log, if another
  // token owns the label.
  absl::Status CheckOwner(const AccessGrant& grant,
                          const std::string& bundle_sha256,
                          const std::string& label);
  // Does the same for all labels of a submission: that of the request, and that
  // of the decided trial of its key. If there is no such trial, the store will
  // check the label of the bundle.
  absl::Status CheckOwners(const AccessGrant& grant, NewTrial* trial);
  // Sets the key: of the bundle's last trial, or of a new one if it may have
  // one. Returns whether there was no such trial.
  absl::StatusOr<bool> FindKey(const ApiRequest& request,
                               NewTrial* trial) const;
  ApiResponse Submit(const NewTrial& trial);
  ApiResponse SubmitKnown(const ApiRequest& request, const std::string& id);
  ApiResponse ShowTrial(const ApiRequest& request, const std::string& id);
  ApiResponse ShowVerdict(const ApiRequest& request, const std::string& id);
  ApiResponse ShowProfile(const ApiRequest& request, const std::string& id);
  ApiResponse ShowHistory(const ApiRequest& request, const std::string& id);
  ApiResponse ShowDeployments(const ApiRequest& request, const std::string& id);
  ApiResponse Compare(const ApiRequest& request, const std::string& id);
  ApiResponse ShowHealth(const ApiRequest& request, const std::string& id);
  ApiResponse ShowMetrics(const ApiRequest& request, const std::string& id);
  ApiResponse BackUp(const ApiRequest& request, const std::string& id);

  absl::StatusOr<StoredResult> DecidedResult(const std::string& key) const;
  nlohmann::json TrialJson(const StoredTrial& trial) const;

  TrialStore* const store_;
  TrialQueue* const queue_;
  AccessTokens* const tokens_;
  const ApiOptions options_;
  RateLimit limit_;
  LabelReader labels_;
  std::atomic<int64_t> request_count_ = 0;
  std::atomic<int64_t> submission_count_ = 0;
  std::atomic<int64_t> refusal_count_ = 0;
};

// Returns the answer {"error": {"code": code, "message": message}}.
ApiResponse ErrorResponse(int status, absl::string_view code,
                          absl::string_view message);
// Returns the answer for the code of the status, with "Retry-After" for
// Unavailable.
ApiResponse ErrorResponse(const absl::Status& status);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SERVER_VALIDATION_API_H_
