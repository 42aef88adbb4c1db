// Takes a JSON web token apart (RFC 7519, in the compact form of RFC 7515). It
// does not check the signature; public_keys.h does.
//
//   absl::StatusOr<JsonWebToken> token = ParseJsonWebToken(text);
//   absl::Status status = keys.Verify(*token);      // before anything is used
//   token->claims["repository"];                    // {"team/models"}
//
// A token is refused unless it has exactly three parts in base64url without
// padding, at most 16 KiB in all, a header and claims that are JSON objects
// without a name that occurs twice, an algorithm that is RS256 or ES256, and no
// "crit" header. Keys and addresses of keys in the header are ignored.
//
// Pure functions, thread-safe. Memory and time: linear in the text. Errors:
// InvalidArgument, with the reason.

#ifndef FOOTPRINT_GATES_SERVER_JSON_WEB_TOKEN_H_
#define FOOTPRINT_GATES_SERVER_JSON_WEB_TOKEN_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace footprint {

enum class TokenAlgorithm {
  kRs256,  // RSA with PKCS 1 version 1.5 padding, and SHA-256
  kEs256,  // ECDSA over the curve P-256, and SHA-256
};

struct JsonWebToken {
  TokenAlgorithm algorithm = TokenAlgorithm::kRs256;
  // The header's "kid"; nullopt if there is none.
  absl::optional<std::string> key_id;
  // The claims by name that are texts, whole numbers or booleans, as text, and
  // lists of texts. Others, such as objects, are left out.
  struct Claim {
    bool is_list = false;
    std::vector<std::string> texts;  // one, unless it is a list
  };
  std::map<std::string, Claim> claims;
  // Seconds since 1970; nullopt for claims that are not there.
  absl::optional<double> expiry;
  absl::optional<double> not_before;
  absl::optional<double> issued;
  std::string signed_text;
  std::string signature;

  // Returns the text of a claim; empty if there is none, or it is a list.
  std::string Text(const std::string& name) const;
};

// Returns whether a bearer's text has the form of such a token.
bool IsJsonWebToken(absl::string_view text);

absl::StatusOr<JsonWebToken> ParseJsonWebToken(absl::string_view text);

// Decodes base64url without padding. Returns InvalidArgument for any other
// text, also if unused bits are not zero.
absl::StatusOr<std::string> DecodeBase64Url(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SERVER_JSON_WEB_TOKEN_H_
