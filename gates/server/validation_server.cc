#include "footprint/gates/server/validation_server.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "footprint/base/files/file_error.h"
#include "footprint/gates/server/access_tokens.h"
#include "footprint/gates/server/audit_log.h"
#include "footprint/gates/server/verdict_webhook.h"

namespace footprint {
namespace {

// How long to try for the store's lock while another server ends. A try may
// itself wait for a lock of the database, so the tries are not counted.
constexpr absl::Duration kMostLockTime = absl::Seconds(5);
constexpr unsigned kLockMicroseconds = 100000;

// The handler writes a byte to this pipe for each signal, since a handler may
// do little else. The signals are not blocked and waited for, because the tried
// programs would inherit the mask.
int g_signal_pipe[2] = {-1, -1};

void NoteSignal(int) {
  const int saved_errno = errno;
  const char byte = 0;
  if (write(g_signal_pipe[1], &byte, 1) != 1) _exit(1);
  // A second signal ends the process at once, also while its store is opened.
  signal(SIGTERM, SIG_DFL);
  signal(SIGINT, SIG_DFL);
  errno = saved_errno;
}

absl::Status CatchSignals() {
  if (pipe2(g_signal_pipe, O_CLOEXEC) != 0) {
    return FileError(errno, "pipe", "cannot be made");
  }
  struct sigaction action = {};
  action.sa_handler = NoteSignal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  return absl::OkStatus();
}

void AwaitSignal() {
  // ThreadSanitizer lets a handler run while poll waits, but not while read
  // does.
  pollfd signalled = {g_signal_pipe[0], POLLIN, 0};
  while (poll(&signalled, 1, -1) < 0 && errno == EINTR) {
  }
}

absl::StatusOr<std::unique_ptr<TrialStore>> OpenStore(
    const ValidationServerOptions& options) {
  const absl::Time end = absl::Now() + kMostLockTime;
  while (true) {
    absl::StatusOr<std::unique_ptr<TrialStore>> store =
        TrialStore::Open(options.store_folder, options.store);
    if (!absl::IsUnavailable(store.status()) || absl::Now() >= end) {
      return store;
    }
    usleep(kLockMicroseconds);
  }
}

std::string MakePositionPath(const std::string& store_folder) {
  return store_folder + "/webhook_position";
}

WebhookOptions MakeWebhook(const ValidationServerOptions& options,
                           ValidationApi* api) {
  WebhookOptions webhook;
  webhook.url = options.webhook_url;
  webhook.key = options.webhook_key;
  webhook.position_path = MakePositionPath(options.store_folder);
  webhook.write_trial = [api](const std::string& key) {
    bool is_last = false;
    return api->StateEvent(key, &is_last);
  };
  webhook.report = options.report;
  return webhook;
}

}  // namespace

std::string MakeTokenPath(const std::string& store_folder) {
  return store_folder + "/tokens";
}

absl::Status ServeUntilSignalled(
    const ValidationServerOptions& options, const RunTrialFunction& run,
    const std::function<void(int port)>& is_ready) {
  const absl::Status catches = CatchSignals();
  if (!catches.ok()) return catches;
  const absl::StatusOr<std::unique_ptr<TrialStore>> store = OpenStore(options);
  if (!store.ok()) return store.status();
  AccessTokens tokens(MakeTokenPath(options.store_folder), options.oidc);
  TrialQueue queue(store->get(), run, options.queue);
  ApiOptions api_options = options.api;
  api_options.backups_folder = options.store_folder + "/backups";
  api_options.audit_log_path = MakeAuditLogPath(options.store_folder);
  const std::string position_path = MakePositionPath(options.store_folder);
  api_options.backed_up_files = {MakeTokenPath(options.store_folder),
                                 api_options.audit_log_path, position_path};
  ValidationApi api(store->get(), &queue, &tokens, api_options);
  // Starts the HTTP server before the webhook, since the server makes the
  // process ignore SIGPIPE.
  const absl::StatusOr<std::unique_ptr<HttpServer>> http =
      HttpServer::Start(&api, options.http);
  if (!http.ok()) return http.status();
  const WebhookOptions webhook_options = MakeWebhook(options, &api);
  VerdictWebhook webhook(store->get(), webhook_options);
  if (!options.webhook_url.empty()) {
    const absl::Status started = webhook.Start();
    if (!started.ok()) return started;
  } else {
    // A later webhook is not told of verdicts of a time without one.
    unlink(position_path.c_str());
  }
  queue.Start();
  is_ready((*http)->port());
  AwaitSignal();
  api.Stop();
  (*http)->Stop();
  queue.Stop();
  webhook.Stop();
  return absl::OkStatus();
}

}  // namespace footprint
