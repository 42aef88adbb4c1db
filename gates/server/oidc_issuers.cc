#include "footprint/gates/server/oidc_issuers.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/optional.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/machine/cpu_group.h"
#include "footprint/base/text/parse_bytes.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/base/text/text_format_errors.h"
#include "footprint/gates/judge/selector.h"
#include "footprint/gates/server/file_version.h"
#include "footprint/gates/server/oidc.pb.h"
#include "footprint/gates/server/utc_time.h"
#include "google/protobuf/text_format.h"

namespace footprint {
namespace {

constexpr int kUsualLeewaySeconds = 60;
constexpr int kMostLeewaySeconds = 600;
constexpr int kMostReadSeconds = 86400;
constexpr size_t kMostShownBytes = 100;
constexpr size_t kMostSubjectBytes = 256;

class FirstError : public TextFormatErrors {
 public:
  // Line and column count from 0.
  void Add(int line, int column, const std::string& message) override {
    if (!text_.empty()) return;
    text_ = line < 0 ? message
                     : absl::StrCat(line + 1, ":", column + 1, ": ", message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string Shown(absl::string_view text) {
  return EscapeForTerminal(text.substr(0, kMostShownBytes));
}

absl::Status Refused(absl::string_view why) {
  return absl::UnauthenticatedError(absl::StrCat("the web token ", why));
}

std::string TimeText(double unix_seconds) {
  return FormatUtcTime(static_cast<int64_t>(unix_seconds));
}

}  // namespace

// Reads a configuration, and says where a mistake in it is.
class OidcConfigurationReader {
 public:
  OidcConfigurationReader(const std::string& path, OidcIssuers* issuers)
      : path_(path), issuers_(*issuers) {}

  absl::Status Read() {
    const absl::StatusOr<std::string> text = ReadWholeFile(path_);
    if (!text.ok()) return text.status();
    OidcConfiguration configuration;
    FirstError error;
    google::protobuf::TextFormat::Parser parser;
    parser.RecordErrorsTo(&error);
    if (!parser.ParseFromString(*text, &configuration)) {
      return absl::InvalidArgumentError(absl::StrCat(
          path_, ":",
          error.text().empty() ? " cannot be parsed" : error.text()));
    }
    if (configuration.schema_version() != 1) {
      return Wrong(absl::StrCat("has the schema version ",
                                configuration.schema_version(),
                                ", and this server reads 1"));
    }
    if (configuration.issuer_size() == 0) {
      return Wrong("has no issuer; add issuer { url: ... }");
    }
    for (const OidcIssuer& each : configuration.issuer()) {
      const absl::Status status = AddIssuer(each);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Wrong(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(path_, ": ", what));
  }

  absl::Status AddIssuer(const OidcIssuer& given) {
    const std::string name =
        absl::StrCat("the issuer '", Shown(given.url()), "' ");
    if (given.url().empty() || given.audience().empty() ||
        given.key_file().empty()) {
      return Wrong(absl::StrCat(name, "needs url, audience and key_file"));
    }
    if (!urls_.insert(given.url()).second) {
      return Wrong(absl::StrCat(name, "is there twice; make it one"));
    }
    if (given.leeway_seconds() < 0 ||
        given.leeway_seconds() > kMostLeewaySeconds ||
        given.read_after_expiry_seconds() < 0 ||
        given.read_after_expiry_seconds() > kMostReadSeconds) {
      return Wrong(absl::StrCat(
          name, "has a leeway_seconds that is not from 0 to ",
          kMostLeewaySeconds,
          ", or a read_after_expiry_seconds that is not from 0 to ",
          kMostReadSeconds));
    }
    if (given.identity_size() == 0) {
      return Wrong(absl::StrCat(name,
                                "has no identity; add identity { name: "
                                "... claim { ... } }"));
    }
    if (issuers_.report_ && !absl::StartsWith(given.url(), "https://")) {
      issuers_.report_(absl::StrCat(
          path_, ": ", name,
          "is not named by https://: whoever can change its traffic can make "
          "tokens and keys; serve it by https, and change url and key_file"));
    }
    OidcIssuers::Issuer issuer;
    issuer.url = given.url();
    issuer.audience = given.audience();
    issuer.key_path =
        (std::filesystem::path(path_).parent_path() / given.key_file())
            .string();
    issuer.leeway_seconds = given.leeway_seconds() > 0 ? given.leeway_seconds()
                                                       : kUsualLeewaySeconds;
    issuer.read_after_expiry_seconds = given.read_after_expiry_seconds();
    for (const OidcIdentity& each : given.identity()) {
      absl::StatusOr<OidcIssuers::Identity> identity = MakeIdentity(each);
      if (!identity.ok()) {
        return Wrong(absl::StrCat(name, "has the identity '",
                                  Shown(each.name()),
                                  "': ", identity.status().message()));
      }
      issuers_.grants_.push_back(identity->grant);
      issuer.identities.push_back(*std::move(identity));
    }
    issuers_.issuers_.push_back(std::move(issuer));
    return absl::OkStatus();
  }

  static absl::StatusOr<OidcIssuers::Identity> MakeIdentity(
      const OidcIdentity& given) {
    OidcIssuers::Identity identity;
    bool is_selective = false;
    for (const OidcClaim& claim : given.claim()) {
      if (claim.name().empty() || claim.value().empty() ||
          !IsGlob(claim.value())) {
        return absl::InvalidArgumentError(
            "a claim needs a name and a value, with a backslash only before "
            "'*' or another backslash");
      }
      // All tokens that pass the other checks have the same issuer and
      // audience.
      is_selective =
          is_selective ||
          (claim.name() != "iss" && claim.name() != "aud" &&
           claim.value().find_first_not_of('*') != std::string::npos);
      identity.claims.push_back({claim.name(), claim.value()});
    }
    if (!is_selective) {
      return absl::InvalidArgumentError(
          "without a claim it would be everyone's who has an account there; "
          "add one that only your jobs have, such as claim { name: "
          "\"repository\" value: \"team/models\" }");
    }
    AccessGrant& grant = identity.grant;
    grant.name = given.name();
    const std::string scopes = absl::StrJoin(given.scope(), ",");
    const absl::StatusOr<unsigned> parsed =
        ParseScopes(scopes.empty() ? "submit,read" : scopes);
    if (!parsed.ok()) return parsed.status();
    grant.scopes = *parsed;
    grant.owned_labels = {given.owns().begin(), given.owns().end()};
    absl::Status status = SetLimits(given, &grant.limits);
    if (status.ok()) status = CheckGrant(grant);
    if (!status.ok()) return status;
    return identity;
  }

  static absl::Status SetLimits(const OidcIdentity& given,
                                SubmitterLimits* limits) {
    limits->most_undecided = given.most_waiting();
    limits->most_seconds = given.most_time_seconds();
    limits->cpu_weight = given.cpu_weight();
    if (given.most_waiting() < 0 || given.most_time_seconds() < 0 ||
        given.cpu_weight() < 0 || given.cpu_weight() > kMostCpuWeight) {
      return absl::InvalidArgumentError(
          absl::StrCat("limits are not negative, and cpu_weight is at most ",
                       kMostCpuWeight));
    }
    if (given.most_budget().empty()) return absl::OkStatus();
    const absl::StatusOr<int64_t> bytes = ParseBytes(given.most_budget());
    if (!bytes.ok()) return bytes.status();
    limits->most_budget_bytes = *bytes;
    return *bytes > 0 ? absl::OkStatus()
                      : absl::InvalidArgumentError(
                            "most_budget would refuse every bundle; leave it "
                            "out for no limit");
  }

  const std::string path_;
  OidcIssuers& issuers_;
  std::set<std::string> urls_;
};

absl::StatusOr<std::unique_ptr<OidcIssuers>> OidcIssuers::Read(
    const std::string& path, Report report) {
  std::unique_ptr<OidcIssuers> issuers(new OidcIssuers(std::move(report)));
  const absl::Status status =
      OidcConfigurationReader(path, issuers.get()).Read();
  if (!status.ok()) return status;
  for (const Issuer& each : issuers->issuers_) {
    const std::string version = FileVersion(each.key_path);
    const absl::StatusOr<std::string> text = ReadWholeFile(each.key_path);
    if (!text.ok()) return text.status();
    absl::StatusOr<PublicKeys> keys = PublicKeys::Parse(*text);
    if (!keys.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(each.key_path, ": ", keys.status().message()));
    }
    MutexLock lock(&issuers->mutex_);
    issuers->key_files_.push_back({version, *std::move(keys), ""});
  }
  return issuers;
}

absl::StatusOr<PublicKeys> OidcIssuers::FindKeys(size_t issuer) {
  const std::string& path = issuers_[issuer].key_path;
  MutexLock lock(&mutex_);
  KeyFile& file = key_files_[issuer];
  const std::string version = FileVersion(path);
  if (version == file.version) return file.keys;
  const absl::StatusOr<std::string> text = ReadWholeFile(path);
  absl::StatusOr<PublicKeys> keys =
      text.ok() ? PublicKeys::Parse(*text)
                : absl::StatusOr<PublicKeys>(text.status());
  if (keys.ok()) {
    file = {version, *std::move(keys), ""};
    return file.keys;
  }
  const std::string problem = absl::StrCat(
      path, ": ", keys.status().message(), "; until this is right, tokens of ",
      issuers_[issuer].url, " are refused");
  if (problem != file.problem && report_) report_(problem);
  file.problem = problem;
  return absl::InternalError(
      "the server cannot read the keys of the web token's issuer; its operator "
      "finds the reason in its log");
}

absl::Status OidcIssuers::CheckAudience(const Issuer& issuer,
                                        const JsonWebToken& token) {
  const auto found = token.claims.find("aud");
  if (found == token.claims.end()) return Refused("is for no audience");
  const std::vector<std::string>& all = found->second.texts;
  if (std::find(all.begin(), all.end(), issuer.audience) != all.end()) {
    return absl::OkStatus();
  }
  return Refused(absl::StrCat("is for the audience '",
                              Shown(absl::StrJoin(all, ",")),
                              "', and this server is '", Shown(issuer.audience),
                              "'; have CI ask for a token for it"));
}

absl::Status OidcIssuers::CheckTimes(const Issuer& issuer,
                                     const JsonWebToken& token, double now,
                                     bool* may_only_read) {
  if (!token.expiry.has_value() || !token.issued.has_value()) {
    return Refused("has no expiry or no time of issue (exp, iat)");
  }
  const double begin = std::max(*token.issued, token.not_before.value_or(0));
  if (begin > now + issuer.leeway_seconds) {
    return Refused(absl::StrCat("is valid from ", TimeText(begin),
                                " only, and here it is ", TimeText(now),
                                "; compare the clocks"));
  }
  const double end = *token.expiry + issuer.leeway_seconds;
  *may_only_read = now >= end;
  if (now < end + issuer.read_after_expiry_seconds) return absl::OkStatus();
  return Refused(absl::StrCat("expired at ", TimeText(*token.expiry),
                              "; have CI ask for a new one"));
}

absl::StatusOr<AccessGrant> OidcIssuers::FindGrant(const Issuer& issuer,
                                                   const JsonWebToken& token) {
  for (const Identity& each : issuer.identities) {
    const bool is_match = std::all_of(
        each.claims.begin(), each.claims.end(), [&](const Claim& claim) {
          const auto found = token.claims.find(claim.name);
          return found != token.claims.end() && !found->second.is_list &&
                 GlobMatches(claim.pattern, found->second.texts[0]);
        });
    if (is_match) return each.grant;
  }
  return Refused(absl::StrCat(
      "is of ", Shown(token.Text("sub")),
      ", and its claims match no identity of this server; its operator adds "
      "one to the file of --oidc"));
}

absl::StatusOr<AccessGrant> OidcIssuers::Check(absl::string_view text,
                                               int64_t now_unix_seconds) {
  const absl::StatusOr<JsonWebToken> token = ParseJsonWebToken(text);
  if (!token.ok()) return absl::UnauthenticatedError(token.status().message());
  const std::string url = token->Text("iss");
  const auto issuer =
      std::find_if(issuers_.begin(), issuers_.end(),
                   [&](const Issuer& each) { return each.url == url; });
  if (issuer == issuers_.end()) {
    return Refused(absl::StrCat("has the issuer '", Shown(url),
                                "', which this server does not know; its "
                                "operator names issuers by --oidc"));
  }
  const absl::StatusOr<PublicKeys> keys =
      FindKeys(static_cast<size_t>(issuer - issuers_.begin()));
  if (!keys.ok()) return keys.status();
  // Nothing else in the token counts before its signature.
  absl::Status status = keys->Verify(*token);
  bool may_only_read = false;
  if (status.ok()) status = CheckAudience(*issuer, *token);
  if (status.ok()) {
    status = CheckTimes(*issuer, *token, static_cast<double>(now_unix_seconds),
                        &may_only_read);
  }
  if (!status.ok()) return status;
  absl::StatusOr<AccessGrant> grant = FindGrant(*issuer, *token);
  if (!grant.ok()) return grant;
  if (may_only_read) grant->scopes &= kReadScope;
  grant->expiry_unix_seconds = static_cast<int64_t>(*token->expiry);
  grant->subject =
      EscapeForTerminal(token->Text("sub").substr(0, kMostSubjectBytes));
  return grant;
}

}  // namespace footprint
