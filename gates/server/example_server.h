// Runs a whole validation server over a new store, for tests. The bytes of a
// bundle determine the result of its trial.
//
//   ExampleServer server("name");
//   httplib::Client client("127.0.0.1", server.port());
//
// A bundle is a word and a name: "accept a", "reject a", "fail a", "flaky a"
// (the first such trial of the server fails), "slow a" (runs until GoOn). The
// profile has a benchmark whose peak is the bundle's length.
//
// Owns the store, which stays in the test's folder. Thread-compatible. Memory:
// that of a server (http_server.h).

#ifndef FOOTPRINT_GATES_SERVER_EXAMPLE_SERVER_H_
#define FOOTPRINT_GATES_SERVER_EXAMPLE_SERVER_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/read_write.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/server/access_tokens.h"
#include "footprint/gates/server/http_server.h"
#include "footprint/gates/server/trial_queue.h"
#include "footprint/gates/server/validation_api.h"
#include "footprint/gates/store/submitter_limits.h"
#include "footprint/gates/store/trial_store.h"
#include "gtest/gtest.h"

namespace footprint {

// Sends bytes unchanged to a server on this machine, and returns the
// connection; closed if no server listens.
inline FileDescriptor SendBytes(int port, absl::string_view bytes) {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(socket.get(), reinterpret_cast<sockaddr*>(&address),
              sizeof(address)) != 0 ||
      !WriteOn(socket.get(), bytes.data(),
               static_cast<int64_t>(bytes.size()))) {
    return FileDescriptor();
  }
  return socket;
}

// Sends bytes unchanged, and returns all that the server answers until it hangs
// up; empty if no server listens.
inline std::string ExchangeBytes(int port, absl::string_view bytes) {
  std::string answer;
  const FileDescriptor socket = SendBytes(port, bytes);
  if (!socket.is_open()) return answer;
  // Ends the sending side, so that the server does not wait for the rest of an
  // incomplete header.
  if (!absl::StrContains(bytes, "\r\n\r\n")) shutdown(socket.get(), SHUT_WR);
  char piece[4096];
  ssize_t size = 0;
  while ((size = recv(socket.get(), piece, sizeof(piece), 0)) > 0) {
    answer.append(piece, static_cast<size_t>(size));
  }
  return answer;
}

class ExampleServer {
 public:
  explicit ExampleServer(const std::string& name,
                         const HttpServerOptions& http_options = {},
                         ApiOptions api_options = {},
                         const TrialStoreOptions& store_options = {})
      : tokens_path_(TestPath(absl::StrCat(name, ".tokens"))),
        tokens_(tokens_path_) {
    absl::StatusOr<std::unique_ptr<TrialStore>> store =
        TrialStore::Open(TestPath(name), store_options);
    EXPECT_THAT(store, IsOk());
    store_ = *std::move(store);
    queue_ = std::make_unique<TrialQueue>(
        store_.get(), [this](const TrialToRun& trial) { return Run(trial); },
        TrialQueueOptions{/*thread_count=*/2});
    queue_->Start();
    api_options.backups_folder = TestPath(absl::StrCat(name, ".backups"));
    api_ = std::make_unique<ValidationApi>(store_.get(), queue_.get(), &tokens_,
                                           api_options);
    absl::StatusOr<std::unique_ptr<HttpServer>> http =
        HttpServer::Start(api_.get(), http_options);
    EXPECT_THAT(http, IsOk());
    http_ = *std::move(http);
    token_ = AddToken("all", kSubmitScope | kReadScope | kAdminScope);
  }
  ~ExampleServer() {
    GoOn();
    http_->Stop();
    queue_->Stop();
  }

  int port() const { return http_->port(); }
  ValidationApi* api() { return api_.get(); }
  const std::string& tokens_path() const { return tokens_path_; }
  // Returns a token with every scope.
  const std::string& token() const { return token_; }
  std::string AddToken(const std::string& name, unsigned scopes,
                       int64_t expiry_unix_seconds = 0,
                       const SubmitterLimits& limits = {}) {
    const absl::StatusOr<std::string> token = AddAccessToken(
        tokens_path_, {name, scopes, expiry_unix_seconds, limits});
    EXPECT_THAT(token, IsOk());
    return token.ok() ? *token : "";
  }
  // Adds a token that may submit bundles and owns labels.
  std::string AddOwner(const std::string& name,
                       const std::vector<std::string>& labels) {
    AccessGrant grant = {name, kSubmitScope};
    grant.owned_labels = labels;
    const absl::StatusOr<std::string> token =
        AddAccessToken(tokens_path_, grant);
    EXPECT_THAT(token, IsOk());
    return token.ok() ? *token : "";
  }
  void GoOn() { goes_on_ = true; }

 private:
  absl::StatusOr<StoredResult> Run(const TrialToRun& trial) const {
    const std::string bundle = ReadTestFile(trial.bundle_path);
    if (absl::StartsWith(bundle, "fail")) {
      return absl::InternalError("the sandbox broke");
    }
    if (absl::StartsWith(bundle, "flaky") && !has_failed_.exchange(true)) {
      return absl::InternalError("the sandbox broke once");
    }
    trial.report_stage("measuring");
    while (absl::StartsWith(bundle, "slow") && !goes_on_) usleep(1000);
    StoredResult result;
    result.set_deployment("//models:example");
    result.add_remarks("ran in an example");
    const bool is_accepted = !absl::StartsWith(bundle, "reject");
    Verdict* verdict = result.mutable_verdict();
    verdict->set_decision(is_accepted ? ACCEPT : REJECT);
    MemoryProfile* profile = result.mutable_profile();
    profile->set_label("//models:example");
    BenchmarkMemory* benchmark = profile->add_benchmarks();
    benchmark->set_name("run");
    Metric* metric = benchmark->add_metrics();
    metric->set_kind(PEAK_LIVE_USABLE_BYTES);
    metric->set_determinism(EXACT);
    metric->set_value(static_cast<int64_t>(bundle.size()));
    Judgement* judgement = verdict->add_judgements();
    judgement->set_label("//models:example");
    judgement->set_benchmark("run");
    judgement->set_metric(PEAK_LIVE_USABLE_BYTES);
    judgement->set_measured(metric->value());
    judgement->set_limit(is_accepted ? metric->value() + 100 : 3);
    judgement->set_rule(MAXIMUM);
    judgement->set_severity(BLOCK);
    judgement->set_decision(verdict->decision());
    return result;
  }

  const std::string tokens_path_;
  AccessTokens tokens_;
  std::unique_ptr<TrialStore> store_;
  std::unique_ptr<TrialQueue> queue_;
  std::unique_ptr<ValidationApi> api_;
  std::unique_ptr<HttpServer> http_;
  std::string token_;
  std::atomic<bool> goes_on_ = false;
  mutable std::atomic<bool> has_failed_ = false;
};

}  // namespace footprint

// Tested by http_server_test.

#endif  // FOOTPRINT_GATES_SERVER_EXAMPLE_SERVER_H_
