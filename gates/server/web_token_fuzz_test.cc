// Reads any text as a web token and as a file of public keys. If the text is a
// token, its signature is checked with keys of both kinds.

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/gates/server/json_web_token.h"
#include "footprint/gates/server/public_keys.h"

namespace footprint {
namespace {

// The generator of P-256. Its private key is 1, but no input is signed by it.
constexpr char kSet[] =
    R"({"keys":[{"kty":"EC","crv":"P-256",
"x":"axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY",
"y":"T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU"}]})";

void ParseAnyToken(absl::string_view text) {
  static const auto* const known =
      new absl::StatusOr<PublicKeys>(PublicKeys::Parse(kSet));
  Require(known->ok(), "the set is read");
  const absl::StatusOr<PublicKeys> keys = PublicKeys::Parse(text);
  if (keys.ok()) {
    Require(keys->size() > 0, "a file that is read has a key");
  } else {
    RequireRefusal(keys.status());
  }
  const absl::StatusOr<JsonWebToken> token = ParseJsonWebToken(text);
  if (!token.ok()) return RequireRefusal(token.status());
  Require(IsJsonWebToken(text), "a token has the form of one");
  Require(!token->signature.empty(), "a token has a signature");
  for (const auto& [name, claim] : token->claims) {
    Require(claim.is_list || claim.texts.size() == 1, "a claim has its text");
  }
  Require(absl::IsUnauthenticated((*known)->Verify(*token)),
          "no input is signed by the key of the generator");
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ParseAnyToken)

}  // namespace footprint
