#include "footprint/gates/server/http_server.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/server/example_server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

// A client with a token.
class Caller {
 public:
  Caller(int port, const std::string& token) : client_("127.0.0.1", port) {
    if (!token.empty()) {
      client_.set_default_headers({{"Authorization", "Bearer " + token}});
    }
  }
  explicit Caller(const ExampleServer& server)
      : Caller(server.port(), server.token()) {}

  httplib::Response Get(const std::string& path) {
    return ToResponse(client_.Get(path));
  }
  httplib::Response Post(const std::string& path, const std::string& body) {
    return ToResponse(client_.Post(path, body, "application/octet-stream"));
  }
  httplib::Response Submit(const std::string& bundle) {
    return Post("/v1/trials?sha256=" + Sha256Hex(bundle), bundle);
  }
  // Submits a bundle. Returns the id of its trial.
  std::string SubmitForId(const std::string& bundle) {
    const httplib::Response response = Submit(bundle);
    EXPECT_LT(response.status, 300) << response.body;
    return Parsed(response)["trial"]["id"];
  }
  json Await(const std::string& id) {
    while (true) {
      const httplib::Response response = Get("/v1/trials/" + id);
      EXPECT_EQ(response.status, 200) << response.body;
      if (response.status != 200) return json::object();
      const json trial = Parsed(response)["trial"];
      if (trial["state"] == "decided") return trial;
      usleep(1000);
    }
  }
  static json Parsed(const httplib::Response& response) {
    json parsed =
        json::parse(response.body, nullptr, /*allow_exceptions=*/false);
    EXPECT_TRUE(parsed.is_object()) << response.body;
    return parsed;
  }

 private:
  static httplib::Response ToResponse(const httplib::Result& result) {
    EXPECT_TRUE(result) << httplib::to_string(result.error());
    return result ? *result : httplib::Response();
  }
  httplib::Client client_;
};

TEST(HttpServerTest, ABundleBecomesAVerdict) {
  const ExampleServer server("verdict");
  Caller caller(server);
  const httplib::Response submitted = caller.Submit("reject a");
  EXPECT_EQ(submitted.status, 202) << submitted.body;
  const json first = Caller::Parsed(submitted);
  EXPECT_EQ(first["is_new"], true);
  EXPECT_EQ(first["trial"]["submitter"], "all");
  const std::string id = first["trial"]["id"];
  const json trial = caller.Await(id);
  EXPECT_EQ(trial["decision"], "REJECT");
  EXPECT_EQ(trial["exit_status"], 1);
  EXPECT_EQ(trial["accepted"], false);
  EXPECT_EQ(trial["deployment"], "//models:example");
  EXPECT_THAT(std::string(trial["summary"]), StartsWith("REJECT"));
  ASSERT_EQ(trial["reasons"].size(), 1);
  EXPECT_THAT(std::string(trial["reasons"][0]),
              StartsWith("//models:example "));
  EXPECT_EQ(trial["remarks"][0], "ran in an example");
  EXPECT_EQ(trial["has_profile"], true);
  for (const char* at : {"submitted_at", "decided_at"}) {
    EXPECT_THAT(std::string(trial[at]),
                MatchesRegex("20..-[01].-[0-3].T[0-2].:[0-5].:[0-6].Z"));
  }

  const std::string base = "/v1/trials/" + id;
  EXPECT_THAT(caller.Get(base + "/verdict?format=text").body,
              AllOf(HasSubstr("REJECT"), HasSubstr("//models:example")));
  EXPECT_EQ(Caller::Parsed(caller.Get(base + "/verdict"))["decision"],
            "REJECT");
  EXPECT_THAT(caller.Get(base + "/verdict?format=junit").body,
              HasSubstr("<testsuite"));
  EXPECT_EQ(caller.Get(base + "/verdict?format=binary").status, 400);
  for (const char* width : {"39", "1001", "wide"}) {
    const httplib::Response refused =
        caller.Get(base + "/verdict?format=text&width=" + width);
    EXPECT_EQ(refused.status, 400);
    EXPECT_THAT(refused.body, HasSubstr("a number from 40 to 1000"));
  }
  EXPECT_EQ(caller.Get(base + "/verdict?format=text&width=40").status, 200);
  EXPECT_EQ(Caller::Parsed(caller.Get(base + "/profile"))["label"],
            "//models:example");
}

TEST(HttpServerTest, TheSameBundleIsAnsweredFromTheStore) {
  const ExampleServer server("known");
  Caller caller(server);
  const std::string known = "/v1/trials?sha256=" + Sha256Hex("accept a");
  EXPECT_EQ(caller.Post(known, "").status, 404) << "send the bytes";
  const std::string id = caller.SubmitForId("accept a");
  caller.Await(id);
  const httplib::Response again = caller.Submit("accept a");
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(Caller::Parsed(again)["is_new"], false);
  EXPECT_EQ(Caller::Parsed(again)["trial"]["id"], id);
  const httplib::Response by_hash = caller.Post(known, "");
  EXPECT_EQ(by_hash.status, 200);
  EXPECT_EQ(Caller::Parsed(by_hash)["trial"]["decision"], "ACCEPT");
}

TEST(HttpServerTest, ATrialThatCannotRunIsInconclusive) {
  const ExampleServer server("broken");
  Caller caller(server);
  const std::string id = caller.SubmitForId("fail a");
  const json trial = caller.Await(id);
  EXPECT_EQ(trial["decision"], "INCONCLUSIVE");
  EXPECT_EQ(trial["has_profile"], false);
  EXPECT_THAT(caller.Get("/v1/trials/" + id + "/verdict?format=text").body,
              HasSubstr("the sandbox broke"));
  EXPECT_EQ(caller.Get("/v1/trials/" + id + "/profile").status, 404);
}

TEST(HttpServerTest, WhatGaveNoVerdictOnMemoryRunsAgainWhenAsked) {
  ExampleServer server("again");
  Caller caller(server);
  const std::string first = caller.SubmitForId("flaky one");
  json trial = caller.Await(first);
  EXPECT_EQ(trial["decision"], "INCONCLUSIVE");
  ASSERT_EQ(trial["reasons"].size(), 1);
  EXPECT_THAT(std::string(trial["reasons"][0]), HasSubstr(": "));
  EXPECT_EQ(trial["can_run_again"], true);
  // Without `again`, the answer comes from the store.
  EXPECT_EQ(caller.SubmitForId("flaky one"), first);
  const std::string again =
      "/v1/trials?again=1&sha256=" + Sha256Hex("flaky one");
  const httplib::Response response = caller.Post(again, "");
  EXPECT_EQ(response.status, 202) << response.body;
  EXPECT_EQ(Caller::Parsed(response)["is_new"], true);
  const std::string second = Caller::Parsed(response)["trial"]["id"];
  EXPECT_NE(second, first);
  trial = caller.Await(second);
  EXPECT_EQ(trial["decision"], "ACCEPT");
  EXPECT_EQ(trial["can_run_again"], false);
  // The last trial counts from now on, and cannot run again.
  EXPECT_EQ(caller.SubmitForId("flaky one"), second);
  EXPECT_EQ(Caller::Parsed(caller.Post(again, ""))["is_new"], false);
  // A trial that was acknowledged stays.
  EXPECT_EQ(caller.Await(first)["decision"], "INCONCLUSIVE");
  EXPECT_EQ(Caller::Parsed(caller.Get("/v1/trials"))["trials"].size(), 2);
}

TEST(HttpServerTest, AVerdictOnMemoryStaysWhoeverAsks) {
  ExampleServer server("settled");
  Caller caller(server);
  const std::string id = caller.SubmitForId("reject one");
  caller.Await(id);
  const httplib::Response response =
      caller.Post("/v1/trials?again=1&sha256=" + Sha256Hex("reject one"), "");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(Caller::Parsed(response)["trial"]["id"], id);
}

TEST(HttpServerTest, ModesDecideWhatARejectionAmountsTo) {
  for (const char* mode : {"enforce", "warn", "audit"}) {
    ApiOptions options;
    options.mode = *ParseServerMode(mode);
    const ExampleServer server(mode, {}, options);
    Caller caller(server);
    const json trial = caller.Await(caller.SubmitForId("reject a"));
    EXPECT_EQ(trial["mode"], mode);
    EXPECT_EQ(trial["decision"], "REJECT");
    EXPECT_EQ(trial["accepted"], std::string(mode) != "enforce");
  }
  EXPECT_THAT(ParseServerMode("off"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(HttpServerTest, TokensAreAskedForAndTheirScopesKept) {
  ExampleServer server("scopes");
  Caller nobody(server.port(), "");
  Caller guesser(server.port(), "fpt_guess");
  Caller reader(server.port(), server.AddToken("reader", kReadScope));
  Caller submitter(server.port(), server.AddToken("ci", kSubmitScope));
  Caller expired(server.port(), server.AddToken("old", kReadScope, 1));
  const std::string submit = "/v1/trials?sha256=" + Sha256Hex("accept");
  for (Caller* caller : {&nobody, &guesser, &expired}) {
    EXPECT_EQ(caller->Get("/v1/trials").status, 401);
    EXPECT_EQ(caller->Post(submit, "accept").status, 401);
    EXPECT_EQ(caller->Get("/v1/metrics").status, 401);
    EXPECT_EQ(caller->Get("/v1/trials/" + Sha256Hex("") + "/events").status,
              401);
    EXPECT_EQ(caller->Get("/v1/health").status, 200);
  }
  EXPECT_THAT(expired.Get("/v1/trials").body, HasSubstr("expired"));
  EXPECT_EQ(nobody.Get("/v1/trials").get_header_value("WWW-Authenticate"),
            "Bearer");
  EXPECT_EQ(reader.Get("/v1/trials").status, 200);
  EXPECT_EQ(reader.Post(submit, "accept").status, 403);
  EXPECT_EQ(reader.Post(submit, "").status, 403);
  EXPECT_EQ(reader.Post("/v1/backups", "").status, 403);
  EXPECT_EQ(submitter.Get("/v1/trials").status, 403);
  EXPECT_EQ(submitter.Submit("accept").status, 202);
}

TEST(HttpServerTest, BadUploadsLeaveNothing) {
  HttpServerOptions http;
  http.idle_seconds = 1;
  ApiOptions api;
  api.most_bundle_bytes = 100;
  const ExampleServer server("bad", http, api);
  Caller caller(server);
  const httplib::Response wrong =
      caller.Post("/v1/trials?sha256=" + Sha256Hex("one"), "other");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_THAT(wrong.body, HasSubstr(Sha256Hex("other")));
  EXPECT_EQ(caller.Submit(std::string(101, 'x')).status, 413);
  EXPECT_EQ(caller.Post("/v1/trials?sha256=../../x", "x").status, 400);
  EXPECT_EQ(caller.Post("/v1/trials", "x").status, 400);
  EXPECT_EQ(caller
                .Post("/v1/trials?deployment=" + std::string(201, 'd') +
                          "&sha256=" + Sha256Hex("x"),
                      "x")
                .status,
            400);
  const std::string head = absl::StrCat(
      "POST /v1/trials?sha256=", Sha256Hex("whole"),
      " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ", server.token());
  EXPECT_THAT(ExchangeBytes(server.port(),
                            head + "\r\nContent-Length: 50\r\n\r\nhalf of it"),
              HasSubstr("half_an_upload"));
  EXPECT_THAT(
      ExchangeBytes(server.port(), head + "\r\nContent-Encoding: gzip\r\n"
                                          "Content-Length: 3\r\n\r\nabc"),
      HasSubstr(" 415 "));
  EXPECT_THAT(ExchangeBytes(server.port(),
                            head + "\r\nTransfer-Encoding: chunked\r\n\r\n"
                                   "3\r\nabc\r\n0\r\n\r\n"),
              HasSubstr(" 415 "));
  EXPECT_THAT(
      ExchangeBytes(server.port(),
                    head + "\r\nContent-Type: multipart/form-data; "
                           "boundary=b\r\nContent-Length: 3\r\n\r\nabc"),
      HasSubstr(" 415 "));
  // A length of zero is valid, however it is written.
  EXPECT_THAT(
      ExchangeBytes(server.port(), head + "\r\nContent-Length: 00\r\n\r\n"),
      Not(HasSubstr("length_required")));
  EXPECT_TRUE(Caller::Parsed(caller.Get("/v1/trials"))["trials"].empty());
  EXPECT_EQ(caller.Submit(std::string(100, 'x')).status, 202);
}

// Nobody needs a token to be refused.
TEST(HttpServerTest, ARefusedUploadWithoutBytesHoldsItsThreadForASecond) {
  HttpServerOptions http;
  http.idle_seconds = 60;
  http.thread_count = 1;
  const ExampleServer server("silent", http);
  const FileDescriptor silent = SendBytes(
      server.port(), absl::StrCat("POST /v1/trials?sha256=", Sha256Hex("x"),
                                  " HTTP/1.1\r\nHost: x\r\n"
                                  "Content-Length: 5\r\n\r\n"));
  usleep(100000);  // until the thread reads
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(Caller(server).Get("/v1/health").status, 200);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(HttpServerTest, StopDoesNotWaitForAnUpload) {
  HttpServerOptions http;
  http.idle_seconds = 60;
  auto server = std::make_unique<ExampleServer>("stopped", http);
  const FileDescriptor silent = SendBytes(
      server->port(),
      absl::StrCat("POST /v1/trials?sha256=", Sha256Hex("x"),
                   " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ",
                   server->token(), "\r\nContent-Length: 5\r\n\r\nab"));
  usleep(100000);
  const auto begin = std::chrono::steady_clock::now();
  server.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

// A refused body must not be read as another request.
TEST(HttpServerTest, AConnectionCarriesOneRequest) {
  const ExampleServer server("one");
  // This is more than httplib reads at once and discards with the first
  // request.
  std::string inner;
  for (int i = 0; i < 300; ++i) {
    inner += "GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n";
  }
  const std::string answer = ExchangeBytes(
      server.port(),
      absl::StrCat("POST /v1/backups HTTP/1.1\r\nHost: x\r\nContent-Length: ",
                   inner.size(), "\r\n\r\n", inner));
  EXPECT_THAT(answer, HasSubstr(" 401 "));
  EXPECT_EQ(answer.find("HTTP/1.1", 1), std::string::npos) << answer;
}

TEST(HttpServerTest, NoHttpIsRefused) {
  HttpServerOptions http;
  http.idle_seconds = 1;
  const ExampleServer server("junk", http);
  for (const std::string& bytes :
       {std::string("\r\n\r\n"), std::string("junk\r\n\r\n"),
        "GET /" + std::string(9000, 'a') + " HTTP/1.1\r\n\r\n",
        std::string("GET / HTTP/9\r\n\r\n"), std::string(3000, '\0')}) {
    const std::string answer = ExchangeBytes(server.port(), bytes);
    EXPECT_EQ(answer.find(" 200 "), std::string::npos) << answer;
  }
  Caller caller(server);
  EXPECT_EQ(caller.Get("/v1/no/such").status, 404);
  EXPECT_EQ(caller.Post("/v1/health", "").status, 405);
  EXPECT_EQ(caller.Get("/v1/health").status, 200);
}

TEST(HttpServerTest, EventsTellEachStepAndEnd) {
  ExampleServer server("events");
  Caller caller(server);
  const std::string id = caller.SubmitForId("slow a");
  httplib::Client client("127.0.0.1", server.port());
  client.set_default_headers({{"Authorization", "Bearer " + server.token()}});
  std::string text;
  const auto result = client.Get(
      ("/v1/trials/" + id + "/events"), [&](const char* data, size_t size) {
        text.append(data, size);
        if (text.find("measuring") != std::string::npos) server.GoOn();
        return true;
      });
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 200);
  EXPECT_THAT(text, StartsWith("data: {"));
  EXPECT_THAT(text, HasSubstr("\"stage\":\"measuring\""));
  EXPECT_THAT(text, HasSubstr("\"decision\":\"ACCEPT\""));
  EXPECT_EQ(caller.Get("/v1/trials/" + Sha256Hex("none") + "/events").status,
            404);
}

TEST(HttpServerTest, TooManyWatchersAreToldToAsk) {
  HttpServerOptions http;
  http.most_watchers = 0;
  const ExampleServer server("watchers", http);
  Caller caller(server);
  const std::string id = caller.SubmitForId("accept a");
  const httplib::Response response = caller.Get("/v1/trials/" + id + "/events");
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.get_header_value("Retry-After"), "1");
}

TEST(HttpServerTest, AFullQueueIsToldToComeAgain) {
  TrialStoreOptions store;
  store.most_waiting = 3;
  const ExampleServer server("full", {}, {}, store);
  Caller caller(server);
  for (const char* bundle : {"slow a", "slow b", "slow c"}) {
    EXPECT_EQ(caller.Submit(bundle).status, 202);
  }
  const httplib::Response response = caller.Submit("slow d");
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.get_header_value("Retry-After"), "1");
  EXPECT_THAT(response.body, HasSubstr("the queue is full"));
}

TEST(HttpServerTest, TooManyRequestsOfATokenWait) {
  ApiOptions api;
  api.most_requests_at_once = 3;
  api.requests_per_second = 0.01;
  ExampleServer server("often", {}, api);
  Caller caller(server);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(caller.Get("/v1/trials").status, 200);
  const httplib::Response response = caller.Get("/v1/trials");
  EXPECT_EQ(response.status, 429);
  EXPECT_EQ(response.get_header_value("Retry-After"), "100");
  Caller other(server.port(), server.AddToken("other", kReadScope));
  EXPECT_EQ(other.Get("/v1/trials").status, 200);
}

TEST(HttpServerTest, HistoryDeploymentsAndComparison) {
  const ExampleServer server("history");
  Caller caller(server);
  const std::string a = caller.SubmitForId("accept a");
  const std::string b = caller.SubmitForId("accept, and longer");
  caller.Await(a);
  caller.Await(b);
  const json all = Caller::Parsed(
      caller.Get("/v1/trials?deployment=%2F%2Fmodels%3Aexample&most=1"));
  ASSERT_EQ(all["trials"].size(), 1u);
  EXPECT_EQ(all["trials"][0]["id"], b);
  const json older = Caller::Parsed(caller.Get(
      absl::StrCat("/v1/trials?before=", int{all["trials"][0]["sequence"]})));
  EXPECT_EQ(older["trials"][0]["id"], a);
  EXPECT_EQ(caller.Get("/v1/trials?most=9999").status, 400);
  EXPECT_EQ(caller.Get("/v1/trials?before=x").status, 400);
  const json deployments = Caller::Parsed(caller.Get("/v1/deployments"));
  EXPECT_EQ(deployments["deployments"][0]["trial_count"], 2);
  EXPECT_THAT(
      caller.Get("/v1/compare?format=text&before=" + a + "&after=" + b).body,
      HasSubstr("+10 B"));
  EXPECT_EQ(caller.Get("/v1/compare?before=" + a).status, 404);
}

TEST(HttpServerTest, BackupsMetricsAndHealth) {
  const ExampleServer server("backup");
  Caller caller(server);
  caller.Await(caller.SubmitForId("reject a"));
  const httplib::Response backup = caller.Post("/v1/backups", "");
  EXPECT_EQ(backup.status, 201) << backup.body;
  const std::string folder = Caller::Parsed(backup)["backup"];
  EXPECT_THAT(TrialStore::Open(folder, {}), IsOk());
  EXPECT_EQ(caller.Post("/v1/backups", "").status, 201);
  const httplib::Response metrics = caller.Get("/v1/metrics");
  EXPECT_THAT(metrics.get_header_value("Content-Type"),
              StartsWith("application/openmetrics-text"));
  EXPECT_THAT(
      metrics.body,
      AllOf(HasSubstr("footprint_verdicts_total{decision=\"REJECT\"} 1"),
            HasSubstr("footprint_submissions_total 1\n"),
            testing::EndsWith("# EOF\n")));
  EXPECT_EQ(Caller::Parsed(caller.Get("/v1/health"))["status"], "ok");
}

TEST(HttpServerTest, APortIsOneServers) {
  ExampleServer server("port");
  HttpServerOptions options;
  options.port = server.port();
  EXPECT_THAT(HttpServer::Start(server.api(), options),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("--port")));
  options.port = 0;
  options.certificate_path = "/no/such.pem";
  EXPECT_THAT(HttpServer::Start(server.api(), options),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("TLS")));
}

// A key for these tests only, and its certificate, which is valid for a hundred
// years.
constexpr char kTestPair[] = R"pem(
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgfZGVyBCxzyrc0Boj
F9ZTOBvcVFwk2R9krda/65SVP0ChRANCAAQ91yV3y2Kdt1lM3w63O1oloA3cC4lU
788nIF/dRBO/ZlIOwIe/eUHP1jVlzG+K6lp3cJp259mMcTzTt05zHqDO
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBfzCCASWgAwIBAgIUT/SthjwdjEpqqJUu801Ur9H2dKEwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyNjE2MTk0N1oYDzIxMjYxMTAy
MTYxOTQ3WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQ91yV3y2Kdt1lM3w63O1oloA3cC4lU788nIF/dRBO/ZlIOwIe/eUHP
1jVlzG+K6lp3cJp259mMcTzTt05zHqDOo1MwUTAdBgNVHQ4EFgQU3AkpEMiEM663
akzyBfVnDNxQ4yAwHwYDVR0jBBgwFoAU3AkpEMiEM663akzyBfVnDNxQ4yAwDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEA0J1A/4CaUDsMnfTU5KoA
LwP0ZZbCdcN/NS16zecThAQCIFIKhVCsOutTN7yKwRj0u90MhPZJrMm9+XInBa55
Uc22
-----END CERTIFICATE-----
)pem";

TEST(HttpServerTest, TlsCarriesTheSameAndIsStoppedByNobody) {
  HttpServerOptions http;
  http.certificate_path = WriteTestFile("tls.pem", kTestPair);
  http.key_path = http.certificate_path;
  const ExampleServer server("tls", http);
  // Clients that send plain HTTP, half a handshake, and nothing.
  std::vector<std::thread> threads;
  for (const char* bytes : {"GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01", ""}) {
    for (int i = 0; i < 20; ++i) {
      threads.emplace_back(
          [&server, bytes] { ExchangeBytes(server.port(), bytes); });
    }
  }
  httplib::SSLClient client("127.0.0.1", server.port());
  client.enable_server_certificate_verification(false);
  client.set_default_headers({{"Authorization", "Bearer " + server.token()}});
  const httplib::Result health = client.Get("/v1/health");
  ASSERT_TRUE(health) << httplib::to_string(health.error());
  EXPECT_EQ(health->status, 200);
  const std::string bundle = "accept " + std::string(3000000, 'x');
  const httplib::Result submitted =
      client.Post("/v1/trials?sha256=" + Sha256Hex(bundle), bundle,
                  "application/octet-stream");
  ASSERT_TRUE(submitted) << httplib::to_string(submitted.error());
  EXPECT_EQ(submitted->status, 202) << submitted->body;
  for (std::thread& thread : threads) thread.join();
}

// OpenSSL gives no byte of a record before its end.
TEST(HttpServerTest, ARecordOfTlsByteByByteHoldsItsThreadForASecond) {
  HttpServerOptions http;
  http.idle_seconds = 30;
  http.thread_count = 1;
  http.certificate_path = WriteTestFile("slow_tls.pem", kTestPair);
  http.key_path = http.certificate_path;
  const ExampleServer server("slow_tls", http);
  const FileDescriptor socket = SendBytes(server.port(), "");
  ASSERT_TRUE(socket.is_open());
  SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  SSL* const client = SSL_new(context);
  SSL_set_fd(client, socket.get());
  ASSERT_EQ(SSL_connect(client), 1);
  const std::string header =
      absl::StrCat("POST /v1/trials?sha256=", Sha256Hex("x"),
                   " HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\n");
  ASSERT_GT(SSL_write(client, header.data(), static_cast<int>(header.size())),
            0);
  // The body's record is kept and sent slowly.
  BIO* const record = BIO_new(BIO_s_mem());
  SSL_set0_wbio(client, record);
  const std::string body(9000, 'x');
  ASSERT_GT(SSL_write(client, body.data(), static_cast<int>(body.size())), 0);
  std::atomic<bool> is_over = false;
  std::thread slow([&] {
    char byte = 0;
    for (int i = 0; i < 400 && !is_over && BIO_read(record, &byte, 1) == 1;
         ++i) {
      if (send(socket.get(), &byte, 1, MSG_NOSIGNAL) != 1) break;
      usleep(100000);
    }
  });
  usleep(300000);
  httplib::SSLClient other("127.0.0.1", server.port());
  other.enable_server_certificate_verification(false);
  other.set_default_headers({{"Authorization", "Bearer " + server.token()}});
  other.set_read_timeout(20);
  const httplib::Result health = other.Get("/v1/health");
  is_over = true;
  slow.join();
  EXPECT_TRUE(health) << httplib::to_string(health.error());
  SSL_free(client);
  SSL_CTX_free(context);
}

// 8 KB of ranges would make an answer of 48 MB.
TEST(HttpServerTest, RangesAreNotAnswered) {
  HttpServerOptions http;
  http.page = std::string(30000, 'p');
  const ExampleServer server("ranges", http);
  std::string ranges = "bytes=0-";
  while (ranges.size() < 8000) ranges += ",0-";
  const std::string answer = ExchangeBytes(
      server.port(),
      absl::StrCat("GET / HTTP/1.1\r\nHost: x\r\nRange: ", ranges, "\r\n\r\n"));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer, testing::EndsWith("\r\n\r\n" + http.page));
}

TEST(HttpServerTest, AHeadIsAGetWithoutItsBody) {
  HttpServerOptions http;
  http.page = "<!doctype html>";
  const ExampleServer server("head", http);
  httplib::Client client("127.0.0.1", server.port());
  // The scheme's letters are of either case.
  client.set_default_headers({{"authorization", "bearer " + server.token()}});
  for (const char* path : {"/", "/v1/health", "/v1/trials"}) {
    const httplib::Result head = client.Head(path);
    ASSERT_TRUE(head) << path;
    EXPECT_EQ(head->status, 200) << path;
    EXPECT_EQ(head->body, "");
    EXPECT_EQ(head->get_header_value("Content-Length"),
              client.Get(path)->get_header_value("Content-Length"))
        << path;
  }
  EXPECT_EQ(client.Head("/v1/no")->status, 404);
  EXPECT_EQ(client.Head(("/v1/trials/" + Sha256Hex("") + "/events"))->status,
            405);
}

TEST(HttpServerTest, ADeploymentIsUtf8) {
  const ExampleServer server("utf8");
  Caller caller(server);
  const std::string path = "/v1/trials?sha256=" + Sha256Hex("x");
  EXPECT_EQ(caller.Post(path + "&deployment=gr%F6", "x").status, 400);
  EXPECT_EQ(caller.Post(path + "&deployment=a%1Bb", "x").status, 400);
  EXPECT_EQ(caller.Post(path + "&deployment=gr%C3%B6", "x").status, 202);
}

TEST(HttpServerTest, ThePageMayLoadOnlyItself) {
  HttpServerOptions http;
  http.page = "<!doctype html><title>page</title>";
  http.page_policy = "default-src 'none'";
  const ExampleServer server("page", http);
  Caller nobody(server.port(), "");
  const httplib::Response page = nobody.Get("/");
  EXPECT_EQ(page.body, http.page);
  EXPECT_EQ(page.get_header_value("Content-Security-Policy"),
            "default-src 'none'");
}

TEST(HttpServerTest, ManyClientsAtOnce) {
  ApiOptions api;
  api.requests_per_second = 1e9;  // eight of one token ask each millisecond
  const ExampleServer server("many", {}, api);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      Caller caller(server);
      for (int i = 0; i < 10; ++i) {
        const json trial = caller.Await(
            caller.SubmitForId(absl::StrCat("accept ", thread, " ", i)));
        EXPECT_EQ(trial["decision"], "ACCEPT");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Caller caller(server);
  EXPECT_EQ(Caller::Parsed(caller.Get("/v1/trials?most=500"))["trials"].size(),
            80u);
}

}  // namespace
}  // namespace footprint
