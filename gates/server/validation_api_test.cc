#include "footprint/gates/server/validation_api.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/server/example_server.h"
#include "footprint/gates/store/bundle_folder.h"
#include "footprint/gates/store/power_loss_layer.h"
#include "footprint/gates/store/submitter_limits.h"
#include "footprint/gates/store/trial_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

bool HasFailed(ExampleServer& server) {
  return server.api()->Answer({"GET", "/v1/health", {}, ""}).status != 200;
}

TEST(ValidationApiTest, AnswersARequest) {
  ExampleServer server("answers");
  ApiRequest request = {"GET", "/v1/trials", {}, server.token()};
  EXPECT_EQ(server.api()->Answer(request).body, "{\"trials\":[]}\n");
  request.path = "/v1/trials/" + Sha256Hex("none");
  const ApiResponse none = server.api()->Answer(request);
  EXPECT_EQ(none.status, 404);
  EXPECT_THAT(none.body, HasSubstr("{\"error\":{\"code\":\"not_found\""));
}

TEST(ValidationApiTest, PathsAreTakenWhole) {
  ExampleServer server("paths");
  const std::string id = Sha256Hex("none");
  for (const std::string& path :
       {std::string(), std::string("/"), std::string("v1/trials"),
        std::string("/v1/trials/"), std::string("//v1/trials"),
        std::string("/v1/trials/*"), std::string("/v1/trials/*/verdict"),
        "/v1/trials/" + id + "/", "/v1/trials/" + id + "/verdict/more",
        "/v1/compare/" + id, std::string("/v1/trials/../metrics"),
        std::string("/v2/trials")}) {
    const ApiRequest request = {"GET", path, {}, server.token()};
    EXPECT_EQ(server.api()->Answer(request).status, 404) << path;
  }
}

// Sends a bundle as HTTP would, and returns the answer.
ApiResponse Send(ExampleServer& server, const std::string& token,
                 const std::string& bundle) {
  const ApiRequest request = {
      "POST", "/v1/trials", {{"sha256", Sha256Hex(bundle)}}, token};
  auto begun =
      server.api()->BeginUpload(request, static_cast<int64_t>(bundle.size()));
  if (auto* refusal = std::get_if<ApiResponse>(&begun)) return *refusal;
  BundleUpload& upload = std::get<BundleUpload>(begun);
  EXPECT_THAT(upload.Append(bundle), IsOk());
  return server.api()->EndUpload(request, std::move(upload));
}

TEST(ValidationApiTest, ATokenHasAsManyWaitingTrialsAsAllowed) {
  ExampleServer server("limited");
  SubmitterLimits limits;
  limits.most_undecided = 1;
  const std::string limited =
      server.AddToken("limited", kSubmitScope, 0, limits);
  EXPECT_EQ(Send(server, limited, "slow a").status, 202);
  const ApiResponse refused = Send(server, limited, "slow b");
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body,
              HasSubstr("'limited' has as many trials without a"));
  EXPECT_EQ(refused.headers.count("Retry-After"), 1u);
  EXPECT_EQ(Send(server, server.token(), "slow b").status, 202);
  // The server has this bundle, so the request needs no body.
  const ApiResponse known = server.api()->Answer(
      {"POST", "/v1/trials", {{"sha256", Sha256Hex("slow b")}}, limited});
  EXPECT_EQ(known.status, 202) << "the trial of another token answers";
  server.GoOn();
  while (Send(server, limited, "accept c").status == 503) usleep(1000);
}

TEST(ValidationApiTest, ChangesAreInTheAuditLogOrNotMade) {
  ApiOptions options;
  options.audit_log_path = TestPath("audit.jsonl");
  ExampleServer server("audited", {}, options);
  EXPECT_EQ(Send(server, server.token(), "accept a").status, 202);
  EXPECT_EQ(
      server.api()->Answer({"POST", "/v1/backups", {}, server.token()}).status,
      201);
  EXPECT_EQ(
      server.api()->Answer({"GET", "/v1/trials", {}, server.token()}).status,
      200);
  EXPECT_THAT(
      ReadTestFile(options.audit_log_path),
      testing::MatchesRegex(
          "[{]\"time\":\"[^\"]*\",\"who\":\"all\",\"action\":\"submit\","
          "\"bundle_sha256\":\"[0-9a-f]*\",\"deployment\":\"\",\"again\":"
          "\"0\"[}]\n[{][^\n]*\"action\":\"backup\"[}]\n"));
  // A change whose entry cannot be written is not made.
  options.audit_log_path = "/dev/full";
  ExampleServer full("audit_full", {}, options);
  EXPECT_EQ(Send(full, full.token(), "accept a").status, 507);
  EXPECT_EQ(
      full.api()->Answer({"POST", "/v1/backups", {}, full.token()}).status,
      507);
  EXPECT_EQ(full.api()->Answer({"GET", "/v1/trials", {}, full.token()}).body,
            "{\"trials\":[]}\n");
}

int64_t CountLines(const std::string& path) {
  const std::string text = ReadTestFile(path);
  return std::count(text.begin(), text.end(), '\n');
}

TEST(ValidationApiTest, ARequestThatChangesNothingHasNoEntry) {
  ApiOptions options;
  options.audit_log_path = WriteTestFile("asked.jsonl", "");
  ExampleServer server("asked", {}, options);
  SubmitterLimits limits;
  limits.most_undecided = 1;
  const std::string token = server.AddToken("asks", kSubmitScope, 0, limits);
  ApiRequest request = {
      "POST", "/v1/trials", {{"sha256", Sha256Hex("slow a")}}, token};
  // A client asks without the bundle first.
  EXPECT_EQ(server.api()->Answer(request).status, 404);
  EXPECT_EQ(Send(server, token, "slow a").status, 202);
  EXPECT_EQ(CountLines(options.audit_log_path), 1);
  // It asks each second while it must wait, with a bundle or without.
  EXPECT_EQ(Send(server, server.token(), "slow b").status, 202);
  EXPECT_EQ(CountLines(options.audit_log_path), 2);
  request.query["sha256"] = Sha256Hex("slow b");
  request.query["again"] = "1";
  EXPECT_EQ(server.api()->Answer(request).status, 202);
  EXPECT_EQ(CountLines(options.audit_log_path), 3) << "it joins a trial";
  EXPECT_EQ(Send(server, token, "slow c").status, 503);
  server.GoOn();
  EXPECT_EQ(CountLines(options.audit_log_path), 3);
}

TEST(ValidationApiTest, ARefusedUploadLeavesNoBundle) {
  ApiOptions options;
  options.audit_log_path = TestPath("a_folder.jsonl");
  std::filesystem::create_directory(options.audit_log_path);
  ExampleServer server("refused", {}, options);
  const auto count_bundles = [] {
    int count = 0;
    for (const auto& each : std::filesystem::recursive_directory_iterator(
             TestPath("refused/bundles"))) {
      count += each.is_regular_file() ? 1 : 0;
    }
    return count;
  };
  // The log is a folder, which is no fault of the request.
  const ApiResponse unlogged = Send(server, server.token(), "accept a");
  EXPECT_EQ(unlogged.status, 500);
  EXPECT_THAT(unlogged.body, HasSubstr("audit log cannot be written"));
  EXPECT_EQ(count_bundles(), 0);
  // A faulty label is refused before the bundle is sent.
  ApiRequest request = {"POST",
                        "/v1/trials",
                        {{"sha256", Sha256Hex("b")}, {"deployment", "\x01"}},
                        server.token()};
  auto begun = server.api()->BeginUpload(request, 1);
  ASSERT_TRUE(std::holds_alternative<ApiResponse>(begun));
  EXPECT_EQ(std::get<ApiResponse>(begun).status, 400);
  // The token is removed while its bundle arrives.
  request.query.erase("deployment");
  request.token = server.AddToken("removed", kSubmitScope);
  begun = server.api()->BeginUpload(request, 1);
  ASSERT_TRUE(std::holds_alternative<BundleUpload>(begun));
  EXPECT_THAT(std::get<BundleUpload>(begun).Append("b"), IsOk());
  EXPECT_THAT(RemoveAccessToken(server.tokens_path(), "removed"), IsOk());
  EXPECT_EQ(server.api()
                ->EndUpload(request, std::move(std::get<BundleUpload>(begun)))
                .status,
            401);
  EXPECT_EQ(count_bundles(), 0);
}

// Returns options of a server that reads the label from a bundle "label NAME";
// other bundles are faulty, and "busy" cannot be read now.
ApiOptions OptionsWithLabels(const std::string& audit_log_path) {
  ApiOptions options;
  options.audit_log_path = audit_log_path;
  options.read_label =
      [](const std::string& path,
         const auto& /*is_stopped*/) -> absl::StatusOr<std::string> {
    const std::string bundle = ReadTestFile(path);
    if (bundle == "busy") return absl::UnavailableError("no memory");
    if (bundle.rfind("label ", 0) != 0) {
      return absl::InvalidArgumentError("no bundle");
    }
    return bundle.substr(6);
  };
  return options;
}

TEST(ValidationApiTest, OnlyTheOwnerOfALabelSubmitsForIt) {
  const std::string log = TestPath("owners.jsonl");
  ExampleServer server("owners", {}, OptionsWithLabels(log));
  const std::string owner =
      server.AddOwner("team_a", {"//models:example", "//team_a/..."});
  const std::string other = server.AddToken("other", kSubmitScope);
  // The label is the bundle's own, whatever the request says.
  const ApiResponse refused = Send(server, other, "label //team_a/b:fit");
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.body,
              HasSubstr("the label //team_a/b:fit belongs to the token "
                        "'team_a', and this is the token 'other'; submit"));
  EXPECT_EQ(Send(server, server.token(), "label //team_a:fit").status, 403)
      << "an admin is no owner";
  EXPECT_EQ(Send(server, other, "label //team_b:fit").status, 202);
  EXPECT_NE(Send(server, owner, "label //team_c:fit").status, 403);
  EXPECT_EQ(Send(server, other, "accept, although it is faulty").status, 202);
  EXPECT_EQ(Send(server, other, "busy").status, 503);
  // A bundle that was refused leaves nothing, and its owner's trial is new.
  const ApiRequest known = {"POST",
                            "/v1/trials",
                            {{"sha256", Sha256Hex("label //team_a/b:fit")}},
                            other};
  EXPECT_EQ(server.api()->Answer(known).status, 404);
  EXPECT_THAT(Send(server, owner, "label //team_a/b:fit").body,
              HasSubstr("\"is_new\":true"));
  EXPECT_EQ(server.api()->Answer(known).status, 403) << "while it is there";
  // ExampleServer decides each trial for one label.
  ApiRequest decided = known;
  decided.token = owner;
  while (server.api()->Answer(decided).status == 202) usleep(1000);
  EXPECT_THAT(server.api()->Answer(known).body, HasSubstr("//models:example"));
  EXPECT_THAT(ReadTestFile(log),
              HasSubstr("\"who\":\"other\",\"action\":\"submit refused\","
                        "\"bundle_sha256\":\""));
}

TEST(ValidationApiTest, ATokenThatLosesItsScopeDuringAnUploadIsRefused) {
  ExampleServer server("lost_scope");
  const std::string token = server.AddToken("ci", kSubmitScope | kReadScope);
  const std::string bundle = "accept it";
  const ApiRequest request = {
      "POST", "/v1/trials", {{"sha256", Sha256Hex(bundle)}}, token};
  auto begun =
      server.api()->BeginUpload(request, static_cast<int64_t>(bundle.size()));
  ASSERT_TRUE(std::holds_alternative<BundleUpload>(begun));
  BundleUpload& upload = std::get<BundleUpload>(begun);
  ASSERT_THAT(upload.Append(bundle), IsOk());
  ASSERT_THAT(ChangeAccessToken(server.tokens_path(), "ci",
                                [](AccessGrant* grant) {
                                  grant->scopes = kReadScope;
                                  return absl::OkStatus();
                                }),
              IsOk());
  const ApiResponse refused =
      server.api()->EndUpload(request, std::move(upload));
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.body, HasSubstr("has the scopes read, and this needs"));
}

TEST(ValidationApiTest, TheLabelOfARequestIsCheckedAtOnce) {
  const std::string log = TestPath("given.jsonl");
  ExampleServer server("given", {}, OptionsWithLabels(log));
  const std::string owner = server.AddOwner("team_a", {"//team_a/..."});
  ApiRequest request = {
      "POST",
      "/v1/trials",
      {{"sha256", Sha256Hex("label //b")}, {"deployment", "//team_a:x"}},
      server.token()};
  const auto begun = server.api()->BeginUpload(request, 9);
  ASSERT_TRUE(std::holds_alternative<ApiResponse>(begun));
  EXPECT_EQ(std::get<ApiResponse>(begun).status, 403);
  EXPECT_EQ(server.api()->Answer(request).status, 403);
  EXPECT_EQ(CountLines(log), 2);
  request.token = owner;
  EXPECT_EQ(server.api()->Answer(request).status, 404) << "not sent yet";
  // A refusal that cannot be recorded is still one.
  ExampleServer full("given_full", {}, OptionsWithLabels("/dev/full"));
  full.AddOwner("team_a", {"//team_a/..."});
  request.token = full.token();
  EXPECT_EQ(full.api()->Answer(request).status, 507);
}

TEST(ValidationApiTest, ARemovedTokensTrialsStillRunUnderItsLimits) {
  ExampleServer server("removed_token");
  SubmitterLimits limits;
  limits.most_undecided = 1;
  const std::string removed = server.AddToken("ci", kSubmitScope, 0, limits);
  EXPECT_EQ(Send(server, removed, "slow a").status, 202);
  EXPECT_THAT(RemoveAccessToken(server.tokens_path(), "ci"), IsOk());
  EXPECT_EQ(Send(server, removed, "slow b").status, 401);
  // A new token of the name, as when tokens are exchanged, goes on counting.
  const std::string next = server.AddToken("ci", kSubmitScope, 0, limits);
  EXPECT_EQ(Send(server, next, "slow b").status, 503);
  server.GoOn();
  const ApiRequest request = {
      "POST", "/v1/trials", {{"sha256", Sha256Hex("slow a")}}, next};
  while (server.api()->Answer(request).status == 202) usleep(1000);
  EXPECT_EQ(server.api()->Answer(request).status, 200) << "it has a verdict";
}

TEST(ValidationApiTest, AStrangerLearnsNothingOfAFaultyTokenFile) {
  ExampleServer server("faulty_tokens");
  std::ofstream(server.tokens_path()) << "secret_name\tnot a line\n";
  const ApiResponse answer =
      server.api()->Answer({"GET", "/v1/trials", {}, "guess"});
  EXPECT_EQ(answer.status, 500);
  EXPECT_THAT(answer.body, HasSubstr("serve token list"));
  EXPECT_THAT(answer.body, testing::Not(HasSubstr("line 1")));
}

TEST(ValidationApiTest, MetricsTellTheTimesOfEachToken) {
  ExampleServer server("times");
  const std::string ci = server.AddToken("ci", kSubmitScope);
  while (Send(server, ci, "accept a").status != 200) usleep(1000);
  std::string metrics;
  while (!absl::StrContains(metrics, "running_seconds_count")) {
    usleep(1000);
    metrics =
        server.api()->Answer({"GET", "/v1/metrics", {}, server.token()}).body;
  }
  EXPECT_THAT(metrics, HasSubstr("\nfootprint_waiting_seconds_bucket{token=\"ci"
                                 "\",le=\"+Inf\"} 1\n"));
  EXPECT_THAT(metrics,
              HasSubstr("\nfootprint_running_seconds_count{token=\"ci\"} 1\n"));
  EXPECT_THAT(metrics, testing::EndsWith("# EOF\n"));
}

TEST(ValidationApiTest, AVerdictHasTheTypeOfItsFormat) {
  ExampleServer server("formats");
  ApiResponse sent;
  do {
    usleep(1000);
    sent = Send(server, server.token(), "accept a");
  } while (sent.status != 200);
  const size_t id = sent.body.find("\"id\":\"") + 6;
  const std::string path = absl::StrCat(
      "/v1/trials/", sent.body.substr(id, sent.body.find('"', id) - id),
      "/verdict");
  const auto type = [&](const std::string& format) {
    const ApiResponse answer = server.api()->Answer(
        {"GET", path, {{"format", format}}, server.token()});
    EXPECT_EQ(answer.status, 200) << format << answer.body;
    return answer.content_type;
  };
  for (const char* format : {"json", "sarif", "gitlab"}) {
    EXPECT_EQ(type(format), "application/json") << format;
  }
  EXPECT_EQ(type("junit"), "application/xml");
  for (const char* format :
       {"text", "markdown", "openmetrics", "github", "github-summary"}) {
    EXPECT_EQ(type(format), "text/plain; charset=utf-8") << format;
  }
}

TEST(ValidationApiTest, OtherLimitsAreAnotherTrial) {
  ExampleServer server("other_limits");
  SubmitterLimits limits;
  limits.most_budget_bytes = 100;
  limits.most_undecided = 50;
  const std::string one = server.AddToken("one", kSubmitScope, 0, limits);
  const std::string alike = server.AddToken("alike", kSubmitScope, 0, limits);
  limits.most_seconds = 9;
  const std::string other = server.AddToken("other", kSubmitScope, 0, limits);
  const auto is_new = [&](const std::string& token) {
    const ApiResponse response = Send(server, token, "accept a");
    return absl::StrContains(response.body, "\"is_new\":true");
  };
  EXPECT_TRUE(is_new(server.token()));
  EXPECT_TRUE(is_new(one));
  EXPECT_FALSE(is_new(alike));
  EXPECT_TRUE(is_new(other));
  EXPECT_FALSE(is_new(server.token()));
}

TEST(ValidationApiTest, AFailedDiskIsNoHealth) {
  const PowerLossLayer layer(/*operation=*/300);
  TrialStoreOptions store;
  store.file_layer = layer.name();
  ExampleServer server("failed", {}, {}, store);
  const ApiRequest health = {"GET", "/v1/health", {}, ""};
  EXPECT_EQ(server.api()->Answer(health).status, 200);
  ApiRequest submission = {"POST", "/v1/trials", {}, server.token()};
  constexpr int kMostSubmissions = 1000;
  for (int i = 0; i < kMostSubmissions && !HasFailed(server); ++i) {
    const std::string bundle = absl::StrCat("accept ", i);
    submission.query["sha256"] = Sha256Hex(bundle);
    auto upload = server.api()->BeginUpload(submission, bundle.size());
    ASSERT_TRUE(std::holds_alternative<BundleUpload>(upload));
    ASSERT_THAT(std::get<BundleUpload>(upload).Append(bundle), IsOk());
    server.api()->EndUpload(submission,
                            std::move(std::get<BundleUpload>(upload)));
  }
  const ApiResponse answer = server.api()->Answer(health);
  EXPECT_EQ(answer.status, 500);
  EXPECT_THAT(answer.body, HasSubstr("start the server again"));
}

TEST(ValidationApiTest, OfADamagedDatabaseNothingIsListed) {
  ExampleServer server("damaged");
  const std::string path = TestPath("damaged/trials.sqlite");
  for (const char* ending : {"", "-wal"}) {
    const std::string file = path + ending;
    if (!std::filesystem::exists(file)) continue;
    const size_t size = std::filesystem::file_size(file);
    std::fstream(file, std::ios::in | std::ios::out) << std::string(size, 'x');
  }
  for (const char* list : {"/v1/trials", "/v1/deployments"}) {
    const ApiResponse answer =
        server.api()->Answer({"GET", list, {}, server.token()});
    EXPECT_EQ(answer.status, 500) << list << ": " << answer.body;
    EXPECT_THAT(answer.body, HasSubstr("\"error\""));
  }
}

TEST(ValidationApiTest, ErrorsHaveTheirStatus) {
  EXPECT_EQ(ErrorResponse(absl::InvalidArgumentError("x")).status, 400);
  EXPECT_EQ(ErrorResponse(absl::PermissionDeniedError("x")).status, 403);
  EXPECT_EQ(ErrorResponse(absl::NotFoundError("x")).status, 404);
  EXPECT_EQ(ErrorResponse(absl::ResourceExhaustedError("x")).status, 507);
  EXPECT_EQ(ErrorResponse(absl::DataLossError("x")).status, 500);
  const ApiResponse busy = ErrorResponse(absl::UnavailableError("\xff\"<"));
  EXPECT_EQ(busy.status, 503);
  EXPECT_EQ(busy.headers.at("Retry-After"), "1");
  EXPECT_THAT(busy.body, HasSubstr("\\ufffd\\\"<"));
}

}  // namespace
}  // namespace footprint
