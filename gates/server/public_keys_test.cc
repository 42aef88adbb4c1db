#include "footprint/gates/server/public_keys.h"

#include <fstream>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/server/json_web_token.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

constexpr char kFolder[] = "gates/server/testdata/oidc/";

// Returns a token that make_tokens.py has written.
JsonWebToken Golden(const std::string& name) {
  std::ifstream lines(absl::StrCat(kFolder, "tokens.txt"));
  for (std::string each, text; lines >> each >> text;) {
    if (each != name) continue;
    const absl::StatusOr<JsonWebToken> token = ParseJsonWebToken(text);
    EXPECT_THAT(token, IsOk()) << name;
    return *token;
  }
  ADD_FAILURE() << "no token " << name;
  return {};
}

PublicKeys ReadKeys(const std::string& file) {
  const absl::StatusOr<PublicKeys> keys =
      PublicKeys::Parse(ReadTestFile(kFolder + file));
  EXPECT_THAT(keys, IsOk()) << file;
  return *keys;
}

// The key and the token of RFC 7515, appendix A.3.
TEST(PublicKeysTest, TheExampleOfTheRfcIsSigned) {
  const absl::StatusOr<PublicKeys> keys = PublicKeys::Parse(
      R"({"keys":[{"kty":"EC","crv":"P-256",
          "x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
          "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]})");
  ASSERT_THAT(keys, IsOk());
  absl::StatusOr<JsonWebToken> token = ParseJsonWebToken(
      "eyJhbGciOiJFUzI1NiJ9."
      "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFt"
      "cGxlLmNvbS9pc19yb290Ijp0cnVlfQ."
      "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSA"
      "pmWQxfKTUJqPP3-Kg6NU1Q");
  ASSERT_THAT(token, IsOk());
  EXPECT_THAT(keys->Verify(*token), IsOk());
  // No changed bit of the signature is accepted.
  for (size_t i = 0; i < token->signature.size(); ++i) {
    JsonWebToken changed = *token;
    changed.signature[i] = static_cast<char>(changed.signature[i] ^ 1);
    EXPECT_THAT(keys->Verify(changed),
                StatusIs(absl::StatusCode::kUnauthenticated))
        << i;
  }
}

TEST(PublicKeysTest, ASetsKeyIsChosenByItsId) {
  const PublicKeys github = ReadKeys("github.jwks");
  EXPECT_EQ(github.size(), 2u) << "those of other kinds are left out";
  EXPECT_THAT(github.Verify(Golden("github")), IsOk());
  EXPECT_THAT(github.Verify(Golden("github_with_jwk")), IsOk());
  for (const char* name : {"other_key", "key_in_header", "changed_claims"}) {
    EXPECT_THAT(github.Verify(Golden(name)),
                StatusIs(absl::StatusCode::kUnauthenticated,
                         HasSubstr("not that of its issuer's key")))
        << name;
  }
  for (const char* name : {"unknown_kid", "kid_is_a_path", "github_without_kid",
                           "key_for_encryption", "gitlab"}) {
    EXPECT_THAT(
        github.Verify(Golden(name)),
        StatusIs(absl::StatusCode::kUnauthenticated, HasSubstr("has no key '")))
        << name;
  }
  const PublicKeys gitlab = ReadKeys("gitlab.jwks");
  EXPECT_THAT(gitlab.Verify(Golden("gitlab")), IsOk());
  for (const char* name :
       {"gitlab_without_kid", "es256_as_der", "es256_of_zeros",
        "es256_as_rs256", "other_key_of_gitlab", "github"}) {
    EXPECT_THAT(gitlab.Verify(Golden(name)),
                StatusIs(absl::StatusCode::kUnauthenticated))
        << name;
  }
}

TEST(PublicKeysTest, KeysOfPemBlocksHaveNoIds) {
  const PublicKeys keys = ReadKeys("both.pem");
  EXPECT_EQ(keys.size(), 2u);
  for (const char* name : {"github", "github_without_kid", "unknown_kid",
                           "gitlab", "gitlab_without_kid"}) {
    EXPECT_THAT(keys.Verify(Golden(name)), IsOk()) << name;
  }
  // A key is for one algorithm alone.
  for (const char* name : {"rs256_as_es256", "es256_as_rs256", "other_key"}) {
    EXPECT_THAT(keys.Verify(Golden(name)),
                StatusIs(absl::StatusCode::kUnauthenticated))
        << name;
  }
}

TEST(PublicKeysTest, FilesThatAreNoKeysSayWhy) {
  const std::string pem = ReadTestFile(absl::StrCat(kFolder, "both.pem"));
  const std::string ec =
      R"({"kty":"EC","crv":"P-256","kid":"a",
          "x":"axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY",
          "y":"T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU")";
  const auto set = [](const std::string& keys) {
    return absl::StrCat("{\"keys\":[", keys, "]}");
  };
  ASSERT_THAT(PublicKeys::Parse(set(ec + "}")), IsOk());
  const struct {
    std::string text;
    const char* reason;
  } cases[] = {
      {"", "has no key for RS256 or ES256"},
      {"keys", "has no key for RS256 or ES256"},
      {"{", "no JSON object with a list"},
      {"{\"keys\":{}}", "no JSON object with a list"},
      {set(""), "has no key"},
      {set("1"), "a key that is no JSON object"},
      {set(ec + "},"), "no JSON object with a list"},
      {set(ec + "}," + ec + "}"), "two keys 'a'"},
      {set(ec + ",\"d\":\"AA\"}"), "private or secret key"},
      {set(R"({"kty":"oct","k":"AA"})"), "private or secret key"},
      {set(R"({"kty":"OKP","crv":"Ed25519","x":"AA"})"), "has no key for"},
      {set(ec + ",\"use\":\"enc\"}"), "has no key for"},
      {set(R"({"kty":"EC","crv":"P-256","kid":"b","x":"AA","y":"AA"})"),
       "'b', whose numbers are no valid key"},
      // A point that is not on the curve.
      {set(R"({"kty":"EC","crv":"P-256","kid":"c",
               "x":"axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY",
               "y":"axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY"})"),
       "'c', whose numbers are no valid key"},
      {set(R"({"kty":"RSA","kid":"d","n":"","e":"AQAB"})"), "no valid key"},
      {set(R"({"kty":"RSA","n":"AQAB","e":"AQAB"})"), "an RSA key of"},
      {ReadTestFile(absl::StrCat(kFolder, "short.jwks")), "RSA key of 1024"},
      {ReadTestFile(absl::StrCat(kFolder, "other_curve.pem")),
       "neither of RSA nor of the curve P-256"},
      {pem.substr(0, pem.size() - 40), "no PUBLIC KEY"},
      {pem + "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n",
       "no PUBLIC KEY"},
      {pem + "-----BEGIN EC PRIVATE KEY-----\n", "has a private key"},
      {std::string(2 << 20, ' '), "at most 1048576 are read"},
  };
  for (const auto& each : cases) {
    EXPECT_THAT(
        PublicKeys::Parse(each.text),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(each.reason)))
        << each.text.substr(0, 200);
  }
}

}  // namespace
}  // namespace footprint
