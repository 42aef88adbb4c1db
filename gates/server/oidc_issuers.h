// Takes tokens of OpenID Connect, as GitHub and GitLab give them to each job of
// CI, in place of the server's own tokens.
//
//   absl::StatusOr<std::unique_ptr<OidcIssuers>> issuers =
//       OidcIssuers::Read("oidc.textproto", report);
//   absl::StatusOr<AccessGrant> grant = (*issuers)->Check(token, now);
//
// A configuration (oidc.proto) lists issuers, their public keys as files, and
// identities, which are what the bearer of a token with certain claims may do.
// A token must have the issuer and the audience exactly, a signature by one of
// the issuer's keys (public_keys.h), a time of issue that is not later and an
// expiry that is not earlier than now, apart from the leeway, and the claims of
// an identity. Nothing is fetched from the network. A file of keys is read
// again after a change. If that fails, the issuer's tokens are refused until
// the file is right. A token can be used until it expires, any number of times.
//
// Thread-safe. Owns its copy of the files. Memory: that of the files. Time: a
// check takes about 0.1 ms.

#ifndef FOOTPRINT_GATES_SERVER_OIDC_ISSUERS_H_
#define FOOTPRINT_GATES_SERVER_OIDC_ISSUERS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/threads/mutex.h"
#include "footprint/gates/server/access_grant.h"
#include "footprint/gates/server/json_web_token.h"
#include "footprint/gates/server/public_keys.h"

namespace footprint {

class OidcIssuers {
 public:
  using Report = std::function<void(absl::string_view line)>;

  // Reads a configuration and its files of keys. `report` gets a line for the
  // operator when a file of keys that changed cannot be read; it may be empty.
  // Returns InvalidArgument, with the file and the place, for a configuration
  // or a file of keys that is not valid, and else the errors of ReadWholeFile.
  static absl::StatusOr<std::unique_ptr<OidcIssuers>> Read(
      const std::string& path, Report report);

  // Returns the rights of a token's bearer. Returns Unauthenticated, with the
  // reason, for a token that is not valid now, and Internal if the file of its
  // issuer's keys cannot be read.
  absl::StatusOr<AccessGrant> Check(absl::string_view text,
                                    int64_t now_unix_seconds)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns the rights of all identities, in the order of the configuration.
  const std::vector<AccessGrant>& grants() const { return grants_; }

 private:
  struct Claim {
    std::string name;
    std::string pattern;
  };
  struct Identity {
    std::vector<Claim> claims;
    AccessGrant grant;
  };
  struct Issuer {
    std::string url;
    std::string audience;
    std::string key_path;
    double leeway_seconds = 0;
    double read_after_expiry_seconds = 0;
    std::vector<Identity> identities;
  };
  struct KeyFile {
    std::string version;
    PublicKeys keys;
    std::string problem;  // that was reported
  };
  friend class OidcConfigurationReader;

  explicit OidcIssuers(Report report) : report_(std::move(report)) {}

  // Returns the present keys of the issuer of this number.
  absl::StatusOr<PublicKeys> FindKeys(size_t issuer)
      ABSL_LOCKS_EXCLUDED(mutex_);
  static absl::Status CheckAudience(const Issuer& issuer,
                                    const JsonWebToken& token);
  // Checks the times. Sets `may_only_read` if the token has expired.
  static absl::Status CheckTimes(const Issuer& issuer,
                                 const JsonWebToken& token, double now,
                                 bool* may_only_read);
  static absl::StatusOr<AccessGrant> FindGrant(const Issuer& issuer,
                                               const JsonWebToken& token);

  const Report report_;
  std::vector<Issuer> issuers_;
  std::vector<AccessGrant> grants_;
  Mutex mutex_;
  std::vector<KeyFile> key_files_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SERVER_OIDC_ISSUERS_H_
