// Sends any bytes to a server's port; TOKEN stands for a token with every
// scope. The answer, if there is one, is HTTP and no internal error, and the
// server answers the next request.

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/temporary_folder.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/gates/server/example_server.h"
#include "footprint/gates/server/http_server.h"
#include "footprint/gates/server/validation_api.h"

namespace footprint {
namespace {

ExampleServer& Server() {
  // The folder is new for each run: in a folder with the tokens of another run,
  // the token could not be added.
  static TemporaryFolder folder;
  static const std::unique_ptr<ExampleServer> server = [] {
    const absl::Status made =
        folder.Create(TemporaryFolderParent(), "http_fuzz");
    Require(made.ok(), "there is a folder for the store");
    setenv("TEST_TMPDIR", folder.path().c_str(), /*replace=*/1);
    HttpServerOptions options;
    options.idle_seconds = 1;
    ApiOptions api;
    api.most_requests_at_once = 1e9;
    auto started = std::make_unique<ExampleServer>("fuzzed", options, api);
    Require(!started->token().empty(), "there is a token");
    started->GoOn();
    return started;
  }();
  return *server;
}

// On a loaded machine the server may time out before a request arrives.
bool AnswersTheNext(int port) {
  constexpr int kMostTries = 20;
  for (int i = 0; i < kMostTries; ++i) {
    if (absl::StartsWith(
            ExchangeBytes(port, "GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n"),
            "HTTP/1.1 200")) {
      return true;
    }
    usleep(100000);
  }
  return false;
}

void RequireSense(absl::string_view answer) {
  Require(answer.empty() || absl::StartsWith(answer, "HTTP/1.1 "),
          "an answer is HTTP");
  Require(!absl::StartsWith(answer, "HTTP/1.1 500"),
          "what a request says is no error of the server's");
}

void SendAnyBytes(absl::string_view bytes) {
  ExampleServer& server = Server();
  RequireSense(ExchangeBytes(
      server.port(), absl::StrReplaceAll(bytes, {{"TOKEN", server.token()}})));
  // Few inputs are requests with a valid token, so this one uses the first word
  // as a number.
  RequireSense(ExchangeBytes(
      server.port(),
      absl::StrCat(
          "GET /v1/trials?most=", bytes.substr(0, bytes.find_first_of(" \r\n")),
          " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ", server.token(),
          "\r\n\r\n")));
  Require(AnswersTheNext(server.port()), "the server answers the next request");
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(SendAnyBytes)

}  // namespace footprint
