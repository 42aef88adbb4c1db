#include "footprint/gates/server/validation_api.h"

#include <cmath>
#include <cstddef>
#include <ctime>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/machine/monotonic_time.h"
#include "footprint/base/memory/resident_bytes.h"
#include "footprint/base/report/report_formats.h"
#include "footprint/base/text/message_json.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/explaining/diff_report.h"
#include "footprint/gates/explaining/profile_diff.h"
#include "footprint/gates/reports/report_formats.h"
#include "footprint/gates/reports/verdict_words.h"
#include "footprint/gates/server/audit_log.h"
#include "footprint/gates/server/backup_files.h"
#include "footprint/gates/server/utc_time.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using nlohmann::json;

constexpr int64_t kMostListed = 500;
constexpr int64_t kUsuallyListed = 50;
constexpr size_t kMostDeploymentLength = 200;
// The name under which all requests without a valid token are counted together.
constexpr char kNobody[] = "";

constexpr char kSubmissionsPath[] = "/v1/trials";
// Beyond it, one more request to run a bundle again gets the last verdict.
constexpr int kMostReruns = 1000;

std::string Dumped(const json& value) {
  return value.dump(-1, ' ', /*ensure_ascii=*/true,
                    json::error_handler_t::replace) +
         "\n";
}

ApiResponse JsonResponse(int status, const json& value) {
  ApiResponse response;
  response.status = status;
  response.body = Dumped(value);
  return response;
}

std::string QueryValue(const ApiRequest& request, const std::string& name,
                       const std::string& otherwise) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? otherwise : found->second;
}

// Reads a number of the query. Returns false unless it is from 0 to `most`.
bool QueryNumber(const ApiRequest& request, const std::string& name,
                 int64_t otherwise, int64_t most, int64_t* number) {
  const std::string text = QueryValue(request, name, absl::StrCat(otherwise));
  return absl::SimpleAtoi(text, number) && *number >= 0 && *number <= most;
}

json TimeJson(int64_t unix_seconds) {
  if (unix_seconds == 0) return nullptr;
  return FormatUtcTime(unix_seconds);
}

const char* WordOfState(TrialState state) {
  switch (state) {
    case TrialState::kWaiting:
      return "waiting";
    case TrialState::kRunning:
      return "running";
    default:
      return "decided";
  }
}

// Returns whether the trial's verdict says nothing about memory, which another
// run may change.
bool CanRunAgain(const StoredTrial& trial) {
  return trial.state == TrialState::kDecided &&
         (trial.decision == PRODUCER_FAILED || trial.decision == INCONCLUSIVE ||
          trial.decision == ENVIRONMENT_MISMATCH);
}

// Returns what a verdict depends on of the token: under other limits the same
// bundle may have another verdict.
std::string LimitsContext(const SubmitterLimits& limits) {
  if (limits.most_budget_bytes == 0 && limits.most_seconds == 0) return "";
  return absl::StrCat("\nlimits ", limits.most_budget_bytes, " ",
                      limits.most_seconds);
}

absl::Status UnreadableTokens() {
  return absl::InternalError(
      "the server cannot read its tokens; `serve token list` tells its "
      "operator why");
}

// Returns PermissionDenied, with the next step, for a token without the scope.
absl::Status CheckScope(const AccessGrant& grant, unsigned scope,
                        int64_t now_unix_seconds) {
  if ((grant.scopes & scope) != 0) return absl::OkStatus();
  // Some tokens may still read after their expiry (oidc.proto).
  if (grant.expiry_unix_seconds != 0 &&
      now_unix_seconds >= grant.expiry_unix_seconds) {
    return absl::PermissionDeniedError(absl::StrCat(
        "the token '", grant.name, "' expired at ",
        FormatUtcTime(grant.expiry_unix_seconds), ", and this needs ",
        ScopesText(scope), "; have CI ask for a new one"));
  }
  return absl::PermissionDeniedError(absl::StrCat(
      "the token '", grant.name, "' has the scopes ", ScopesText(grant.scopes),
      ", and this needs ", ScopesText(scope)));
}

// Returns whether the request asks for one more run of its bundle.
bool IsAgain(const ApiRequest& request) {
  return QueryValue(request, "again", "") == "1";
}

double MonotonicSeconds() {
  return static_cast<double>(MonotonicTimeNs()) * 1e-9;
}

int64_t UnixSeconds() { return static_cast<int64_t>(std::time(nullptr)); }

void AddMetric(absl::string_view name, absl::string_view type,
               absl::string_view help, absl::string_view suffix, int64_t value,
               std::string* text) {
  absl::StrAppend(text, "# TYPE footprint_", name, " ", type, "\n# HELP ",
                  "footprint_", name, " ", help, "\nfootprint_", name, suffix,
                  " ", value, "\n");
}

// Returns why the verdict is not ACCEPT: each rejection, and each problem that
// gave no judgement.
std::vector<std::string> FindReasons(const Verdict& verdict) {
  std::vector<std::string> reasons;
  for (const Judgement& judgement : verdict.judgements()) {
    if (FindOutcome(judgement) == Outcome::kRejects) {
      reasons.push_back(DescribeViolation(judgement));
    }
  }
  for (const Problem& problem : verdict.problems()) {
    reasons.push_back(
        absl::StrCat(problem.location(), ": ", problem.message()));
  }
  return reasons;
}

}  // namespace

ApiResponse ErrorResponse(int status, absl::string_view code,
                          absl::string_view message) {
  return JsonResponse(
      status,
      {{"error",
        {{"code", std::string(code)}, {"message", std::string(message)}}}});
}

ApiResponse ErrorResponse(const absl::Status& status) {
  const auto with = [&](int http_status, absl::string_view code) {
    return ErrorResponse(http_status, code, status.message());
  };
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return with(400, "invalid_argument");
    case absl::StatusCode::kUnauthenticated: {
      ApiResponse response = with(401, "unauthenticated");
      response.headers["WWW-Authenticate"] = "Bearer";
      return response;
    }
    case absl::StatusCode::kPermissionDenied:
      return with(403, "permission_denied");
    case absl::StatusCode::kNotFound:
      return with(404, "not_found");
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
      return with(409, "conflict");
    case absl::StatusCode::kResourceExhausted:
      return with(507, "store_full");
    case absl::StatusCode::kUnavailable: {
      ApiResponse response = with(503, "unavailable");
      response.headers["Retry-After"] = "1";
      return response;
    }
    default:
      return with(500, "internal");
  }
}

absl::StatusOr<ServerMode> ParseServerMode(absl::string_view text) {
  for (const ServerMode mode :
       {ServerMode::kEnforce, ServerMode::kWarn, ServerMode::kAudit}) {
    if (text == WordOfMode(mode)) return mode;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no mode '", text, "'; there are enforce, warn and audit"));
}

const char* WordOfMode(ServerMode mode) {
  switch (mode) {
    case ServerMode::kEnforce:
      return "enforce";
    case ServerMode::kWarn:
      return "warn";
    default:
      return "audit";
  }
}

// A path's parts after "/v1/"; "*" is the id of a trial.
struct ValidationApi::Route {
  const char* method;
  const char* path;
  unsigned scope;  // 0: no token
  Handler handler;
};

ValidationApi::ValidationApi(TrialStore* store, TrialQueue* queue,
                             AccessTokens* tokens, const ApiOptions& options)
    : store_(store),
      queue_(queue),
      tokens_(tokens),
      options_(options),
      limit_(options.most_requests_at_once, options.requests_per_second),
      labels_(options.read_label) {}

int64_t ValidationApi::Now() const {
  return options_.now_unix_seconds ? options_.now_unix_seconds()
                                   : UnixSeconds();
}

absl::Status ValidationApi::Record(
    const AccessGrant& grant, const char* action,
    std::vector<std::pair<std::string, std::string>> details) const {
  if (options_.audit_log_path.empty()) return absl::OkStatus();
  if (!grant.subject.empty()) details.emplace_back("subject", grant.subject);
  const absl::Status status = AppendToAuditLog(
      options_.audit_log_path, Now(), {grant.name, action, std::move(details)});
  if (status.ok() || absl::IsResourceExhausted(status)) return status;
  // It is no fault of the request.
  return absl::InternalError(absl::StrCat(
      "nothing was changed, since the audit log cannot be written: ",
      status.message()));
}

absl::StatusOr<AccessGrant> ValidationApi::CheckToken(
    const ApiRequest& request) const {
  absl::StatusOr<AccessGrant> grant = tokens_->Check(request.token, Now());
  if (grant.ok() || absl::IsUnauthenticated(grant.status())) return grant;
  return UnreadableTokens();
}

absl::Status ValidationApi::CheckOwner(const AccessGrant& grant,
                                       const std::string& bundle_sha256,
                                       const std::string& label) {
  if (label.empty()) return absl::OkStatus();
  const absl::Status status = tokens_->CheckOwner(grant.name, label);
  if (status.ok()) return status;
  if (!absl::IsPermissionDenied(status)) return UnreadableTokens();
  ++refusal_count_;
  const absl::Status recorded =
      Record(grant, "submit refused",
             {{"bundle_sha256", bundle_sha256},
              {"deployment", label},
              {"reason", std::string(status.message())}});
  return recorded.ok() ? status : recorded;
}

absl::Status ValidationApi::CheckOwners(const AccessGrant& grant,
                                        NewTrial* trial) {
  const std::string& sha256 = trial->bundle_sha256;
  const absl::Status given = CheckOwner(grant, sha256, trial->deployment);
  if (!given.ok()) return given;
  const absl::StatusOr<bool> has_owners = tokens_->HasOwners();
  if (!has_owners.ok()) return UnreadableTokens();
  if (!*has_owners) return absl::OkStatus();
  const absl::StatusOr<StoredTrial> known = store_->Find(trial->key);
  if (known.ok() && known->state == TrialState::kDecided) {
    return CheckOwner(grant, sha256, known->deployment);
  }
  if (!options_.read_label) return absl::OkStatus();
  trial->check_bundle = [this, grant, sha256](const std::string& path) {
    const absl::StatusOr<std::string> label =
        labels_.Read(grant.name, sha256, path);
    if (absl::IsInvalidArgument(label.status())) return absl::OkStatus();
    return label.ok() ? CheckOwner(grant, sha256, *label) : label.status();
  };
  return absl::OkStatus();
}

std::variant<ApiResponse, AccessGrant> ValidationApi::Admit(
    const ApiRequest& request, unsigned scope) {
  absl::StatusOr<AccessGrant> grant =
      request.token.empty()
          ? absl::UnauthenticatedError(
                "this needs a token: Authorization: Bearer TOKEN")
          : CheckToken(request);
  const double wait_seconds =
      limit_.Take(grant.ok() ? grant->name : kNobody, MonotonicSeconds());
  if (wait_seconds > 0) {
    ++refusal_count_;
    ApiResponse response = ErrorResponse(
        429, "too_many_requests", "too many requests of this token; wait");
    response.headers["Retry-After"] =
        absl::StrCat(static_cast<int64_t>(std::ceil(wait_seconds)));
    return response;
  }
  if (!grant.ok()) {
    ++refusal_count_;
    return ErrorResponse(grant.status());
  }
  const absl::Status allowed = CheckScope(*grant, scope, Now());
  if (!allowed.ok()) {
    ++refusal_count_;
    return ErrorResponse(allowed);
  }
  return *std::move(grant);
}

ApiResponse ValidationApi::Answer(const ApiRequest& request) {
  static constexpr Route kRoutes[] = {
      {"GET", "/v1/health", 0, &ValidationApi::ShowHealth},
      {"GET", "/v1/metrics", kReadScope, &ValidationApi::ShowMetrics},
      {"GET", "/v1/trials", kReadScope, &ValidationApi::ShowHistory},
      {"POST", "/v1/trials", kSubmitScope, &ValidationApi::SubmitKnown},
      {"GET", "/v1/trials/*", kReadScope, &ValidationApi::ShowTrial},
      {"GET", "/v1/trials/*/verdict", kReadScope, &ValidationApi::ShowVerdict},
      {"GET", "/v1/trials/*/profile", kReadScope, &ValidationApi::ShowProfile},
      {"GET", "/v1/deployments", kReadScope, &ValidationApi::ShowDeployments},
      {"GET", "/v1/compare", kReadScope, &ValidationApi::Compare},
      {"POST", "/v1/backups", kAdminScope, &ValidationApi::BackUp},
  };
  ++request_count_;
  // Replaces the id in the path by "*", as the routes have it.
  std::vector<std::string> parts = absl::StrSplit(request.path, '/');
  std::string id;
  if (parts.size() > 3 && IsSha256Hex(parts[3])) id.swap(parts[3]);
  std::string pattern;
  for (size_t i = 1; i < parts.size(); ++i) {
    absl::StrAppend(&pattern, "/", i == 3 && !id.empty() ? "*" : parts[i]);
  }
  // Finds the route and checks the token.
  bool is_known = false;
  for (const Route& route : kRoutes) {
    if (pattern != route.path) continue;
    is_known = true;
    if (request.method != route.method) continue;
    if (route.scope != 0) {
      const auto admitted = Admit(request, route.scope);
      if (const auto* refusal = std::get_if<ApiResponse>(&admitted)) {
        return *refusal;
      }
    }
    return (this->*route.handler)(request, id);
  }
  if (is_known) {
    return ErrorResponse(405, "method_not_allowed",
                         absl::StrCat(request.path,
                                      " does not take this "
                                      "method"));
  }
  return ErrorResponse(404, "not_found",
                       "no such path; gates/server/README.md lists them");
}

std::variant<ApiResponse, BundleUpload> ValidationApi::BeginUpload(
    const ApiRequest& request, int64_t announced_bytes) {
  ++request_count_;
  if (request.path != kSubmissionsPath) {
    return ErrorResponse(404, "not_found",
                         "bundles are sent to /v1/trials?sha256=...");
  }
  const auto admitted = Admit(request, kSubmitScope);
  if (const auto* refusal = std::get_if<ApiResponse>(&admitted)) {
    return *refusal;
  }
  if (announced_bytes > options_.most_bundle_bytes) {
    return ErrorResponse(
        413, "too_large",
        absl::StrCat("a bundle has at most ", options_.most_bundle_bytes,
                     " bytes here, and this has ", announced_bytes));
  }
  const AccessGrant& grant = std::get<AccessGrant>(admitted);
  const absl::StatusOr<NewTrial> trial = ParseSubmission(request, grant);
  if (!trial.ok()) return ErrorResponse(trial.status());
  const absl::Status owner =
      CheckOwner(grant, trial->bundle_sha256, trial->deployment);
  if (!owner.ok()) return ErrorResponse(owner);
  const absl::Status turn =
      store_->CheckTurn(grant.name, grant.limits.most_undecided);
  if (!turn.ok()) return ErrorResponse(turn);
  absl::StatusOr<BundleUpload> upload =
      store_->StartUpload(trial->bundle_sha256, announced_bytes);
  if (!upload.ok()) return ErrorResponse(upload.status());
  return *std::move(upload);
}

ApiResponse ValidationApi::EndUpload(const ApiRequest& request,
                                     BundleUpload upload) {
  // BeginUpload has admitted and counted the request, so only the token is
  // checked again, which may have lost its scope meanwhile. The bundle is kept
  // after all checks: one without a trial would fill the disk.
  const absl::StatusOr<AccessGrant> grant = CheckToken(request);
  if (!grant.ok()) return ErrorResponse(grant.status());
  const absl::Status allowed = CheckScope(*grant, kSubmitScope, Now());
  if (!allowed.ok()) return ErrorResponse(allowed);
  absl::StatusOr<NewTrial> trial = ParseSubmission(request, *grant);
  if (!trial.ok()) return ErrorResponse(trial.status());
  const absl::StatusOr<bool> is_new = FindKey(request, &*trial);
  if (!is_new.ok()) return ErrorResponse(is_new.status());
  absl::Status status = CheckOwners(*grant, &*trial);
  if (status.ok()) status = RecordSubmission(request, *grant, *trial);
  // The bundle of a known trial may be evicted; no row would tell of it again.
  if (status.ok() && *is_new) status = upload.Finish();
  return status.ok() ? Submit(*trial) : ErrorResponse(status);
}

ApiResponse ValidationApi::SubmitKnown(const ApiRequest& request,
                                       const std::string& /*id*/) {
  const absl::StatusOr<AccessGrant> grant = CheckToken(request);
  if (!grant.ok()) return ErrorResponse(grant.status());
  absl::StatusOr<NewTrial> trial = ParseSubmission(request, *grant);
  if (!trial.ok()) return ErrorResponse(trial.status());
  const absl::StatusOr<bool> is_new = FindKey(request, &*trial);
  if (!is_new.ok()) return ErrorResponse(is_new.status());
  absl::Status status = CheckOwners(*grant, &*trial);
  if (status.ok() && *is_new) {
    // A client asks so whether to send the bundle, and asks again each second
    // while it must wait. Such a request changes nothing, and has no entry.
    status = store_->HasBundle(trial->bundle_sha256)
                 ? store_->CheckTurn(grant->name, grant->limits.most_undecided)
                 : absl::NotFoundError(absl::StrCat(
                       "no bundle ", trial->bundle_sha256, "; send it"));
  }
  if (status.ok()) status = RecordSubmission(request, *grant, *trial);
  return status.ok() ? Submit(*trial) : ErrorResponse(status);
}

absl::StatusOr<NewTrial> ValidationApi::ParseSubmission(
    const ApiRequest& request, const AccessGrant& grant) {
  NewTrial trial;
  trial.bundle_sha256 = QueryValue(request, "sha256", "");
  trial.deployment = QueryValue(request, "deployment", "");
  trial.submitter = grant.name;
  trial.limits = grant.limits;
  // A verdict could not store a label that cannot be shown as it is.
  if (IsSha256Hex(trial.bundle_sha256) &&
      trial.deployment.size() <= kMostDeploymentLength &&
      EscapeForTerminal(trial.deployment) == trial.deployment) {
    return trial;
  }
  return absl::InvalidArgumentError(
      "name the bundle by ?sha256= and 64 digits, and a deployment by at most "
      "200 bytes of UTF-8 without control characters");
}

absl::Status ValidationApi::RecordSubmission(const ApiRequest& request,
                                             const AccessGrant& grant,
                                             const NewTrial& trial) const {
  return Record(grant, "submit",
                {{"bundle_sha256", trial.bundle_sha256},
                 {"deployment", trial.deployment},
                 {"again", IsAgain(request) ? "1" : "0"}});
}

absl::StatusOr<bool> ValidationApi::FindKey(const ApiRequest& request,
                                            NewTrial* trial) const {
  const std::string first =
      absl::StrCat(trial->bundle_sha256, "\n", options_.verdict_context,
                   LimitsContext(trial->limits));
  for (int rerun = 0; rerun <= kMostReruns; ++rerun) {
    const std::string key =
        Sha256Hex(rerun == 0 ? first : absl::StrCat(first, "\nrerun ", rerun));
    const absl::StatusOr<StoredTrial> found = store_->Find(key);
    if (!found.ok() && !absl::IsNotFound(found.status())) {
      return found.status();
    }
    const bool is_new = !found.ok();
    // The last trial answers unless the request has again=1.
    if (is_new && rerun > 0 && !IsAgain(request)) return false;
    trial->key = key;
    if (is_new || !CanRunAgain(*found)) return is_new;
  }
  return false;
}

ApiResponse ValidationApi::Submit(const NewTrial& trial) {
  // If another request has added the trial meanwhile, it answers.
  const absl::StatusOr<Submission> submission = store_->Submit(trial);
  if (!submission.ok()) return ErrorResponse(submission.status());
  ++submission_count_;
  if (submission->is_new) queue_->NoticeSubmission();
  return JsonResponse(
      submission->trial.state == TrialState::kDecided ? 200 : 202,
      {{"trial", TrialJson(submission->trial)},
       {"is_new", submission->is_new}});
}

json ValidationApi::TrialJson(const StoredTrial& trial) const {
  json value = {
      {"id", trial.key},
      {"sequence", trial.sequence},
      {"bundle_sha256", trial.bundle_sha256},
      {"deployment", trial.deployment},
      {"submitter", trial.submitter},
      {"state", WordOfState(trial.state)},
      {"stage", trial.state == TrialState::kDecided
                    ? ""
                    : queue_->FindStage(trial.sequence)},
      {"submitted_at", TimeJson(trial.submitted_unix_seconds)},
      {"decided_at", TimeJson(trial.decided_unix_seconds)},
      {"mode", WordOfMode(options_.mode)},
      {"decision", nullptr},
      {"exit_status", nullptr},
      {"accepted", nullptr},
      {"can_run_again", CanRunAgain(trial)},
  };
  if (trial.state == TrialState::kDecided) {
    value["decision"] = Decision_Name(static_cast<Decision>(trial.decision));
    value["exit_status"] = trial.decision;
    value["accepted"] =
        trial.decision == ACCEPT || options_.mode != ServerMode::kEnforce;
  }
  return value;
}

ApiResponse ValidationApi::ShowTrial(const ApiRequest& /*request*/,
                                     const std::string& id) {
  const absl::StatusOr<StoredTrial> trial = store_->Find(id);
  if (!trial.ok()) return ErrorResponse(trial.status());
  json value = TrialJson(*trial);
  StoredResult result;
  if (trial->state == TrialState::kDecided &&
      result.ParseFromString(trial->result)) {
    value["summary"] = SummaryLine(result.verdict());
    value["reasons"] = FindReasons(result.verdict());
    std::vector<std::string> remarks(result.remarks().begin(),
                                     result.remarks().end());
    for (std::string& note : FindNotes(result.verdict(), result.deployment())) {
      remarks.push_back(std::move(note));
    }
    value["remarks"] = remarks;
    value["has_profile"] = result.has_profile();
  }
  return JsonResponse(200, {{"trial", value}});
}

absl::StatusOr<StoredResult> ValidationApi::DecidedResult(
    const std::string& key) const {
  const absl::StatusOr<StoredTrial> trial = store_->Find(key);
  if (!trial.ok()) return trial.status();
  if (trial->state != TrialState::kDecided) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the trial is ", WordOfState(trial->state), "; wait for its verdict"));
  }
  StoredResult result;
  if (!result.ParseFromString(trial->result)) {
    return absl::DataLossError("the verdict in the database cannot be read");
  }
  return result;
}

ApiResponse ValidationApi::ShowVerdict(const ApiRequest& request,
                                       const std::string& id) {
  const absl::StatusOr<const ReportFormat*> format =
      FindReportFormat(QueryValue(request, "format", "json"));
  if (!format.ok()) return ErrorResponse(format.status());
  int64_t width = 0;
  if (!QueryNumber(request, "width", 80, 1000, &width) || width < 40) {
    return ErrorResponse(400, "invalid_argument",
                         "width is a number from 40 to 1000");
  }
  const absl::StatusOr<StoredResult> result = DecidedResult(id);
  if (!result.ok()) return ErrorResponse(result.status());
  ReportOptions report;
  report.has_every_rule = QueryValue(request, "all", "") == "1";
  report.has_colour = QueryValue(request, "colour", "") == "1";
  report.width = static_cast<size_t>(width);
  ApiResponse response;
  response.body = (*format)->write(result->verdict(), report);
  const std::string name = (*format)->name;
  const bool is_json = name == "json" || name == "sarif" || name == "gitlab";
  if (name == "junit") {
    response.content_type = "application/xml";
  } else if (!is_json) {
    response.content_type = "text/plain; charset=utf-8";
  }
  return response;
}

ApiResponse ValidationApi::ShowProfile(const ApiRequest& request,
                                       const std::string& id) {
  const absl::StatusOr<StoredResult> result = DecidedResult(id);
  if (!result.ok()) return ErrorResponse(result.status());
  if (!result->has_profile()) {
    return ErrorResponse(404, "not_found",
                         "nothing was measured; the verdict says why");
  }
  ApiResponse response;
  if (QueryValue(request, "format", "json") == "binary") {
    response.content_type = "application/octet-stream";
    response.body = result->profile().SerializeAsString();
  } else {
    response.body = MessageJson(result->profile());
  }
  return response;
}

ApiResponse ValidationApi::ShowHistory(const ApiRequest& request,
                                       const std::string& /*id*/) {
  int64_t before = 0;
  int64_t most = 0;
  if (!QueryNumber(request, "before", 0, INT64_MAX, &before) ||
      !QueryNumber(request, "most", kUsuallyListed, kMostListed, &most)) {
    return ErrorResponse(400, "invalid_argument",
                         absl::StrCat("before is a sequence number, and most "
                                      "a number up to ",
                                      kMostListed));
  }
  const absl::StatusOr<std::vector<StoredTrial>> trials =
      store_->History(QueryValue(request, "deployment", ""), before, most);
  if (!trials.ok()) return ErrorResponse(trials.status());
  json list = json::array();
  for (const StoredTrial& trial : *trials) list.push_back(TrialJson(trial));
  return JsonResponse(200, {{"trials", list}});
}

ApiResponse ValidationApi::ShowDeployments(const ApiRequest& /*request*/,
                                           const std::string& /*id*/) {
  const absl::StatusOr<std::vector<DeploymentCount>> deployments =
      store_->Deployments(kMostListed);
  if (!deployments.ok()) return ErrorResponse(deployments.status());
  json list = json::array();
  for (const DeploymentCount& each : *deployments) {
    list.push_back({{"deployment", each.deployment},
                    {"trial_count", each.trial_count},
                    {"last_sequence", each.last_sequence}});
  }
  return JsonResponse(200, {{"deployments", list}});
}

ApiResponse ValidationApi::Compare(const ApiRequest& request,
                                   const std::string& /*id*/) {
  std::vector<MemoryProfile> profiles;
  for (const char* side : {"before", "after"}) {
    const absl::StatusOr<StoredResult> result =
        DecidedResult(QueryValue(request, side, ""));
    if (!result.ok()) return ErrorResponse(result.status());
    profiles.push_back(result->profile());
  }
  const absl::StatusOr<ProfileDiff> diff = DiffProfiles(
      absl::MakeSpan(&profiles[0], 1), absl::MakeSpan(&profiles[1], 1));
  if (!diff.ok()) return ErrorResponse(diff.status());
  ApiResponse response;
  if (QueryValue(request, "format", "json") == "text") {
    response.content_type = "text/plain; charset=utf-8";
    response.body = WriteReportAs("text", MakeDiffReport(*diff));
  } else {
    response.body = WriteReportAs("json", MakeDiffReport(*diff));
  }
  return response;
}

ApiResponse ValidationApi::ShowHealth(const ApiRequest& /*request*/,
                                      const std::string& /*id*/) {
  if (store_->HasFailed()) {
    return ErrorResponse(
        500, "disk_failed",
        "the disk failed to write a change, and nothing more is stored: see "
        "its health and the system's log, and start the server again");
  }
  const absl::StatusOr<StoreCounts> counts = store_->Counts();
  if (!counts.ok()) return ErrorResponse(counts.status());
  return JsonResponse(200, {{"status", "ok"},
                            {"api", 1},
                            {"mode", WordOfMode(options_.mode)},
                            {"most_bundle_bytes", options_.most_bundle_bytes},
                            {"waiting", counts->waiting},
                            {"running", counts->running}});
}

ApiResponse ValidationApi::ShowMetrics(const ApiRequest& /*request*/,
                                       const std::string& /*id*/) {
  const absl::StatusOr<StoreCounts> counts = store_->Counts();
  if (!counts.ok()) return ErrorResponse(counts.status());
  ApiResponse response;
  response.content_type =
      "application/openmetrics-text; version=1.0.0; charset=utf-8";
  // Adds the counts of the store, and then those since the start.
  std::string* text = &response.body;
  AddMetric("trials_waiting", "gauge", "Trials that wait.", "", counts->waiting,
            text);
  AddMetric("trials_running", "gauge", "Trials that run.", "", counts->running,
            text);
  AddMetric("trials_kept", "gauge", "Verdicts in the database.", "",
            counts->decided, text);
  AddMetric("bundles_kept", "gauge", "Bundles on the disk.", "",
            counts->bundle_count, text);
  AddMetric("bundles_kept_bytes", "gauge", "Their bytes.", "",
            counts->bundle_bytes, text);
  AddMetric("requests", "counter", "Requests since the start.", "_total",
            request_count_, text);
  AddMetric("submissions", "counter", "Submissions since the start.", "_total",
            submission_count_, text);
  AddMetric("refusals", "counter", "Requests refused by token or rate.",
            "_total", refusal_count_, text);
  AddMetric("resident_bytes", "gauge", "Resident set of the server.", "",
            ReadResidentBytes().now_bytes, text);
  // Adds the verdicts by decision, and the histograms of times.
  const DecisionCounts decided = queue_->Decided();
  absl::StrAppend(text,
                  "# TYPE footprint_verdicts counter\n# HELP "
                  "footprint_verdicts Verdicts since the start.\n");
  for (size_t i = 0; i < decided.size(); ++i) {
    absl::StrAppend(text, "footprint_verdicts_total{decision=\"",
                    Decision_Name(static_cast<Decision>(i)), "\"} ", decided[i],
                    "\n");
  }
  queue_->waiting().AppendMetric(
      "waiting_seconds",
      "Time from a submission to the attempt that was decided, by token.",
      text);
  queue_->running().AppendMetric(
      "running_seconds", "Time of the attempt that was decided, by token.",
      text);
  absl::StrAppend(text, "# EOF\n");
  return response;
}

ApiResponse ValidationApi::BackUp(const ApiRequest& request,
                                  const std::string& /*id*/) {
  const absl::StatusOr<AccessGrant> grant = CheckToken(request);
  if (!grant.ok()) return ErrorResponse(grant.status());
  const absl::Status recorded = Record(*grant, "backup", {});
  if (!recorded.ok()) return ErrorResponse(recorded);
  const absl::Status made = MakeFolder(options_.backups_folder);
  if (!made.ok()) return ErrorResponse(made);
  // A clock may jump back, so a name may be taken.
  for (int suffix = 1; suffix < 1000; ++suffix) {
    const std::string folder =
        absl::StrCat(options_.backups_folder, "/",
                     absl::StrFormat("%d-%03d", UnixSeconds(), suffix));
    const absl::Status status = store_->BackUp(folder);
    if (absl::IsAlreadyExists(status)) continue;
    if (!status.ok()) return ErrorResponse(status);
    const absl::Status copied = BackUpFiles(options_.backed_up_files, folder);
    if (!copied.ok()) return ErrorResponse(copied);
    return JsonResponse(201, {{"backup", folder}});
  }
  return ErrorResponse(409, "conflict", "too many backups of this second");
}

std::variant<ApiResponse, std::string> ValidationApi::BeginEvents(
    const ApiRequest& request) {
  ++request_count_;
  const std::vector<std::string> parts = absl::StrSplit(request.path, '/');
  if (parts.size() != 5 || !IsSha256Hex(parts[3])) {
    return ErrorResponse(404, "not_found", "no such trial");
  }
  const auto admitted = Admit(request, kReadScope);
  if (const auto* refusal = std::get_if<ApiResponse>(&admitted)) {
    return *refusal;
  }
  const absl::StatusOr<StoredTrial> trial = store_->Find(parts[3]);
  if (!trial.ok()) return ErrorResponse(trial.status());
  return parts[3];
}

absl::StatusOr<std::string> ValidationApi::StateEvent(const std::string& key,
                                                      bool* is_last) {
  const absl::StatusOr<StoredTrial> trial = store_->Find(key);
  if (!trial.ok()) return trial.status();
  *is_last = trial->state == TrialState::kDecided;
  std::string line = Dumped(TrialJson(*trial));
  line.pop_back();
  return line;
}

}  // namespace footprint
