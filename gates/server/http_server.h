// Serves the validation server's interface over HTTP, on its own threads.
//
//   HttpServerOptions options;
//   options.port = 7878;
//   absl::StatusOr<std::unique_ptr<HttpServer>> server =
//       HttpServer::Start(&api, options);
//   if (!server.ok()) return server.status();
//   ...
//   (*server)->Stop();
//
// A connection carries one request, so that a refused body cannot be read as
// the next request. Bodies are written to disk as they arrive and never kept in
// memory. Each thread answers one request at a time; a few more requests wait,
// and the rest stay in the kernel's queue. A header is read completely, within
// its bounds and its deadline, before a thread takes the request
// (request_front.h), so slow clients do not block others. An upload or an
// answer is given up if it takes ten seconds longer than it would at 4 KiB a
// second; the events of a trial are not.
//
// `api` must outlive the server. Start, port and Stop must be called by one
// thread; Stop ends uploads and events, and waits for the other requests in
// progress. Memory: about 100 KiB for each busy thread.
//
// Start returns Unavailable if the port is taken, the address is not this
// machine's, or the process has no file descriptors left, InvalidArgument if
// certificate and key cannot be used, and FailedPrecondition if they are given
// but this build has no TLS.

#ifndef FOOTPRINT_GATES_SERVER_HTTP_SERVER_H_
#define FOOTPRINT_GATES_SERVER_HTTP_SERVER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "footprint/gates/server/validation_api.h"

namespace footprint {

struct HttpServerOptions {
  // The default is loopback: only this machine can connect.
  std::string host = "127.0.0.1";
  int port = 0;  // 0: any free port
  int thread_count = 16;
  // Idle time after which a connection is closed; also the time for a whole
  // header.
  int idle_seconds = 10;
  // The longest time of one upload.
  int upload_seconds = 600;
  // Number of clients that may follow events at once; others must ask again.
  int most_watchers = 8;
  int64_t most_bundle_bytes = int64_t{1} << 30;
  // PEM files; empty for no TLS.
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
