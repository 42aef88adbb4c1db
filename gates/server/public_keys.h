// Holds an issuer's public keys, and checks the signatures of its tokens.
//
//   absl::StatusOr<PublicKeys> keys = PublicKeys::Parse(file);
//   absl::Status status = keys->Verify(token);
//
// The text is a JSON Web Key Set (RFC 7517), as an issuer publishes it, or one
// or more PEM blocks "PUBLIC KEY". Keys that no RS256 or ES256 signature can
// need, such as those for encryption, are left out. A token's key id chooses
// the key of a set; a token without one is refused, unless the set has a key
// without one. Keys of PEM blocks have no ids: each of the right kind is tried.
// A key is for one algorithm alone, so a token cannot choose how it is used.
//
// libcrypto (OpenSSL's or BoringSSL's) checks the signatures. Thread-safe;
// copies share the keys. Memory: some KiB for each key. Time: a check takes
// about 0.1 ms.

#ifndef FOOTPRINT_GATES_SERVER_PUBLIC_KEYS_H_
#define FOOTPRINT_GATES_SERVER_PUBLIC_KEYS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "footprint/gates/server/json_web_token.h"
#include "openssl/evp.h"

namespace footprint {

class PublicKeys {
 public:
  // Returns InvalidArgument, with the reason, for any other text; if there is a
  // private or secret key among them, if an RSA key has fewer than 2048 bits or
  // more than 8192, if two keys have the same id, or if there is no key left.
  static absl::StatusOr<PublicKeys> Parse(absl::string_view text);

  // Returns Unauthenticated, with the reason, unless one of the keys has made
  // the token's signature.
  absl::Status Verify(const JsonWebToken& token) const;

  size_t size() const { return keys_.size(); }

 private:
  struct Key {
    absl::optional<std::string> id;
    TokenAlgorithm algorithm = TokenAlgorithm::kRs256;
    std::shared_ptr<EVP_PKEY> key;
  };
  friend class PublicKeyParser;

  std::vector<Key> keys_;
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SERVER_PUBLIC_KEYS_H_
