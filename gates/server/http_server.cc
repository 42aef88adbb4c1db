#include "footprint/gates/server/http_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "footprint/base/threads/mutex.h"
#include "footprint/gates/store/bundle_folder.h"
#include "httplib.h"

namespace footprint {
namespace {

using Clock = std::chrono::steady_clock;
using HandlerResponse = httplib::Server::HandlerResponse;

constexpr char kUploadPath[] = "/v1/trials";
constexpr char kTrialPrefix[] = "/v1/trials/";
constexpr char kEventsSuffix[] = "/events";
// How soon who watches sees a change.
constexpr auto kWatchInterval = std::chrono::milliseconds(100);
// A comment, so that a watcher who left is noticed.
constexpr int kIntervalsOfSilence = 100;
constexpr int kMostUnaccepted = 128;
// Of a body that nobody may send.
constexpr int64_t kMostDrainedBytes = 64 << 10;

// Threads, and a queue that holds the listener back when it is full: then the
// kernel's own queue fills, and clients wait or are refused.
class BoundedPool : public httplib::TaskQueue {
 public:
  using Result = decltype(std::declval<httplib::TaskQueue>().enqueue({}));

  explicit BoundedPool(int thread_count)
      : most_waiting_(static_cast<size_t>(thread_count)) {
    for (int i = 0; i < thread_count; ++i) {
      threads_.emplace_back([this] { Work(); });
    }
  }

  // Of newer releases: whether it was taken.
  Result enqueue(std::function<void()> task) override {
    Push(std::move(task));
    return Result(true);
  }

  void shutdown() override {
    {
      MutexLock lock(&mutex_);
      is_shut_down_ = true;
      has_task_.NotifyAll();
    }
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  void Push(std::function<void()> task) {
    MutexLock lock(&mutex_);
    while (tasks_.size() >= most_waiting_) has_room_.Wait(&mutex_);
    tasks_.push_back(std::move(task));
    has_task_.NotifyOne();
  }

  void Work() {
    while (true) {
      std::function<void()> task;
      {
        MutexLock lock(&mutex_);
        while (tasks_.empty() && !is_shut_down_) has_task_.Wait(&mutex_);
        if (tasks_.empty()) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
        has_room_.NotifyOne();
      }
      task();
    }
  }

  const size_t most_waiting_;
  std::vector<std::thread> threads_;
  Mutex mutex_;
  // Apart, so that a connection wakes one thread, and not all of them.
  CondVar has_task_;
  CondVar has_room_;
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mutex_);
  bool is_shut_down_ ABSL_GUARDED_BY(mutex_) = false;
};

ApiRequest RequestOf(const httplib::Request& request) {
  ApiRequest converted;
  converted.method = request.method;
  converted.path = request.path;
  for (const auto& [name, value] : request.params) {
    converted.query.emplace(name, value);
  }
  const std::string authorization = request.get_header_value("Authorization");
  absl::string_view token = authorization;
  if (absl::ConsumePrefix(&token, "Bearer "))
    converted.token = std::string(token);
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

// The submitter may send, but the store has no room or the queue is full.
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
  absl::Status Bind();
  HandlerResponse Route(const httplib::Request& request,
                        httplib::Response& response);
  void Upload(const httplib::Request& request, httplib::Response& response,
              const httplib::ContentReader& content);
  void Watch(const httplib::Request& request, httplib::Response& response);
  void ShowPage(httplib::Response& response) const;

  ValidationApi* const api_;
  const HttpServerOptions options_;
  std::unique_ptr<httplib::Server> server_;
  std::thread listener_;
  socket_t listening_socket_ = INVALID_SOCKET;
  int port_ = 0;
  std::atomic<bool> is_stopping_ = false;
  std::atomic<int> watcher_count_ = 0;
};

absl::Status HttpServer::Implementation::MakeServer() {
  if (options_.certificate_path.empty() && options_.key_path.empty()) {
    server_ = std::make_unique<httplib::Server>();
    return absl::OkStatus();
  }
#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
  server_ = std::make_unique<httplib::SSLServer>(
      options_.certificate_path.c_str(), options_.key_path.c_str());
  if (server_->is_valid()) return absl::OkStatus();
#endif
  return absl::InvalidArgumentError(absl::StrCat(
      "TLS cannot be had with the certificate '", options_.certificate_path,
      "' and the key '", options_.key_path,
      "': both are PEM files, of one pair; or put a proxy that "
      "speaks TLS before the server"));
}

absl::Status HttpServer::Implementation::Bind() {
  const bool is_bound =
      options_.port == 0
          ? (port_ = server_->bind_to_any_port(options_.host)) > 0
          : server_->bind_to_port(options_.host, options_.port);
  if (options_.port != 0) port_ = options_.port;
  // httplib lets five wait, which a burst of submissions exceeds.
  if (is_bound) listen(listening_socket_, kMostUnaccepted);
  if (is_bound) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(
      options_.host, ":", options_.port,
      " cannot be listened at: another program has the port, or the address is "
      "not this machine's; name another by --port or --host"));
}

absl::Status HttpServer::Implementation::Start() {
  absl::Status status = MakeServer();
  if (!status.ok()) return status;
  SetHandlers();
  status = Bind();
  if (!status.ok()) return status;
  listener_ = std::thread([this] { server_->listen_after_bind(); });
  while (!server_->is_running()) usleep(1000);
  return absl::OkStatus();
}

void HttpServer::Implementation::Stop() {
  if (!listener_.joinable()) return;
  is_stopping_ = true;
  server_->stop();
  listener_.join();
}

void HttpServer::Implementation::SetHandlers() {
  server_->new_task_queue = [this] {
    return new BoundedPool(options_.thread_count);
  };
  // As httplib's default, but two servers must not share a port.
  server_->set_socket_options([this](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    listening_socket_ = socket;
  });
  server_->set_tcp_nodelay(true);
  server_->set_keep_alive_max_count(1);
  server_->set_read_timeout(options_.idle_seconds);
  server_->set_write_timeout(options_.idle_seconds);
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
  // Requests that httplib itself refuses.
  server_->set_error_handler(httplib::Server::HandlerWithResponse(
      [](const httplib::Request&, httplib::Response& response) {
        if (!response.body.empty()) return HandlerResponse::Unhandled;
        Write(ErrorResponse(response.status, "refused",
                            "the request is no HTTP that this server takes"),
              &response);
        return HandlerResponse::Handled;
      }));
}

// Everything but bodies, which httplib reads afterwards.
HandlerResponse HttpServer::Implementation::Route(
    const httplib::Request& request, httplib::Response& response) {
  const bool has_body = request.has_header("Transfer-Encoding") ||
                        (request.has_header("Content-Length") &&
                         request.get_header_value("Content-Length") != "0");
  if (request.method == "POST" && request.path == kUploadPath && has_body) {
    return HandlerResponse::Unhandled;
  }
  if (request.method == "GET" && request.path == "/") {
    ShowPage(response);
  } else if (request.method == "GET" && IsEventsPath(request.path)) {
    Watch(request, response);
  } else {
    Write(api_->Answer(RequestOf(request)), &response);
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
    Write(ErrorResponse(411, "length_required", "Content-Length is no number"),
          &response);
    return;
  }
  const ApiRequest converted = RequestOf(request);
  auto begun = api_->BeginUpload(converted, announced_bytes);
  const auto deadline =
      Clock::now() + std::chrono::seconds(options_.upload_seconds);
  const auto is_late = [&] { return is_stopping_ || Clock::now() > deadline; };
  // Bytes that nobody reads reset the connection, and the answer with it: so
  // they are read also where they are not kept.
  if (const auto* refusal = std::get_if<ApiResponse>(&begun)) {
    Write(*refusal, &response);
    if (announced_bytes <= kMostDrainedBytes || IsForWantOfRoom(*refusal)) {
      content([&](const char*, size_t) { return !is_late(); });
    }
    return;
  }
  auto& upload = std::get<BundleUpload>(begun);
  absl::Status status;
  const bool is_whole = content([&](const char* data, size_t size) {
    if (is_late()) {
      status.Update(
          absl::UnavailableError("the upload took too long; try again"));
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

void HttpServer::Implementation::Watch(const httplib::Request& request,
                                       httplib::Response& response) {
  const auto begun = api_->BeginEvents(RequestOf(request));
  if (const auto* refusal = std::get_if<ApiResponse>(&begun)) {
    Write(*refusal, &response);
    return;
  }
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
