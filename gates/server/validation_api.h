// The validation server's interface, version 1: the effect of each request and
// its answer, apart from how HTTP carries it. README.md lists the requests.
//
//   ValidationApi api(&store, &queue, &tokens, options);
//   ApiRequest request = {"GET", "/v1/trials/" + id, {}, token};
//   ApiResponse response = api.Answer(request);
//
// A bundle comes in pieces: BeginUpload, BundleUpload::Append, EndUpload. Who
// waits for a verdict asks StateEvent again and again.
//
// A bundle has one trial; where that gave no verdict on memory, and the
// submitter asks for it, another, and the last one is what counts.
//
// Each answer is JSON but the texts of verdicts and metrics; an error is
// {"error": {"code", "message"}}, and the message names the next step. Every
// request but that for health wants a token of the scope that it needs.
//
// Store, queue and tokens outlive it. Thread-safe. Memory: an answer, at most
// some MiB.

#ifndef FOOTPRINT_GATES_SERVER_VALIDATION_API_H_
#define FOOTPRINT_GATES_SERVER_VALIDATION_API_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/server/access_tokens.h"
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

// Effect of a rejection.
enum class ServerMode {
  kEnforce,  // is not accepted
  kWarn,     // is accepted, and told
  kAudit,    // is accepted, and recorded
};

// "enforce", "warn" or "audit".
absl::StatusOr<ServerMode> ParseServerMode(absl::string_view text);
const char* WordOfMode(ServerMode mode);

struct ApiOptions {
  // Context of a verdict besides the bundle: thresholds, environment and judge.
  // Another one makes a new trial of the same bundle.
  std::string verdict_context;
  ServerMode mode = ServerMode::kEnforce;
  int64_t most_bundle_bytes = int64_t{1} << 30;
  // The folder where POST /v1/backups puts them.
  std::string backups_folder;
  double most_requests_at_once = 1000;
  double requests_per_second = 500;
  // The clock, for tests.
  std::function<int64_t()> now_unix_seconds;
};

class ValidationApi {
 public:
  ValidationApi(TrialStore* store, TrialQueue* queue, AccessTokens* tokens,
                const ApiOptions& options);

  // All requests but an upload and events.
  ApiResponse Answer(const ApiRequest& request);

  // POST /v1/trials with `announced_bytes` of a body to come, or why not.
  std::variant<ApiResponse, BundleUpload> BeginUpload(const ApiRequest& request,
                                                      int64_t announced_bytes);
  ApiResponse EndUpload(const ApiRequest& request, BundleUpload upload);

  // Returns whether the request may follow events, and of which trial; its key,
  // or an error to answer with.
  std::variant<ApiResponse, std::string> BeginEvents(const ApiRequest& request);
  // A trial's state as one line of JSON. `is_last`: it is decided.
  absl::StatusOr<std::string> StateEvent(const std::string& key, bool* is_last);

 private:
  using Handler = ApiResponse (ValidationApi::*)(const ApiRequest& request,
                                                 const std::string& id);
  struct Route;

  // The grant, or the error.
  std::variant<ApiResponse, AccessGrant> Admit(const ApiRequest& request,
                                               unsigned scope);
  ApiResponse Submit(const ApiRequest& request, const AccessGrant& grant);
  // The bundle's last trial, or a new one where it may have one.
  absl::StatusOr<Submission> SubmitOrFind(NewTrial trial, bool is_again);
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
  std::atomic<int64_t> request_count_ = 0;
  std::atomic<int64_t> submission_count_ = 0;
  std::atomic<int64_t> refusal_count_ = 0;
};

// {"error": {"code": code, "message": message}}.
ApiResponse ErrorResponse(int status, absl::string_view code,
                          absl::string_view message);
// Answers by the code of the status; with "Retry-After" where another time may
// do.
ApiResponse ErrorResponse(const absl::Status& status);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SERVER_VALIDATION_API_H_
