#include "footprint/gates/server/verdict_webhook.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/types/optional.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/gates/server/hmac_sha256.h"
#include "footprint/gates/server/submit_client.h"
#include "httplib.h"

namespace footprint {
namespace {

constexpr int kMostRefusals = 5;
// How often to look for new verdicts, and for the end.
constexpr absl::Duration kPollTime = absl::Milliseconds(200);
// How often to end a connection until its request has ended.
constexpr absl::Duration kEndTime = absl::Milliseconds(10);

// Returns the number of bytes of "http://HOST:PORT" in the URL.
size_t SizeOfAddress(absl::string_view url) {
  const size_t scheme = url.find("://");
  return scheme == absl::string_view::npos
             ? url.size()
             : std::min(url.find('/', scheme + 3), url.size());
}

bool IsGraphic(absl::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char each) { return each > ' ' && each < 0x7f; });
}

// Returns whether the HTTP client takes the address for what it says. It has
// no names of users, and no network interfaces ("%eth0").
bool IsPlain(absl::string_view address) {
  return address.find_first_of("?#@%") == absl::string_view::npos;
}

}  // namespace

absl::Status CheckWebhook(const std::string& url, absl::string_view key) {
  if ((!absl::StartsWith(url, "http://") &&
       !absl::StartsWith(url, "https://")) ||
      !IsGraphic(url) ||
      !IsPlain(absl::string_view(url).substr(0, SizeOfAddress(url)))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", url, "' is no address of a webhook; want http://HOST:PORT/PATH"));
  }
  const absl::Status has_key = CheckSigningKey(key);
  if (!has_key.ok()) return has_key;
  return CheckServerAddress(url.substr(0, SizeOfAddress(url)), kSubmitHasTls);
}

absl::Status VerdictWebhook::Start() {
  absl::Status status = CheckWebhook(options_.url, options_.key);
  if (status.ok()) status = ReadPosition();
  if (!status.ok()) return status;
  thread_ = std::thread([this] { Work(); });
  return absl::OkStatus();
}

void VerdictWebhook::Stop() {
  {
    MutexLock lock(&mutex_);
    is_stopping_ = true;
  }
  // The request may be about to connect, or to try another address.
  while (EndRequest()) absl::SleepFor(kEndTime);
  if (thread_.joinable()) thread_.join();
}

bool VerdictWebhook::EndRequest() {
  MutexLock lock(&mutex_);
  if (connection_.is_open()) shutdown(connection_.get(), SHUT_RDWR);
  return is_sending_;
}

// The file is a line "ORDER URL".
absl::Status VerdictWebhook::ReadPosition() {
  const absl::StatusOr<int64_t> last = store_->LastDecidedOrder();
  if (!last.ok()) return last.status();
  position_ = *last;
  const absl::StatusOr<std::string> text =
      ReadWholeFile(options_.position_path);
  if (absl::IsNotFound(text.status())) return KeepPosition();
  if (!text.ok()) return text.status();
  const std::vector<absl::string_view> parts =
      absl::StrSplit(absl::StripSuffix(*text, "\n"), ' ');
  int64_t kept = 0;
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &kept) || kept < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        options_.position_path,
        ": is no position of a webhook; remove it, and deliveries begin with "
        "the next verdict"));
  }
  if (parts[1] != options_.url) return KeepPosition();
  position_ = std::min(kept, *last);
  // A backup of the database that was restored may have fewer verdicts.
  return kept > *last ? KeepPosition() : absl::OkStatus();
}

absl::Status VerdictWebhook::KeepPosition() const {
  return ReplaceFile(options_.position_path,
                     absl::StrCat(position_, " ", options_.url, "\n"),
                     ToDisk::kFlush);
}

void VerdictWebhook::Work() {
  while (!IsStopping()) {
    const absl::StatusOr<absl::optional<StoredTrial>> next =
        store_->FindDecidedAfter(position_);
    if (!next.ok()) {
      Report(next.status().message());
      Pause(options_.most_pause);
      continue;
    }
    if (!next->has_value()) {
      Pause(kPollTime);
      continue;
    }
    if (!Deliver(**next)) continue;
    position_ = (*next)->decided_order;
    const absl::Status kept = KeepPosition();
    if (!kept.ok()) Report(kept.message());
  }
}

bool VerdictWebhook::Deliver(const StoredTrial& trial) {
  const absl::StatusOr<std::string> written = options_.write_trial(trial.key);
  if (!written.ok()) {
    // A trial that was removed meanwhile, or that is damaged, stays so.
    const bool is_lost = absl::IsNotFound(written.status()) ||
                         absl::IsDataLoss(written.status());
    Report(absl::StrCat("trial ", trial.key, " is not sent",
                        is_lost ? ": " : " yet: ", written.status().message()));
    if (!is_lost) Pause(options_.most_pause);
    return is_lost;
  }
  const std::string body =
      absl::StrCat("{\"event\":\"verdict\",\"trial\":", *written, "}\n");
  absl::Duration pause = options_.first_pause;
  int refusals = 0;
  while (true) {
    std::string reason;
    const Answer answer = Send(body, &reason);
    if (answer == Answer::kTaken) return true;
    if (IsStopping()) return false;
    if (answer == Answer::kRefused && ++refusals == kMostRefusals) {
      Report(absl::StrCat(reason, "; trial ", trial.key, " is given up"));
      return true;
    }
    Report(absl::StrCat(reason, "; trial ", trial.key, " is sent again in ",
                        absl::FormatDuration(pause)));
    if (!Pause(pause)) return false;
    pause = std::min(2 * pause, options_.most_pause);
  }
}

VerdictWebhook::Answer VerdictWebhook::Send(const std::string& body,
                                            std::string* reason) {
  const size_t address_size = SizeOfAddress(options_.url);
  httplib::Client client(options_.url.substr(0, address_size));
  const auto time_limit = absl::ToChronoMilliseconds(options_.time_limit);
  client.set_connection_timeout(time_limit);
  client.set_read_timeout(time_limit);
  client.set_write_timeout(time_limit);
  client.set_socket_options([this](int socket) {
    MutexLock lock(&mutex_);
    connection_ = FileDescriptor(fcntl(socket, F_DUPFD_CLOEXEC, 0));
  });
  httplib::Request request;
  request.method = "POST";
  request.path = options_.url.substr(address_size);
  if (request.path.empty()) request.path = "/";
  request.headers = {
      {"Content-Type", "application/json"},
      {"X-Footprint-Signature", "sha256=" + HmacSha256Hex(options_.key, body)}};
  request.body = body;
  int status = 0;
  // Nothing is read after the header, so no answer is too long.
  request.response_handler = [&](const httplib::Response& response) {
    status = response.status;
    return false;
  };
  {
    MutexLock lock(&mutex_);
    if (is_stopping_) return Answer::kNone;
    is_sending_ = true;
  }
  const httplib::Result result = client.send(request);
  {
    MutexLock lock(&mutex_);
    is_sending_ = false;
    connection_ = FileDescriptor();
  }
  // The handler is not called for 204, which has no content.
  if (status == 0 && result) status = result->status;
  if (status == 0) {
    *reason = absl::StrCat("no answer: ", httplib::to_string(result.error()));
    return Answer::kNone;
  }
  *reason = absl::StrCat("answer ", status);
  if (status >= 200 && status < 300) return Answer::kTaken;
  return status == 408 || status == 429 || status >= 500 ? Answer::kNone
                                                         : Answer::kRefused;
}

bool VerdictWebhook::Pause(absl::Duration duration) {
  while (duration > absl::ZeroDuration() && !IsStopping()) {
    const absl::Duration step = std::min(duration, kPollTime);
    absl::SleepFor(step);
    duration -= step;
  }
  return !IsStopping();
}

bool VerdictWebhook::IsStopping() const {
  MutexLock lock(&mutex_);
  return is_stopping_;
}

void VerdictWebhook::Report(absl::string_view line) const {
  if (options_.report) {
    options_.report(absl::StrCat("webhook ", options_.url, ": ", line));
  }
}

}  // namespace footprint
