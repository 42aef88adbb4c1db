// Access tokens of the validation server, each with its rights; the server
// keeps only their hashes.
//
//   absl::StatusOr<std::string> token =
//       AddAccessToken(path, {"ci", kSubmitScope | kReadScope, expiry});
//   ...                                     // shown once, never kept
//   AccessTokens tokens(path);
//   absl::StatusOr<AccessGrant> grant = tokens.Check(token, now);
//
// The file has a line a token, its fields separated by tabs: name, SHA-256,
// scopes, the second of expiry in Unix time (0: never). A token is 256 random
// bits, so a plain hash of it cannot be searched for. All hashes are compared,
// each in constant time: how long a refusal takes tells nothing.
//
// A server reads the file again when it changed, so tokens are added and
// removed while it runs.
//
// AccessTokens is thread-safe and owns its copy of the file; the others are
// safe against each other in other processes, too. Memory: some 200 bytes a
// token.

#ifndef FOOTPRINT_GATES_SERVER_ACCESS_TOKENS_H_
#define FOOTPRINT_GATES_SERVER_ACCESS_TOKENS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/threads/mutex.h"

namespace footprint {

// A token may submit bundles, read verdicts, or make backups, by its scopes.
constexpr unsigned kSubmitScope = 1;
constexpr unsigned kReadScope = 2;
constexpr unsigned kAdminScope = 4;

struct AccessGrant {
  // Letters, digits, '-', '_' and '.' only: it stands in histories.
  std::string name;
  unsigned scopes = 0;
  int64_t expiry_unix_seconds = 0;  // 0: never
};

struct KeptToken {
  AccessGrant grant;
  std::string sha256;
};

// "submit,read,admin" in any order; InvalidArgument names the scopes there are.
absl::StatusOr<unsigned> ParseScopes(absl::string_view text);
std::string ScopesText(unsigned scopes);

// The text of a token file. InvalidArgument names the line.
absl::StatusOr<std::vector<KeptToken>> ParseTokenFile(absl::string_view text);
std::string TokenFileText(const std::vector<KeptToken>& tokens);

// Returns the tokens in the file; none if it is missing.
absl::StatusOr<std::vector<KeptToken>> ReadTokenFile(const std::string& path);

// The new token. AlreadyExists: the name is taken. InvalidArgument: no name.
absl::StatusOr<std::string> AddAccessToken(const std::string& path,
                                           const AccessGrant& grant);
// NotFound.
absl::Status RemoveAccessToken(const std::string& path,
                               const std::string& name);

class AccessTokens {
 public:
  explicit AccessTokens(std::string path) : path_(std::move(path)) {}

  // Unauthenticated: no such token, or it expired. Else ReadTokenFile's.
  absl::StatusOr<AccessGrant> Check(absl::string_view token,
                                    int64_t now_unix_seconds)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  absl::Status ReadIfChanged() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string path_;
  Mutex mutex_;
  std::string version_ ABSL_GUARDED_BY(mutex_);
  std::vector<KeptToken> tokens_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SERVER_ACCESS_TOKENS_H_
