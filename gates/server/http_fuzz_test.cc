// Any bytes to a server's port, where TOKEN stands for a token of every scope:
// an answer is HTTP or there is none, and the server answers the next.

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/gates/server/example_server.h"
#include "footprint/gates/server/http_server.h"
#include "footprint/gates/server/validation_api.h"

namespace footprint {
namespace {

ExampleServer& Server() {
  static ExampleServer* const server = [] {
    HttpServerOptions options;
    options.idle_seconds = 1;
    ApiOptions api;
    api.most_requests_at_once = 1e9;
    auto* started = new ExampleServer("fuzzed", options, api);
    started->GoOn();
    return started;
  }();
  return *server;
}

void SendAnyBytes(absl::string_view bytes) {
  ExampleServer& server = Server();
  const std::string answer = ExchangeBytes(
      server.port(), absl::StrReplaceAll(bytes, {{"TOKEN", server.token()}}));
  Require(answer.empty() || absl::StartsWith(answer, "HTTP/1.1 "),
          "an answer is HTTP");
  Require(absl::StartsWith(
              ExchangeBytes(server.port(),
                            "GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n"),
              "HTTP/1.1 200"),
          "the server answers the next request");
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(SendAnyBytes)

}  // namespace footprint
