#include "footprint/gates/server/json_web_token.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "footprint/base/text/report_escape.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using nlohmann::json;

constexpr size_t kMostTokenBytes = 16 << 10;
constexpr size_t kMostShownBytes = 40;
// A time that a file system or a calendar can still write.
constexpr double kMostSeconds = 1e11;

absl::Status Wrong(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("the web token ", what));
}

// Parses an object in which each name occurs once.
absl::StatusOr<json> ParseObject(absl::string_view coded,
                                 absl::string_view what) {
  const absl::StatusOr<std::string> text = DecodeBase64Url(coded);
  if (!text.ok()) {
    return Wrong(absl::StrCat("has ", what, " that are not in base64url"));
  }
  std::set<std::string> names;
  bool is_twice = false;
  const json::parser_callback_t note = [&](int depth, json::parse_event_t event,
                                           json& parsed) {
    if (event == json::parse_event_t::key && depth == 1) {
      is_twice = !names.insert(parsed.get<std::string>()).second || is_twice;
    }
    return true;
  };
  json object = json::parse(*text, note, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    return Wrong(absl::StrCat("has ", what, " that are no JSON object"));
  }
  if (is_twice) return Wrong(absl::StrCat("has a name twice in its ", what));
  return object;
}

absl::Status SetHeader(const json& header, JsonWebToken* token) {
  const auto algorithm = header.find("alg");
  if (algorithm == header.end() || !algorithm->is_string()) {
    return Wrong("names no algorithm");
  }
  const auto name = algorithm->get<std::string>();
  if (name != "RS256" && name != "ES256") {
    return Wrong(
        absl::StrCat("has the algorithm '",
                     EscapeForTerminal(name.substr(0, kMostShownBytes)),
                     "', and this server takes RS256 and ES256 only"));
  }
  token->algorithm =
      name == "RS256" ? TokenAlgorithm::kRs256 : TokenAlgorithm::kEs256;
  if (header.contains("crit")) {
    return Wrong("has critical headers, which this server does not know");
  }
  const auto key_id = header.find("kid");
  if (key_id == header.end()) return absl::OkStatus();
  if (!key_id->is_string()) return Wrong("has a key id that is no text");
  token->key_id = key_id->get<std::string>();
  return absl::OkStatus();
}

// Sets the text of a claim's value. Returns false if it has another type.
bool SetText(const json& value, std::string* text) {
  if (value.is_string()) {
    *text = value.get<std::string>();
  } else if (value.is_boolean()) {
    *text = value.get<bool>() ? "true" : "false";
  } else if (value.is_number_unsigned()) {
    *text = absl::StrCat(value.get<uint64_t>());
  } else if (value.is_number_integer()) {
    *text = absl::StrCat(value.get<int64_t>());
  } else {
    return false;
  }
  return true;
}

void AddClaim(const std::string& name, const json& value, JsonWebToken* token) {
  JsonWebToken::Claim claim;
  std::string text;
  claim.is_list = value.is_array();
  if (claim.is_list) {
    for (const json& each : value) {
      if (!each.is_string()) return;
      claim.texts.push_back(each.get<std::string>());
    }
  } else if (SetText(value, &text)) {
    claim.texts.push_back(std::move(text));
  } else {
    return;
  }
  token->claims[name] = std::move(claim);
}

absl::Status SetTime(const json& claims, const char* name,
                     absl::optional<double>* seconds) {
  const auto found = claims.find(name);
  if (found == claims.end()) return absl::OkStatus();
  if (found->is_number()) {
    const double value = found->get<double>();
    if (value >= 0 && value <= kMostSeconds) {
      *seconds = value;
      return absl::OkStatus();
    }
  }
  return Wrong(absl::StrCat("has a claim '", name,
                            "' that is no number of seconds since 1970"));
}

}  // namespace

std::string JsonWebToken::Text(const std::string& name) const {
  const auto found = claims.find(name);
  return found == claims.end() || found->second.is_list
             ? ""
             : found->second.texts[0];
}

absl::StatusOr<std::string> DecodeBase64Url(absl::string_view text) {
  const bool is_coded = std::all_of(text.begin(), text.end(), [](char each) {
    return absl::ascii_isalnum(static_cast<unsigned char>(each)) ||
           each == '-' || each == '_';
  });
  std::string decoded;
  // The comparison finds unused bits that are set.
  if (is_coded && absl::WebSafeBase64Unescape(text, &decoded) &&
      absl::WebSafeBase64Escape(decoded) == text) {
    return decoded;
  }
  return absl::InvalidArgumentError("is not in base64url without padding");
}

bool IsJsonWebToken(absl::string_view text) {
  // The server's own tokens have no dots.
  return std::count(text.begin(), text.end(), '.') == 2;
}

absl::StatusOr<JsonWebToken> ParseJsonWebToken(absl::string_view text) {
  if (text.size() > kMostTokenBytes) {
    return Wrong(absl::StrCat("has ", text.size(), " bytes, and at most ",
                              kMostTokenBytes, " are read"));
  }
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '.');
  if (parts.size() != 3) return Wrong("does not have three parts");
  JsonWebToken token;
  const absl::StatusOr<json> header = ParseObject(parts[0], "headers");
  if (!header.ok()) return header.status();
  absl::Status status = SetHeader(*header, &token);
  if (!status.ok()) return status;
  const absl::StatusOr<json> claims = ParseObject(parts[1], "claims");
  if (!claims.ok()) return claims.status();
  for (const auto& [name, value] : claims->items()) {
    AddClaim(name, value, &token);
  }
  status = SetTime(*claims, "exp", &token.expiry);
  if (status.ok()) status = SetTime(*claims, "nbf", &token.not_before);
  if (status.ok()) status = SetTime(*claims, "iat", &token.issued);
  if (!status.ok()) return status;
  absl::StatusOr<std::string> signature = DecodeBase64Url(parts[2]);
  if (!signature.ok() || signature->empty()) {
    return Wrong("has no signature in base64url");
  }
  token.signature = *std::move(signature);
  token.signed_text = absl::StrCat(parts[0], ".", parts[1]);
  return token;
}

}  // namespace footprint
