// The validation server's interface over HTTP, on threads of its own.
//
//   HttpServerOptions options;
//   options.port = 7878;
//   absl::StatusOr<std::unique_ptr<HttpServer>> server =
//       HttpServer::Start(&api, options);
//   if (!server.ok()) return server.status();
//   ...
//   (*server)->Stop();
//
// A connection carries one request, so that a body that is refused cannot be
// taken for the next one. Bodies are written as they come and never kept in
// memory. As many requests as there are threads are answered at once; a few
// more wait, and the system holds the rest back. A header is read whole, within
// its bounds and its deadline, before a thread takes it (request_front.h), so
// that slow clients stop nobody; an upload or an answer below 4 KiB a second is
// given up after ten seconds.
//
// `api` outlives the server. Start, port and Stop are one thread's; Stop waits
// for what is served. Memory: about 100 KiB a thread that is busy.
//
// Unavailable: the port is taken, or the address is not this machine's.
// InvalidArgument: certificate and key cannot be used. FailedPrecondition: they
// are given, and this build has no TLS.

#ifndef FOOTPRINT_GATES_SERVER_HTTP_SERVER_H_
#define FOOTPRINT_GATES_SERVER_HTTP_SERVER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "footprint/gates/server/validation_api.h"

namespace footprint {

struct HttpServerOptions {
  // Loopback: of this machine alone.
  std::string host = "127.0.0.1";
  int port = 0;  // 0: any that is free
  int thread_count = 16;
  // Idle time after which a connection is closed; also the time for a whole
  // header.
  int idle_seconds = 10;
  // The most time of one upload.
  int upload_seconds = 600;
  // How many may follow events at once; the others are told to ask again.
  int most_watchers = 8;
  int64_t most_bundle_bytes = int64_t{1} << 30;
  // Files in PEM; empty: no TLS.
  std::string certificate_path;
  std::string key_path;
  // The page that GET / shows, and its Content-Security-Policy.
  std::string page;
  std::string page_policy;
};

class HttpServer {
 public:
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(
      ValidationApi* api, const HttpServerOptions& options);
  ~HttpServer();

  int port() const;
  void Stop();

 private:
  class Implementation;
  explicit HttpServer(std::unique_ptr<Implementation> implementation);

  std::unique_ptr<Implementation> implementation_;
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SERVER_HTTP_SERVER_H_
