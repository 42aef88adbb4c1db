// Keeps the access tokens of the validation server, each with its rights. The
// file has only their hashes.
//
//   absl::StatusOr<std::string> token =
//       AddAccessToken(path, {"ci", kSubmitScope | kReadScope, expiry});
//   ...                                     // shown once, never kept
//   AccessTokens tokens(path);
//   absl::StatusOr<AccessGrant> grant = tokens.Check(token, now);
//
// The file has one line for each token, with its fields separated by tabs:
// name, SHA-256, scopes, the time of expiry in Unix seconds (0: never), the
// text of its limits (ParseLimits), and the patterns of the labels that it
// owns, separated by commas (label_pattern.h). A token without labels has no
// last field. If it has no limits either, its line ends after the expiry. Blank
// lines and lines that begin with "#" are skipped, and stay when tokens change.
// A token has 256 random bits, so its hash cannot be inverted by a search. A
// check compares all hashes, each in constant time, so its duration reveals
// nothing.
//
// A label that matches a pattern belongs to the tokens with such a pattern,
// even if they have expired; any other label belongs to nobody, and everyone
// may submit bundles for it. A token that is removed owns nothing any more.
//
// A server reads the file again after a change, so tokens can be added and
// removed while it runs. It may also take tokens of OpenID Connect, whose
// identities have limits and labels as tokens have (oidc_issuers.h).
//
// AccessTokens is thread-safe and owns its copy of the file. The functions may
// run at the same time in several threads and processes. Memory: about 200
// bytes for each token.

#ifndef FOOTPRINT_GATES_SERVER_ACCESS_TOKENS_H_
#define FOOTPRINT_GATES_SERVER_ACCESS_TOKENS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/threads/mutex.h"
#include "footprint/gates/server/access_grant.h"
#include "footprint/gates/server/oidc_issuers.h"

namespace footprint {

struct KeptToken {
  AccessGrant grant;
  std::string sha256;
};

// Parses the text of a token file. Returns InvalidArgument, with the line, if
// it is malformed. TokenFileText returns the text of a file.
absl::StatusOr<std::vector<KeptToken>> ParseTokenFile(absl::string_view text);
std::string TokenFileText(const std::vector<KeptToken>& tokens);

// Returns the tokens in the file; none if it is missing. Returns
// InvalidArgument, with the line, if the file is malformed, and else the errors
// of ReadWholeFile.
absl::StatusOr<std::vector<KeptToken>> ReadTokenFile(const std::string& path);

// Adds a token to the file and returns its text. Returns AlreadyExists if the
// name is taken, InvalidArgument if the name, the expiry or a pattern of a
// label is not valid or there is no scope, the errors of ReadTokenFile, and
// those of FileError if the file or its lock cannot be written.
absl::StatusOr<std::string> AddAccessToken(const std::string& path,
                                           const AccessGrant& grant);
// Changes a token's rights in place: it keeps its text, its name and its line.
// `change` gets the present rights, and is not called if there is no such
// token. Returns the new rights, NotFound if there is no token of this name,
// the error of `change`, and else as AddAccessToken does; after an error the
// file is as it was.
absl::StatusOr<AccessGrant> ChangeAccessToken(
    const std::string& path, const std::string& name,
    const std::function<absl::Status(AccessGrant* grant)>& change);
// Removes a token from the file. Returns NotFound if there is none of this
// name; else as AddAccessToken does.
absl::Status RemoveAccessToken(const std::string& path,
                               const std::string& name);

class AccessTokens {
 public:
  // `oidc` must outlive it; null: tokens of OpenID Connect are unknown.
  explicit AccessTokens(std::string path, OidcIssuers* oidc = nullptr)
      : path_(std::move(path)), oidc_(oidc) {}

  // Returns the rights of a token. Returns Unauthenticated if it is unknown or
  // has expired, ReadTokenFile's error if the file cannot be read, and else the
  // errors of OidcIssuers::Check.
  absl::StatusOr<AccessGrant> Check(absl::string_view token,
                                    int64_t now_unix_seconds)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns whether any label has an owner, or ReadTokenFile's error.
  absl::StatusOr<bool> HasOwners() ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the weight of the processors that the token of this name has now:
  // its own, or 100 if it has none or is gone. If no token has one, returns 0,
  // so that trials need no groups of processors.
  absl::StatusOr<int64_t> FindCpuWeight(absl::string_view name)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns OK if the token of this name may submit bundles for a label: it
  // owns the label, or nobody does. Returns PermissionDenied, with the owners
  // and the next step, if others own it, and ReadTokenFile's error.
  absl::Status CheckOwner(absl::string_view name, absl::string_view label)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  absl::Status ReadIfChanged() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Calls the function for the rights of all tokens and identities.
  absl::Status ForEachGrant(
      const std::function<void(const AccessGrant& grant)>& call)
      ABSL_LOCKS_EXCLUDED(mutex_);

  const std::string path_;
  OidcIssuers* const oidc_;
  Mutex mutex_;
  std::string version_ ABSL_GUARDED_BY(mutex_);
  std::vector<KeptToken> tokens_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SERVER_ACCESS_TOKENS_H_
