#include "footprint/gates/server/http_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/types/optional.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/gates/server/connection.h"
#include "footprint/gates/server/request_front.h"
#include "footprint/gates/store/bundle_folder.h"
#include "httplib.h"

namespace footprint {
namespace {

using Clock = std::chrono::steady_clock;
using HandlerResponse = httplib::Server::HandlerResponse;

constexpr char kUploadPath[] = "/v1/trials";
constexpr char kTrialPrefix[] = "/v1/trials/";
constexpr char kEventsSuffix[] = "/events";
constexpr char kScheme[] = "Bearer ";
// How soon a watcher sees a change.
constexpr auto kWatchInterval = std::chrono::milliseconds(100);
// Intervals without a change after which a comment is sent, so that the server
// notices a watcher that left.
constexpr int kIntervalsOfSilence = 100;
constexpr int kMostUnaccepted = 128;
// The most bytes that are read of a refused body.
constexpr int64_t kMostDrainedBytes = 64 << 10;
constexpr auto kDrainTime = std::chrono::seconds(1);
// How soon a thread that waits for bytes sees that the server stops.
constexpr auto kStopInterval = std::chrono::milliseconds(100);

// The pace below which an upload or an answer is given up, so that a client
// that moves only a byte now and then does not occupy a thread.
class Pace {
 public:
  void Add(int64_t bytes) { bytes_ += bytes; }
  bool IsTooSlow() const {
    const std::chrono::duration<double> taken = Clock::now() - begin_;
    return taken.count() >
           kFreeSeconds + static_cast<double>(bytes_) / kLeastBytesPerSecond;
  }

 private:
  static constexpr double kFreeSeconds = 10;
  static constexpr double kLeastBytesPerSecond = 4096;
  const Clock::time_point begin_ = Clock::now();
  int64_t bytes_ = 0;
};

// Adapts a connection to httplib's stream. The header is read from the bytes
// that have arrived, never from the connection.
//
// The library's releases differ in the functions of a stream: without
// `override` this class compiles with all of them.
class ConnectionStream : public httplib::Stream {
 public:
  ConnectionStream(ArrivedRequest* request, int idle_seconds,
                   const std::atomic<bool>* is_stopping)
      : request_(request),
        idle_milliseconds_(idle_seconds * 1000),
        is_stopping_(*is_stopping) {}

  // Reads from now on from the connection too.
  void ReadOn() { reads_on_ = true; }
  // Reads nothing that arrives later.
  void EndReadingAt(Clock::time_point end) { end_of_reading_ = end; }
  // Disables the check of the pace, for an answer with pauses.
  void AllowPauses() { has_pace_ = false; }

  ssize_t read(char* bytes, size_t size) {
    if (at_ < request_->bytes.size()) {
      const size_t taken = request_->bytes.copy(bytes, size, at_);
      at_ += taken;
      return static_cast<ssize_t>(taken);
    }
    // A record of TLS that arrives byte by byte gives none before its end, so
    // the idle time is that of the whole call.
    const auto end =
        std::min(end_of_reading_,
                 Clock::now() + std::chrono::milliseconds(idle_milliseconds_));
    while (reads_on_) {
      const Connection::Progress done = request_->connection->Read(bytes, size);
      if (done.awaited == 0) return static_cast<ssize_t>(done.bytes);
      if (!AwaitUntil(done.awaited, end)) break;
    }
    return -1;
  }

  // Writes all bytes, or returns an error.
  ssize_t write(const char* bytes, size_t size) {
    for (size_t at = 0; at < size;) {
      const Connection::Progress done =
          request_->connection->Write(bytes + at, size - at);
      at += static_cast<size_t>(done.bytes);
      written_.Add(done.bytes);
      if (done.bytes > 0) continue;
      if (done.awaited == 0 || (has_pace_ && written_.IsTooSlow()) ||
          !Await(done.awaited, idle_milliseconds_)) {
        return -1;
      }
    }
    return static_cast<ssize_t>(size);
  }

  bool is_readable() const {
    return at_ < request_->bytes.size() || Await(POLLIN, 0);
  }
  bool wait_readable() const {
    return at_ < request_->bytes.size() || Await(POLLIN, idle_milliseconds_);
  }
  bool is_writable() const { return Await(POLLOUT, idle_milliseconds_); }
  bool wait_writable() const { return is_writable(); }
  // Nothing here uses the addresses.
  void get_remote_ip_and_port(std::string&, int&) const {}
  void get_local_ip_and_port(std::string&, int&) const {}
  socket_t socket() const { return request_->connection->socket(); }
  time_t duration() const { return 0; }

 private:
  // Returns false at the end, or if the server stops.
  bool AwaitUntil(short event, Clock::time_point end) const {
    while (!is_stopping_) {
      const auto left = end - Clock::now();
      if (left <= Clock::duration::zero()) return false;
      const auto pause = std::min<Clock::duration>(left, kStopInterval);
      // Rounded up, so that the last pause is not zero.
      if (Await(event, static_cast<int>(
                           std::chrono::ceil<std::chrono::milliseconds>(pause)
                               .count()))) {
        return true;
      }
    }
    return false;
  }
  bool Await(short event, int milliseconds) const {
    pollfd awaited = {socket(), event, 0};
    int count = 0;
    do {
      count = poll(&awaited, 1, milliseconds);
    } while (count < 0 && errno == EINTR);
    return count > 0 && (awaited.revents & (POLLERR | POLLNVAL)) == 0;
  }

  ArrivedRequest* const request_;
  const int idle_milliseconds_;
  const std::atomic<bool>& is_stopping_;
  Clock::time_point end_of_reading_ = Clock::time_point::max();
  size_t at_ = 0;
  bool reads_on_ = false;
  bool has_pace_ = true;
  Pace written_;
};

// The stream of the request that this thread answers, which httplib does not
// pass to handlers.
thread_local ConnectionStream* answered_stream = nullptr;

// httplib's server without its listener and threads: it parses a request and
// answers it.
class Answerer {
 public:
  using Prepare = std::function<void(httplib::Request&)>;

  virtual ~Answerer() = default;
  virtual httplib::Server* server() = 0;
  // Returns the socket that the server has bound; CloseListener closes it and
  // ends the endless answers.
  virtual socket_t listener() const = 0;
  virtual void CloseListener() = 0;
  // Answers a request. Calls `prepare` with it once its header is read.
  virtual void Answer(httplib::Stream* stream, const Prepare& prepare) = 0;
};

template <typename Base>
class OwnAnswerer : public Answerer, private Base {
 public:
  template <typename... Arguments>
  explicit OwnAnswerer(const Arguments&... arguments) : Base(arguments...) {}
  ~OwnAnswerer() override { CloseListener(); }

  httplib::Server* server() override { return this; }
  socket_t listener() const override { return this->svr_sock_; }
  void CloseListener() override {
    const socket_t socket = this->svr_sock_.exchange(INVALID_SOCKET);
    if (socket != INVALID_SOCKET) close(socket);
  }
  void Answer(httplib::Stream* stream, const Prepare& prepare) override {
    bool is_closed = false;
    Process(stream, prepare, &is_closed, 0);
  }

 private:
  // This is for release 0.11; later releases take the addresses as well.
  template <typename Stream>
  auto Process(Stream* stream, const Prepare& prepare, bool* is_closed, int)
      -> decltype(void(this->process_request(*stream, true, *is_closed,
                                             prepare))) {
    this->process_request(*stream, /*close_connection=*/true, *is_closed,
                          prepare);
  }
  template <typename Stream>
  auto Process(Stream* stream, const Prepare& prepare, bool* is_closed, long)
      -> decltype(void(this->process_request(*stream, "", 0, "", 0, true,
                                             *is_closed, prepare))) {
    this->process_request(*stream, "", 0, "", 0, /*close_connection=*/true,
                          *is_closed, prepare);
  }
};

ApiRequest ToApiRequest(const httplib::Request& request) {
  ApiRequest converted;
  // The library omits the body of an answer to HEAD.
  converted.method = request.method == "HEAD" ? "GET" : request.method;
  converted.path = request.path;
  for (const auto& [name, value] : request.params) {
    converted.query.emplace(name, value);
  }
  const std::string authorization = request.get_header_value("Authorization");
  absl::string_view token = authorization;
  // The scheme's letters may be of either case.
  if (absl::StartsWithIgnoreCase(token, kScheme)) {
    token.remove_prefix(sizeof(kScheme) - 1);
    converted.token = std::string(absl::StripAsciiWhitespace(token));
  }
  return converted;
}

void Write(const ApiResponse& from, httplib::Response* response) {
  response->status = from.status;
  response->set_content(from.body, from.content_type);
  for (const auto& [name, value] : from.headers) {
    response->set_header(name.c_str(), value.c_str());
  }
}

bool IsEventsPath(const std::string& path) {
  absl::string_view rest = path;
  return absl::ConsumePrefix(&rest, kTrialPrefix) &&
         absl::ConsumeSuffix(&rest, kEventsSuffix);
}

// An answer that httplib does not write.
std::string RefusalText(int status, const char* reason,
                        absl::string_view message) {
  const ApiResponse response = ErrorResponse(status, "refused", message);
  return absl::StrCat("HTTP/1.1 ", status, " ", reason,
                      "\r\nContent-Type: ", response.content_type,
                      "\r\nContent-Length: ", response.body.size(),
                      "\r\nConnection: close\r\n\r\n", response.body);
}

// Returns whether the request was allowed, but the store has no room or the
// queue is full.
bool IsForWantOfRoom(const ApiResponse& refusal) {
  return refusal.status == 507 || refusal.status == 503;
}

}  // namespace

class HttpServer::Implementation {
 public:
  Implementation(ValidationApi* api, const HttpServerOptions& options)
      : api_(api), options_(options) {}

  absl::Status Start();
  void Stop();
  int port() const { return port_; }

 private:
  absl::Status MakeServer();
  void SetHandlers();
  bool StartFront();
  void Work();
  absl::Status Bind();
  HandlerResponse Route(const httplib::Request& request,
                        httplib::Response& response);
  void Upload(const httplib::Request& request, httplib::Response& response,
              const httplib::ContentReader& content);
  void Watch(const httplib::Request& request, httplib::Response& response);
  void ShowPage(httplib::Response& response) const;
  // Reads and discards what a refused client sends, for a limited time.
  static void Drain(const httplib::ContentReader& content);

  ValidationApi* const api_;
  const HttpServerOptions options_;
  std::unique_ptr<Answerer> answerer_;
  httplib::Server* server_ = nullptr;
  // OpenSSL's context; null without TLS.
  ssl_ctx_st* tls_context_ = nullptr;
  std::unique_ptr<RequestFront> front_;
  std::vector<std::thread> threads_;
  int port_ = 0;
  std::atomic<bool> is_stopping_ = false;
  std::atomic<int> watcher_count_ = 0;
};

absl::Status HttpServer::Implementation::MakeServer() {
  if (options_.certificate_path.empty() && options_.key_path.empty()) {
    answerer_ = std::make_unique<OwnAnswerer<httplib::Server>>();
    server_ = answerer_->server();
    return absl::OkStatus();
  }
#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
  auto answerer = std::make_unique<OwnAnswerer<httplib::SSLServer>>(
      options_.certificate_path.c_str(), options_.key_path.c_str());
  server_ = answerer->server();
  if (server_->is_valid()) {
    tls_context_ = static_cast<httplib::SSLServer*>(server_)->ssl_context();
    answerer_ = std::move(answerer);
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "cannot use the certificate '", options_.certificate_path,
      "' with the key '", options_.key_path,
      "': give --certificate and --key, two PEM files of one pair, or put a "
      "proxy that speaks TLS before the server"));
#else
  return absl::FailedPreconditionError(
      "this build has no TLS, since its cpp-httplib was built without it: "
      "leave --certificate and --key away, and put a proxy that speaks TLS "
      "before the server");
#endif
}

absl::Status HttpServer::Implementation::Bind() {
  const bool is_bound =
      options_.port == 0
          ? (port_ = server_->bind_to_any_port(options_.host)) > 0
          : server_->bind_to_port(options_.host, options_.port);
  if (options_.port != 0) port_ = options_.port;
  // httplib's queue holds five connections, too few for a burst of submissions.
  if (is_bound) {
    const socket_t socket = answerer_->listener();
    listen(socket, kMostUnaccepted);
    fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
  }
  if (is_bound) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("cannot listen at ", options_.host, ":", options_.port,
                   ": another program has the port, the address is not this "
                   "machine's, or this user may not use a port below 1024; "
                   "name another by --port or --host"));
}

absl::Status HttpServer::Implementation::Start() {
  absl::Status status = MakeServer();
  if (!status.ok()) return status;
  SetHandlers();
  status = Bind();
  if (!status.ok()) return status;
  if (!StartFront()) {
    return absl::UnavailableError(
        "the server cannot start: this process has no file descriptors left; "
        "raise `ulimit -n`");
  }
  for (int i = 0; i < options_.thread_count; ++i) {
    threads_.emplace_back([this] { Work(); });
  }
  return absl::OkStatus();
}

bool HttpServer::Implementation::StartFront() {
  RequestFrontOptions options;
  options.listening_socket = answerer_->listener();
  options.header_time = std::chrono::seconds(options_.idle_seconds);
  options.connect = [this](FileDescriptor socket) {
    return tls_context_ == nullptr
               ? PlainConnection(std::move(socket))
               : TlsConnection(std::move(socket), tls_context_);
  };
  options.too_large = RefusalText(
      431, "Request Header Fields Too Large",
      absl::StrCat("a header has at most ", options.most_header_bytes,
                   " bytes and ", options.most_header_lines, " lines here"));
  options.too_late =
      RefusalText(408, "Request Timeout",
                  absl::StrCat("the header did not arrive in ",
                               options_.idle_seconds, " s; send it again"));
  front_ = std::make_unique<RequestFront>(std::move(options));
  return front_->Start();
}

void HttpServer::Implementation::Work() {
  while (absl::optional<ArrivedRequest> arrived = front_->Next()) {
    ConnectionStream stream(&*arrived, options_.idle_seconds, &is_stopping_);
    answered_stream = &stream;
    answerer_->Answer(&stream, [&](httplib::Request& request) {
      // Ranges are ignored: no answer here is worth sending in parts.
      request.ranges.clear();
      stream.ReadOn();
      if (IsEventsPath(request.path)) stream.AllowPauses();
    });
    arrived->connection->EndWriting();
  }
}

void HttpServer::Implementation::Stop() {
  if (threads_.empty()) return;
  is_stopping_ = true;
  front_->Stop();
  answerer_->CloseListener();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void HttpServer::Implementation::SetHandlers() {
  // These are httplib's default options without SO_REUSEPORT: two servers must
  // not share a port.
  server_->set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
  server_->set_payload_max_length(
      static_cast<size_t>(options_.most_bundle_bytes));
  server_->set_default_headers(
      {{"X-Content-Type-Options", "nosniff"}, {"Cache-Control", "no-store"}});
  server_->set_pre_routing_handler(
      [this](const httplib::Request& request, httplib::Response& response) {
        return Route(request, response);
      });
  server_->Post(kUploadPath, [this](const httplib::Request& request,
                                    httplib::Response& response,
                                    const httplib::ContentReader& content) {
    Upload(request, response, content);
  });
  server_->set_exception_handler([](const httplib::Request&,
                                    httplib::Response& response,
                                    std::exception_ptr) {
    Write(ErrorResponse(500, "internal", "the request ended in an error"),
          &response);
  });
  // Answers the requests that httplib itself refuses.
  server_->set_error_handler(httplib::Server::HandlerWithResponse(
      [](const httplib::Request&, httplib::Response& response) {
        if (!response.body.empty()) return HandlerResponse::Unhandled;
        Write(ErrorResponse(response.status, "refused",
                            "the request is malformed or too long, or its HTTP "
                            "method or version is unknown to this server"),
              &response);
        return HandlerResponse::Handled;
      }));
}

// Answers all requests except uploads, whose bodies httplib reads afterwards.
HandlerResponse HttpServer::Implementation::Route(
    const httplib::Request& request, httplib::Response& response) {
  const bool has_body = request.has_header("Transfer-Encoding") ||
                        (request.has_header("Content-Length") &&
                         request.get_header_value("Content-Length") != "0");
  if (request.method == "POST" && request.path == kUploadPath && has_body) {
    return HandlerResponse::Unhandled;
  }
  const bool is_get = request.method == "GET" || request.method == "HEAD";
  if (is_get && request.path == "/") {
    ShowPage(response);
  } else if (request.method == "HEAD" && IsEventsPath(request.path)) {
    Write(ErrorResponse(405, "method_not_allowed", "events are for GET alone"),
          &response);
  } else if (request.method == "GET" && IsEventsPath(request.path)) {
    Watch(request, response);
  } else {
    Write(api_->Answer(ToApiRequest(request)), &response);
  }
  return HandlerResponse::Handled;
}

void HttpServer::Implementation::ShowPage(httplib::Response& response) const {
  response.status = 200;
  response.set_content(options_.page, "text/html; charset=utf-8");
  response.set_header("Content-Security-Policy", options_.page_policy.c_str());
  response.set_header("Referrer-Policy", "no-referrer");
}

void HttpServer::Implementation::Upload(const httplib::Request& request,
                                        httplib::Response& response,
                                        const httplib::ContentReader& content) {
  // Refuses a body that is not the bundle itself, with its length announced.
  int64_t announced_bytes = 0;
  if (request.has_header("Content-Encoding") ||
      request.has_header("Transfer-Encoding") ||
      request.is_multipart_form_data()) {
    Write(ErrorResponse(415, "unsupported_body",
                        "send the bundle's bytes as they are, with their "
                        "Content-Length, and neither compressed nor in parts"),
          &response);
    return;
  }
  if (!absl::SimpleAtoi(request.get_header_value("Content-Length"),
                        &announced_bytes) ||
      announced_bytes < 0) {
    Write(
        ErrorResponse(411, "length_required", "Content-Length is not a number"),
        &response);
    return;
  }
  const ApiRequest converted = ToApiRequest(request);
  auto begun = api_->BeginUpload(converted, announced_bytes);
  const auto deadline =
      Clock::now() + std::chrono::seconds(options_.upload_seconds);
  Pace pace;
  // Unread bytes would reset the connection before the client reads the answer,
  // so a refused body is read too.
  if (const auto* refusal = std::get_if<ApiResponse>(&begun)) {
    if (announced_bytes <= kMostDrainedBytes || IsForWantOfRoom(*refusal)) {
      Drain(content);
    }
    // The answer is written last, since the library writes its own if a body is
    // incomplete.
    Write(*refusal, &response);
    return;
  }
  // Receives the bundle, and answers.
  auto& upload = std::get<BundleUpload>(begun);
  absl::Status status;
  const bool is_whole = content([&](const char* data, size_t size) {
    pace.Add(static_cast<int64_t>(size));
    if (is_stopping_ || Clock::now() > deadline || pace.IsTooSlow()) {
      status.Update(absl::UnavailableError(
          is_stopping_ ? "the server stops; try again later"
                       : "the upload is too slow; try again"));
      return false;
    }
    if (status.ok()) status = upload.Append(absl::string_view(data, size));
    return true;
  });
  if (!status.ok()) {
    Write(ErrorResponse(status), &response);
  } else if (!is_whole) {
    Write(ErrorResponse(408, "half_an_upload",
                        "the connection ended before the bundle did; send it "
                        "again"),
          &response);
  } else {
    Write(api_->EndUpload(converted, std::move(upload)), &response);
  }
}

void HttpServer::Implementation::Drain(const httplib::ContentReader& content) {
  const auto end = Clock::now() + kDrainTime;
  answered_stream->EndReadingAt(end);
  content([&](const char*, size_t) { return Clock::now() < end; });
}

void HttpServer::Implementation::Watch(const httplib::Request& request,
                                       httplib::Response& response) {
  const auto begun = api_->BeginEvents(ToApiRequest(request));
  if (const auto* refusal = std::get_if<ApiResponse>(&begun)) {
    Write(*refusal, &response);
    return;
  }
  // Each watcher holds a thread until its trial is decided.
  if (++watcher_count_ > options_.most_watchers) {
    --watcher_count_;
    Write(ErrorResponse(absl::UnavailableError(
              "too many follow events; ask for the trial itself")),
          &response);
    return;
  }
  struct Seen {
    std::string key;
    std::string event;
    int silent_intervals = 0;
  };
  const auto seen =
      std::make_shared<Seen>(Seen{std::get<std::string>(begun), "", 0});
  response.status = 200;
  // httplib calls the first function until it returns false or is done, and
  // then the second one.
  response.set_chunked_content_provider(
      "text/event-stream",
      [this, seen](size_t, httplib::DataSink& sink) {
        bool is_last = false;
        const absl::StatusOr<std::string> event =
            api_->StateEvent(seen->key, &is_last);
        if (!event.ok() || is_stopping_) return false;
        std::string text;
        if (*event != seen->event) {
          text = absl::StrCat("data: ", *event, "\n\n");
          seen->event = *event;
          seen->silent_intervals = 0;
        } else if (++seen->silent_intervals % kIntervalsOfSilence == 0) {
          text = ": waiting\n\n";
        }
        if (!text.empty() && !sink.write(text.data(), text.size())) {
          return false;
        }
        if (is_last) {
          sink.done();
        } else {
          std::this_thread::sleep_for(kWatchInterval);
        }
        return true;
      },
      [this](bool) { --watcher_count_; });
}

HttpServer::HttpServer(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}

HttpServer::~HttpServer() { Stop(); }

int HttpServer::port() const { return implementation_->port(); }

void HttpServer::Stop() { implementation_->Stop(); }

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(
    ValidationApi* api, const HttpServerOptions& options) {
  auto implementation = std::make_unique<Implementation>(api, options);
  const absl::Status started = implementation->Start();
  if (!started.ok()) return started;
  return absl::WrapUnique(new HttpServer(std::move(implementation)));
}

}  // namespace footprint
