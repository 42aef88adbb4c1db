#include "footprint/gates/server/json_web_token.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Coded(absl::string_view text) {
  return absl::WebSafeBase64Escape(text);
}

std::string Token(absl::string_view header, absl::string_view claims,
                  absl::string_view signature = "signed") {
  return absl::StrCat(Coded(header), ".", Coded(claims), ".", Coded(signature));
}

constexpr char kHeader[] = R"({"alg":"RS256","kid":"k"})";

// The example of RFC 7515, appendix A.3, but with its "exp" claims as they are.
constexpr char kOfTheRfc[] =
    "eyJhbGciOiJFUzI1NiJ9."
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFt"
    "cGxlLmNvbS9pc19yb290Ijp0cnVlfQ."
    "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSA"
    "pmWQxfKTUJqPP3-Kg6NU1Q";

TEST(JsonWebTokenTest, TheExampleOfTheRfcIsRead) {
  const absl::StatusOr<JsonWebToken> token = ParseJsonWebToken(kOfTheRfc);
  ASSERT_THAT(token, IsOk());
  EXPECT_EQ(token->algorithm, TokenAlgorithm::kEs256);
  EXPECT_FALSE(token->key_id.has_value());
  EXPECT_EQ(token->Text("iss"), "joe");
  EXPECT_EQ(token->Text("http://example.com/is_root"), "true");
  EXPECT_EQ(token->expiry, 1300819380.0);
  EXPECT_FALSE(token->issued.has_value());
  EXPECT_EQ(token->signature.size(), 64u);
  EXPECT_EQ(absl::StrCat(token->signed_text, ".",
                         absl::WebSafeBase64Escape(token->signature)),
            kOfTheRfc);
  EXPECT_TRUE(IsJsonWebToken(kOfTheRfc));
  EXPECT_FALSE(IsJsonWebToken("fpt_0123456789abcdef"));
  EXPECT_TRUE(IsJsonWebToken(Token(" {\"alg\":\"RS256\"}", "{}")))
      << "JSON may begin with a blank";
}

TEST(JsonWebTokenTest, ClaimsAreTextsAndListsOfTexts) {
  const absl::StatusOr<JsonWebToken> token = ParseJsonWebToken(
      Token(kHeader, R"({"a":"x","n":7,"m":-7,"b":false,"l":["p","q"],"e":[],
                        "o":{"a":"y"},"f":1.5,"z":null,"mixed":["p",1],
                        "iat":1,"nbf":2.5,"exp":3})"));
  ASSERT_THAT(token, IsOk());
  EXPECT_EQ(*token->key_id, "k");
  EXPECT_EQ(token->Text("a"), "x");
  EXPECT_EQ(token->Text("n"), "7");
  EXPECT_EQ(token->Text("m"), "-7");
  EXPECT_EQ(token->Text("b"), "false");
  EXPECT_EQ(token->Text("l"), "") << "a list is no text";
  EXPECT_THAT(token->claims.at("l").texts, ElementsAre("p", "q"));
  EXPECT_THAT(token->claims.at("e").texts, ElementsAre());
  for (const char* other : {"o", "f", "z", "mixed"}) {
    EXPECT_EQ(token->claims.count(other), 0u) << other;
  }
  EXPECT_EQ(token->issued, 1.0);
  EXPECT_EQ(token->not_before, 2.5);
  EXPECT_EQ(token->expiry, 3.0);
}

TEST(JsonWebTokenTest, OtherTextsAreRefused) {
  const std::string good = Token(kHeader, "{}");
  ASSERT_THAT(ParseJsonWebToken(good), IsOk());
  const struct {
    std::string text;
    const char* reason;
  } cases[] = {
      {"", "three parts"},
      {"..", "headers that are no JSON object"},
      {good + ".", "three parts"},
      {good.substr(0, good.rfind('.')), "three parts"},
      {good.substr(0, good.rfind('.') + 1), "no signature"},
      {good + "=", "no signature"},
      {good + "%", "no signature"},
      {" " + good, "headers that are not in base64url"},
      {std::string(10 << 20, 'e'), "at most 16384 are read"},
      {Token("[]", "{}"), "headers that are no JSON object"},
      {Token(kHeader, "{"), "claims that are no JSON object"},
      {Token(kHeader, "{\"a\":\"\xff\"}"), "claims that are no JSON object"},
      {Token(kHeader, std::string(8000, '[')), "claims that are no JSON"},
      {Token(R"({"kid":"k"})", "{}"), "names no algorithm"},
      {Token(R"({"alg":1})", "{}"), "names no algorithm"},
      {Token(R"({"alg":"none"})", "{}"), "RS256 and ES256 only"},
      {Token(R"({"alg":"HS256"})", "{}"), "RS256 and ES256 only"},
      {Token(R"({"alg":"rs256"})", "{}"), "RS256 and ES256 only"},
      {Token(R"({"alg":"RS256","alg":"none"})", "{}"), "twice in its headers"},
      {Token(kHeader, R"({"a":1,"b":{"c":1,"c":2},"a":2})"), "in its claims"},
      {Token(R"({"alg":"RS256","crit":["x"]})", "{}"), "critical headers"},
      {Token(R"({"alg":"RS256","kid":7})", "{}"), "key id that is no text"},
      {Token(kHeader, R"({"exp":"3"})"), "'exp' that is no number"},
      {Token(kHeader, R"({"nbf":-1})"), "'nbf' that is no number"},
      {Token(kHeader, R"({"iat":1e300})"), "'iat' that is no number"},
      {Token(kHeader, R"({"iat":null})"), "'iat' that is no number"},
  };
  for (const auto& each : cases) {
    EXPECT_THAT(
        ParseJsonWebToken(each.text),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(each.reason)))
        << each.text.substr(0, 100);
  }
  EXPECT_THAT(ParseJsonWebToken(Token(kHeader, R"({"b":{"c":1},"c":2})")),
              IsOk());
  // A token that ends before its signature is refused, too.
  for (size_t size = 0; size <= good.rfind('.') + 1; ++size) {
    EXPECT_THAT(ParseJsonWebToken(good.substr(0, size)),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << size;
  }
}

TEST(JsonWebTokenTest, Base64UrlHasOneForm) {
  EXPECT_THAT(DecodeBase64Url(""), IsOkAndHolds(""));
  EXPECT_THAT(DecodeBase64Url("-_8"), IsOkAndHolds("\xfb\xff"));
  for (const char* wrong : {"-_9", "+/8", "-_8=", "A", "-_ 8", "-_8\n"}) {
    EXPECT_THAT(DecodeBase64Url(wrong),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << wrong;
  }
}

}  // namespace
}  // namespace footprint
