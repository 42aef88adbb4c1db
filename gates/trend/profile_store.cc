#include "footprint/gates/trend/profile_store.h"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/server/submit_client.h"
#include "httplib.h"

namespace footprint {
namespace {

namespace fs = std::filesystem;

constexpr int kTimeoutSeconds = 10;
// The most for one answer. A server that is no store may send anything.
constexpr size_t kMostAnswerBytes = size_t{64} << 20;
constexpr std::chrono::seconds kMostAnswerTime(60);
constexpr int kAttempts = 2;

class FolderStore : public ProfileStore {
 public:
  explicit FolderStore(std::string folder) : folder_(std::move(folder)) {}

  absl::StatusOr<std::string> Get(const std::string& name) override {
    return ReadWholeFile(absl::StrCat(folder_, "/", name));
  }

  absl::Status Put(const std::string& name, absl::string_view bytes) override {
    const fs::path path = absl::StrCat(folder_, "/", name);
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) {
      return absl::PermissionDeniedError(absl::StrCat(
          EscapeForTerminal(path.parent_path().string()),
          ": cannot be made: ", error.message(), "; choose another --store="));
    }
    return ReplaceFile(path.string(), bytes, ToDisk::kFlush);
  }

 private:
  const std::string folder_;
};

class HttpStore : public ProfileStore {
 public:
  HttpStore(const std::string& server, std::string path,
            const std::string& token)
      : server_(server), path_(std::move(path)), client_(server) {
    client_.set_connection_timeout(kTimeoutSeconds);
    client_.set_read_timeout(kTimeoutSeconds);
    client_.set_write_timeout(kTimeoutSeconds);
    if (!token.empty()) {
      client_.set_default_headers({{"Authorization", "Bearer " + token}});
    }
  }

  absl::StatusOr<std::string> Get(const std::string& name) override {
    const std::string path = absl::StrCat(path_, "/", name);
    std::string body;
    const absl::Status status = Ask(name, [&] { return GetInto(path, &body); });
    if (body.size() > kMostAnswerBytes) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the store ", server_, " sends more than ", kMostAnswerBytes,
          " bytes for ", path, "; is the path of --store= right?"));
    }
    if (!status.ok()) return status;
    return body;
  }

  absl::Status Put(const std::string& name, absl::string_view bytes) override {
    const std::string path = absl::StrCat(path_, "/", name);
    const std::string body(bytes);
    return Ask(name, [&] {
      return client_.Put(path.c_str(), body, "application/octet-stream");
    });
  }

 private:
  // Ends the request once the answer is too long or takes too much time.
  httplib::Result GetInto(const std::string& path, std::string* body) {
    body->clear();
    const auto end = std::chrono::steady_clock::now() + kMostAnswerTime;
    return client_.Get(path.c_str(), [&](const char* bytes, size_t size) {
      body->append(bytes, size);
      return body->size() <= kMostAnswerBytes &&
             std::chrono::steady_clock::now() < end;
    });
  }

  absl::Status Ask(const std::string& name,
                   const std::function<httplib::Result()>& send) {
    absl::Status status;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const httplib::Result result = send();
      if (!result) {
        status = absl::UnavailableError(
            absl::StrCat("the store ", server_, " does not answer (",
                         httplib::to_string(result.error()),
                         "); start it, or name another by --store="));
        continue;
      }
      status = ToStatus(result->status, name);
      if (!absl::IsUnavailable(status)) return status;
    }
    return status;
  }

  absl::Status ToStatus(int answer, const std::string& name) const {
    const std::string said = absl::StrCat("the store ", server_, " answered ",
                                          answer, " for ", path_, "/", name);
    switch (answer) {
      case 200:
      case 201:
      case 204:
        return absl::OkStatus();
      case 401:
      case 403:
        return absl::PermissionDeniedError(
            absl::StrCat(said, "; give its token by FOOTPRINT_HISTORY_TOKEN"));
      case 404:
      case 410:
        return absl::NotFoundError(said);
      case 413:
      case 507:
        return absl::ResourceExhaustedError(
            absl::StrCat(said, ": it is full; make room there"));
      default:
        break;
    }
    // 408: the server waited too long for the request.
    return answer == 408 || answer == 429 || answer >= 500
               ? absl::UnavailableError(absl::StrCat(said, "; try again later"))
               : absl::InvalidArgumentError(
                     absl::StrCat(said, "; is the path of --store= right?"));
  }

  const std::string server_;
  const std::string path_;
  httplib::Client client_;
};

#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
constexpr bool kHasTls = true;
#else
constexpr bool kHasTls = false;
#endif

}  // namespace

absl::StatusOr<std::unique_ptr<ProfileStore>> OpenProfileStore(
    const std::string& address, const std::string& token) {
  if (address.empty()) {
    return absl::InvalidArgumentError(
        "name the store: --store=FOLDER or --store=http://HOST:PORT/PATH");
  }
  const size_t scheme_end = address.find("://");
  if (scheme_end == std::string::npos) {
    return std::make_unique<FolderStore>(address);
  }
  const size_t path_begin = address.find('/', scheme_end + 3);
  const std::string server = address.substr(0, path_begin);
  if (!absl::StartsWith(server, "http://") &&
      !absl::StartsWith(server, "https://")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", EscapeForTerminal(address),
        "' is not a store; name a folder, or http://HOST:PORT/PATH"));
  }
  const absl::Status status = CheckServerAddress(server, kHasTls);
  if (!status.ok()) return status;
  std::string path =
      path_begin == std::string::npos ? "" : address.substr(path_begin);
  while (absl::EndsWith(path, "/")) path.pop_back();
  return std::make_unique<HttpStore>(server, std::move(path), token);
}

}  // namespace footprint
