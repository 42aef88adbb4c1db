#include "footprint/gates/server/submit_client.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "footprint/base/files/hashed_file.h"
#include "footprint/base/files/read_write.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/text/format_bytes.h"
#include "httplib.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr size_t kPieceBytes = size_t{1} << 18;
constexpr int kTimeoutSeconds = 30;
constexpr int kMostRetrySeconds = 10;
constexpr unsigned kPollMicroseconds = 300000;

std::string Encoded(absl::string_view text) {
  std::string encoded;
  for (const char each : text) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(each))) {
      encoded.push_back(each);
    } else {
      absl::StrAppend(
          &encoded, "%",
          absl::Hex(static_cast<unsigned char>(each), absl::kZeroPad2));
    }
  }
  return encoded;
}

std::string TextIn(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>()
                                                     : std::string();
}

absl::Status NoServer(const std::string& server) {
  return absl::InvalidArgumentError(
      absl::StrCat("'", server, "' is not a server; want http://HOST:PORT"));
}

// One submission.
class Submitter {
 public:
  explicit Submitter(const SubmitOptions& options)
      : options_(options),
        deadline_(Clock::now() + std::chrono::seconds(options.wait_seconds)),
        client_(options.server) {
    UseToken(options.token);
    client_.set_connection_timeout(kTimeoutSeconds);
    client_.set_read_timeout(kTimeoutSeconds);
    client_.set_write_timeout(kTimeoutSeconds);
  }

  absl::StatusOr<SubmittedVerdict> Run(const std::string& path);
  absl::StatusOr<int64_t> AskMostBundleBytes();

 private:
  struct Answer {
    int status = 0;
    std::string body;
    json parsed;
  };

  void UseToken(const std::string& token);
  // Takes the token of now. Returns whether it is another one.
  absl::StatusOr<bool> RenewToken();
  absl::StatusOr<Answer> Ask(const std::function<httplib::Result()>& send);
  absl::StatusOr<Answer> Send(const HashedFile& bundle);
  absl::Status CheckSize(const std::string& path);
  absl::Status Submit(const HashedFile& bundle);
  absl::Status Await();
  void Follow();
  void Note(const json& trial);
  absl::Status ToStatus(const Answer& answer) const;
  void Report(const char* work, int64_t done_bytes, int64_t all_bytes) const {
    if (options_.report_bytes) {
      options_.report_bytes(work, done_bytes, all_bytes);
    }
  }
  bool IsOver() const { return Clock::now() >= deadline_; }

  const SubmitOptions& options_;
  const Clock::time_point deadline_;
  httplib::Client client_;
  std::string token_;
  json trial_;
  std::string last_step_;
  bool is_from_store_ = false;
};

absl::Status Submitter::ToStatus(const Answer& answer) const {
  std::string message;
  if (answer.parsed.is_object() && answer.parsed.contains("error")) {
    message = TextIn(answer.parsed["error"], "message");
  }
  const std::string text =
      absl::StrCat(options_.server, " answered ", answer.status,
                   message.empty() ? "" : ": ", message);
  switch (answer.status) {
    case 401:
      return absl::PermissionDeniedError(
          absl::StrCat(text,
                       "; give the token by FOOTPRINT_TOKEN, --token_file or "
                       "--token_command"));
    case 403:
      return absl::PermissionDeniedError(text);
    case 404:
      return absl::NotFoundError(text);
    case 429:
    case 500:
    case 502:
    case 503:
    case 504:
    case 507:
      return absl::UnavailableError(text);
    default:
      return absl::InvalidArgumentError(text);
  }
}

void Submitter::UseToken(const std::string& token) {
  token_ = token;
  client_.set_default_headers({{"Authorization", "Bearer " + token}});
}

absl::StatusOr<bool> Submitter::RenewToken() {
  if (!options_.renew_token) return false;
  const absl::StatusOr<std::string> token = options_.renew_token();
  if (!token.ok()) return token.status();
  if (*token == token_) return false;
  UseToken(*token);
  return true;
}

// Repeats a request until there is an answer that another try would not change.
absl::StatusOr<Submitter::Answer> Submitter::Ask(
    const std::function<httplib::Result()>& send) {
  bool is_renewed = false;
  for (int attempt = 0;; ++attempt) {
    const httplib::Result result = send();
    Answer answer;
    int64_t wait_seconds = 1;
    if (result) {
      answer.status = result->status;
      answer.body = result->body;
      answer.parsed = json::parse(answer.body, nullptr, false);
      if (answer.status == 401 && !is_renewed) {
        const absl::StatusOr<bool> renewed = RenewToken();
        if (!renewed.ok()) return renewed.status();
        is_renewed = *renewed;
        if (is_renewed) continue;
      }
      if (absl::SimpleAtoi(result->get_header_value("Retry-After"),
                           &wait_seconds)) {
        wait_seconds = std::clamp<int64_t>(wait_seconds, 1, kMostRetrySeconds);
      }
      const bool is_busy = answer.status == 429 || answer.status == 502 ||
                           answer.status == 503 || answer.status == 504;
      if (!is_busy) return answer;
      if (IsOver()) return ToStatus(answer);
      if (options_.report_step) options_.report_step("the server is busy");
    } else if (attempt == 0 && trial_.is_null() &&
               result.error() == httplib::Error::Connection) {
      return absl::UnavailableError(absl::StrCat(
          "no server answers at ", options_.server,
          "; start one by `serve` (`bazel run //gates:serve`), or name another "
          "by --server or FOOTPRINT_SERVER"));
    } else if (IsOver()) {
      return absl::UnavailableError(absl::StrCat(
          options_.server, ": ", httplib::to_string(result.error()),
          "; try again later"));
    }
    sleep(static_cast<unsigned>(wait_seconds));
  }
}

absl::StatusOr<Submitter::Answer> Submitter::Send(const HashedFile& bundle) {
  const std::string path = absl::StrCat(
      "/v1/trials?sha256=", bundle.sha256, options_.is_again ? "&again=1" : "",
      options_.deployment.empty() ? "" : "&deployment=",
      Encoded(options_.deployment));
  absl::StatusOr<Answer> known = Ask([&] {
    return client_.Post(path.c_str(), "", "application/octet-stream");
  });
  if (!known.ok() || known->status != 404) return known;
  if (options_.report_step) options_.report_step("sending");
  std::string piece(kPieceBytes, '\0');
  return Ask([&] {
    return client_.Post(
        path.c_str(), static_cast<size_t>(bundle.size_bytes),
        [&](size_t offset, size_t length, httplib::DataSink& sink) {
          Report("sending", static_cast<int64_t>(offset), bundle.size_bytes);
          const int64_t size =
              ReadAt(bundle.file.get(), static_cast<int64_t>(offset),
                     static_cast<int64_t>(std::min(length, piece.size())),
                     piece.data());
          return size > 0 &&
                 sink.write(piece.data(), static_cast<size_t>(size));
        },
        "application/octet-stream");
  });
}

absl::Status Submitter::Submit(const HashedFile& bundle) {
  const absl::StatusOr<Answer> answer = Send(bundle);
  if (!answer.ok()) return answer.status();
  if (answer->status != 200 && answer->status != 202) return ToStatus(*answer);
  if (!answer->parsed.is_object() || !answer->parsed.contains("trial") ||
      TextIn(answer->parsed["trial"], "id").size() != kSha256HexDigits) {
    return absl::UnavailableError(absl::StrCat(
        options_.server, " is not a validation server of version 1"));
  }
  Note(answer->parsed["trial"]);
  is_from_store_ = answer->status == 200;
  return absl::OkStatus();
}

void Submitter::Note(const json& trial) {
  trial_ = trial;
  const std::string stage = TextIn(trial, "stage");
  const std::string step =
      stage.empty() ? TextIn(trial, "state")
                    : absl::StrCat(TextIn(trial, "state"), ": ", stage);
  if (step == last_step_) return;
  last_step_ = step;
  if (options_.report_step) options_.report_step(step);
}

// Reads the trial's events for as long as the server sends them.
void Submitter::Follow() {
  std::string rest;
  const auto take = [&](const char* data, size_t size) {
    rest.append(data, size);
    size_t end = 0;
    while ((end = rest.find('\n')) != std::string::npos) {
      const std::string line = rest.substr(0, end);
      rest.erase(0, end + 1);
      if (!absl::StartsWith(line, "data: ")) continue;
      const json trial = json::parse(line.substr(6), nullptr, false);
      if (trial.is_object()) Note(trial);
    }
    return !IsOver() && rest.size() < kPieceBytes;
  };
  client_.Get(
      absl::StrCat("/v1/trials/", TextIn(trial_, "id"), "/events").c_str(),
      take);
}

absl::Status Submitter::Await() {
  Follow();
  const std::string path = absl::StrCat("/v1/trials/", TextIn(trial_, "id"));
  while (true) {
    const absl::StatusOr<Answer> answer =
        Ask([&] { return client_.Get(path.c_str()); });
    if (!answer.ok()) return answer.status();
    if (answer->status != 200 || !answer->parsed.is_object()) {
      return ToStatus(*answer);
    }
    Note(answer->parsed["trial"]);
    if (TextIn(trial_, "state") == "decided") return absl::OkStatus();
    if (IsOver()) {
      return absl::DeadlineExceededError(absl::StrCat(
          "no verdict in ", options_.wait_seconds,
          " s; submit the same bundle again to wait on, or give --wait"));
    }
    usleep(kPollMicroseconds);
  }
}

absl::StatusOr<int64_t> Submitter::AskMostBundleBytes() {
  if (!client_.is_valid()) return NoServer(options_.server);
  if (options_.most_bundle_bytes > 0) return options_.most_bundle_bytes;
  const absl::StatusOr<Answer> answer =
      Ask([&] { return client_.Get("/v1/health"); });
  if (!answer.ok()) return answer.status();
  if (answer->parsed.is_object()) {
    const auto most = answer->parsed.find("most_bundle_bytes");
    if (most != answer->parsed.end() && most->is_number_integer()) {
      return most->get<int64_t>();
    }
  }
  return std::numeric_limits<int64_t>::max();
}

absl::Status Submitter::CheckSize(const std::string& path) {
  const absl::StatusOr<int64_t> most_bytes = AskMostBundleBytes();
  if (!most_bytes.ok()) return most_bytes.status();
  struct stat about = {};
  // A file that is not there is reported when it is opened.
  if (stat(path.c_str(), &about) != 0 || about.st_size <= *most_bytes) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      path, ": has ", FormatBytes(about.st_size), ", and ", options_.server,
      " takes bundles of ", FormatBytes(*most_bytes),
      " at most; leave out what the program does not read, or ask its operator "
      "for a larger --most_bundle"));
}

absl::StatusOr<SubmittedVerdict> Submitter::Run(const std::string& path) {
  absl::Status status = CheckSize(path);
  if (!status.ok()) return status;
  struct stat about = {};
  stat(path.c_str(), &about);
  const absl::StatusOr<HashedFile> bundle =
      OpenHashedFile(path, [&](int64_t bytes) {
        Report("hashing", std::min<int64_t>(bytes, about.st_size),
               about.st_size);
      });
  if (!bundle.ok()) return bundle.status();
  status = Submit(*bundle);
  if (status.ok()) status = Await();
  if (!status.ok()) return status;
  SubmittedVerdict verdict;
  verdict.trial_id = TextIn(trial_, "id");
  const std::string report_path = absl::StrCat(
      "/v1/trials/", verdict.trial_id,
      "/verdict?format=", Encoded(options_.format), "&width=", options_.width,
      options_.has_every_rule ? "&all=1" : "",
      options_.has_colour ? "&colour=1" : "");
  const absl::StatusOr<Answer> report =
      Ask([&] { return client_.Get(report_path.c_str()); });
  if (!report.ok()) return report.status();
  if (report->status != 200) return ToStatus(*report);
  verdict.report = report->body;
  verdict.summary = TextIn(trial_, "summary");
  verdict.mode = TextIn(trial_, "mode");
  const auto exit_status = trial_.find("exit_status");
  if (exit_status == trial_.end() || !exit_status->is_number_integer()) {
    return absl::UnavailableError("the server's answer has no exit status");
  }
  verdict.exit_status = verdict.mode == "enforce" ? exit_status->get<int>() : 0;
  verdict.is_from_store = is_from_store_;
  verdict.can_run_again = trial_.value("can_run_again", json()) == true;
  return verdict;
}

}  // namespace

#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
const bool kSubmitHasTls = true;
#else
const bool kSubmitHasTls = false;
#endif

absl::Status CheckServerAddress(const std::string& server, bool has_tls) {
  absl::string_view host = server;
  const bool is_tls = absl::ConsumePrefix(&host, "https://");
  // The default scheme is http.
  if (!is_tls) absl::ConsumePrefix(&host, "http://");
  if (host.empty() || absl::StrContains(host, "/")) return NoServer(server);
  // The port's colon comes after the brackets of an IPv6 address.
  const size_t bracket = host.rfind(']');
  const size_t colon =
      host.find(':', bracket == absl::string_view::npos ? 0 : bracket);
  uint32_t port = 0;
  if (colon != absl::string_view::npos &&
      (!absl::SimpleAtoi(host.substr(colon + 1), &port) || port > 65535)) {
    return NoServer(server);
  }
  if (!is_tls || has_tls) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      server,
      ": this build has no TLS, since its cpp-httplib was built without it: "
      "use http:// if the network to the server is trusted, or a submit "
      "that is built with TLS"));
}

absl::StatusOr<int64_t> AskMostBundleBytes(const SubmitOptions& options) {
  const absl::Status address =
      CheckServerAddress(options.server, kSubmitHasTls);
  if (!address.ok()) return address;
  return Submitter(options).AskMostBundleBytes();
}

absl::StatusOr<SubmittedVerdict> SubmitBundle(const std::string& bundle_path,
                                              const SubmitOptions& options) {
  // httplib ends the process if it does not accept the address.
  const absl::Status address =
      CheckServerAddress(options.server, kSubmitHasTls);
  if (!address.ok()) return address;
  return Submitter(options).Run(bundle_path);
}

}  // namespace footprint
