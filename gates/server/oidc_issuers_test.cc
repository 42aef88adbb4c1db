#include "footprint/gates/server/oidc_issuers.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/server/access_grant.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kFolder[] = "gates/server/testdata/oidc/";
// make_tokens.py has written tokens that are valid from here for 300 seconds.
constexpr int64_t kBegin = 1700000000;
constexpr int64_t kNow = kBegin + 100;

std::map<std::string, std::string> ReadGoldens() {
  std::map<std::string, std::string> tokens;
  std::ifstream lines(absl::StrCat(kFolder, "tokens.txt"));
  for (std::string line; std::getline(lines, line);) {
    tokens[line.substr(0, line.find('\t'))] = line.substr(line.find('\t') + 1);
  }
  return tokens;
}

class OidcIssuersTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        TestPath(testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directory(folder_);
    for (const char* each : {"oidc.textproto", "github.jwks", "gitlab.jwks"}) {
      std::filesystem::copy_file(absl::StrCat(kFolder, each), Path(each));
    }
    tokens_ = ReadGoldens();
    ASSERT_GT(tokens_.size(), 40u);
  }

  std::string Path(const std::string& name) const {
    return absl::StrCat(folder_, "/", name);
  }
  void Write(const std::string& name, const std::string& text) const {
    // A new file has another version than the old one.
    std::ofstream(Path(name + ".new")) << text;
    std::filesystem::rename(Path(name + ".new"), Path(name));
  }

  absl::StatusOr<std::unique_ptr<OidcIssuers>> Read() {
    return OidcIssuers::Read(Path("oidc.textproto"),
                             [this](auto line) { lines_.emplace_back(line); });
  }
  // Reads the configuration with one change.
  absl::Status ReadChanged(const std::string& from, const std::string& to) {
    const std::string text =
        ReadTestFile(absl::StrCat(kFolder, "oidc.textproto"));
    EXPECT_THAT(text, HasSubstr(from));
    const size_t at = text.find(from);
    Write("oidc.textproto",
          absl::StrCat(text.substr(0, at), to, text.substr(at + from.size())));
    return Read().status();
  }

  std::string folder_;
  std::map<std::string, std::string> tokens_;
  std::vector<std::string> lines_;
};

TEST_F(OidcIssuersTest, ATokenHasTheRightsOfItsIdentity) {
  const auto issuers = Read();
  ASSERT_THAT(issuers, IsOk());
  ASSERT_EQ((*issuers)->grants().size(), 3u);
  const absl::StatusOr<AccessGrant> team =
      (*issuers)->Check(tokens_["github"], kNow);
  ASSERT_THAT(team, IsOk());
  EXPECT_EQ(team->name, "team");
  EXPECT_EQ(team->scopes, kSubmitScope | kReadScope);
  EXPECT_EQ(team->expiry_unix_seconds, kBegin + 300);
  EXPECT_EQ(team->subject, "repo:team/models:ref:refs/heads/main");
  EXPECT_EQ(LimitsText(team->limits),
            "most_waiting=20,most_budget=1073741824,most_time=300");
  const absl::StatusOr<AccessGrant> release =
      (*issuers)->Check(tokens_["github_tag"], kNow);
  ASSERT_THAT(release, IsOk());
  EXPECT_EQ(release->name, "team_release");
  EXPECT_THAT(release->owned_labels, ElementsAre("//releases/..."));
  for (const char* name : {"gitlab", "github_list", "github_fraction",
                           "github_with_jwk", "github_long"}) {
    EXPECT_THAT((*issuers)->Check(tokens_[name], kNow), IsOk()) << name;
  }
}

TEST_F(OidcIssuersTest, WarnsOfAnIssuerWithoutTls) {
  ASSERT_THAT(Read(), IsOk());
  EXPECT_THAT(lines_, testing::IsEmpty());
  EXPECT_THAT(
      ReadChanged("https://gitlab.example.com", "http://gitlab.example.com"),
      IsOk());
  EXPECT_THAT(lines_,
              ElementsAre(testing::AllOf(
                  HasSubstr("oidc.textproto: the issuer "
                            "'http://gitlab.example.com' is not named by"),
                  HasSubstr("serve it by https"))));
}

TEST_F(OidcIssuersTest, EveryOtherTokenIsRefusedAndSaysWhy) {
  const auto issuers = Read();
  ASSERT_THAT(issuers, IsOk());
  const std::map<std::string, std::string> reasons = {
      {"other_repository", "match no identity"},
      {"other_branch", "is of repo:team/models:ref:refs/heads/main, and"},
      {"without_repository", "match no identity"},
      {"repository_list", "match no identity"},
      {"other_issuer", "githubusercontent.com/', which this server does not"},
      {"issuer_of_gitlab", "has no key 'key-1'"},
      {"other_audience", "for the audience 'footprint2', and this server is"},
      {"other_audience_list", "for the audience 'a,b'"},
      {"without_issuer", "has the issuer ''"},
      {"without_audience", "is for no audience"},
      {"without_expiry", "no expiry or no time of issue"},
      {"without_issue_time", "no expiry or no time of issue"},
      {"not_before", "is valid from 2023-11-14T22:30:00Z only"},
      {"issued_later", "is valid from 2023-11-14T22:30:00Z only"},
      {"expiry_as_text", "'exp' that is no number"},
      {"expiry_negative", "'exp' that is no number"},
      {"expiry_huge", "'exp' that is no number"},
      {"other_key", "not that of its issuer's key"},
      {"key_in_header", "not that of its issuer's key"},
      {"key_for_encryption", "has no key 'for-encryption'"},
      {"unknown_kid", "has no key 'key-9'"},
      {"kid_is_a_path", "has no key '../../dev/null'"},
      {"kid_is_a_number", "key id that is no text"},
      {"other_key_of_gitlab", "not that of its issuer's key"},
      {"github_without_kid", "has no key ''"},
      {"gitlab_without_kid", "has no key ''"},
      {"none", "RS256 and ES256 only"},
      {"none_with_signature", "RS256 and ES256 only"},
      {"hs256_with_public_key", "RS256 and ES256 only"},
      {"rs256_as_es256", "length of ES256's"},
      {"es256_as_rs256", "has no key 'key-2'"},
      {"es256_as_der", "length of ES256's"},
      {"es256_of_zeros", "not that of its issuer's key"},
      {"rs384", "RS256 and ES256 only"},
      {"ps256", "RS256 and ES256 only"},
      {"critical", "critical headers"},
      {"issuer_twice", "a name twice in its claims"},
      {"claims_are_a_list", "claims that are no JSON object"},
      {"claims_are_no_json", "claims that are no JSON object"},
      {"without_signature", "no signature"},
      {"changed_claims", "not that of its issuer's key"}};
  for (const auto& [name, token] : tokens_) {
    const absl::StatusOr<AccessGrant> grant = (*issuers)->Check(token, kNow);
    if (grant.ok()) {
      EXPECT_EQ(reasons.count(name), 0u) << name;
      continue;
    }
    ASSERT_EQ(reasons.count(name), 1u) << name << grant.status();
    EXPECT_THAT(grant, StatusIs(absl::StatusCode::kUnauthenticated,
                                HasSubstr(reasons.at(name))))
        << name;
  }
  // Any cut token is refused, too.
  const std::string& good = tokens_["github"];
  for (size_t size = 0; size < good.size(); size += 7) {
    EXPECT_THAT((*issuers)->Check(good.substr(0, size), kNow),
                StatusIs(absl::StatusCode::kUnauthenticated));
  }
  EXPECT_THAT((*issuers)->Check(good + std::string(10 << 20, 'A'), kNow),
              StatusIs(absl::StatusCode::kUnauthenticated,
                       HasSubstr("at most 16384 are read")));
}

TEST_F(OidcIssuersTest, TimesHaveALeeway) {
  const auto issuers = Read();
  ASSERT_THAT(issuers, IsOk());
  const auto check = [&](const char* name, int64_t now) {
    return (*issuers)->Check(tokens_[name], now);
  };
  EXPECT_THAT(check("gitlab", kBegin - 61),
              StatusIs(absl::StatusCode::kUnauthenticated,
                       HasSubstr("and here it is 2023-11-14T22:12:19Z")));
  EXPECT_THAT(check("gitlab", kBegin - 60), IsOk());
  EXPECT_THAT(check("gitlab", kBegin + 359), IsOk());
  EXPECT_THAT(check("gitlab", kBegin + 360),
              StatusIs(absl::StatusCode::kUnauthenticated,
                       HasSubstr("expired at 2023-11-14T22:18:20Z")));
  // GitHub's may read for another hour, and nothing else.
  EXPECT_EQ(check("github", kBegin + 359)->scopes, kSubmitScope | kReadScope);
  EXPECT_EQ(check("github", kBegin + 360)->scopes, kReadScope);
  EXPECT_EQ(check("github", kBegin + 360 + 3599)->scopes, kReadScope);
  EXPECT_THAT(check("github", kBegin + 360 + 3600),
              StatusIs(absl::StatusCode::kUnauthenticated));
}

TEST_F(OidcIssuersTest, KeysAreReadAgainAfterAChange) {
  const auto issuers = Read();
  ASSERT_THAT(issuers, IsOk());
  const auto check = [&] { return (*issuers)->Check(tokens_["github"], kNow); };
  EXPECT_THAT(check(), IsOk());
  // The issuer has replaced its key.
  Write("github.jwks", ReadTestFile(Path("gitlab.jwks")));
  EXPECT_THAT(check(), StatusIs(absl::StatusCode::kUnauthenticated,
                                HasSubstr("has no key 'key-1'")));
  EXPECT_THAT(lines_, ElementsAre());
  Write("github.jwks", "{");
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(check(), StatusIs(absl::StatusCode::kInternal,
                                  HasSubstr("its operator finds")));
  }
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("no JSON object with a list")));
  std::filesystem::remove(Path("github.jwks"));
  EXPECT_THAT(check(), StatusIs(absl::StatusCode::kInternal));
  EXPECT_THAT((*issuers)->Check(tokens_["gitlab"], kNow), IsOk())
      << "other issuers go on";
  Write("github.jwks", ReadTestFile(absl::StrCat(kFolder, "github.jwks")));
  EXPECT_THAT(check(), IsOk());
  EXPECT_EQ(lines_.size(), 2u);
}

TEST_F(OidcIssuersTest, AMistakeInTheConfigurationIsNamed) {
  const auto refused = [](const char* reason) {
    return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(reason));
  };
  EXPECT_THAT(ReadChanged("audience:", "audienz:"), refused("textproto:6:"));
  EXPECT_THAT(ReadChanged("schema_version: 1", "schema_version: 2"),
              refused("has the schema version 2"));
  EXPECT_THAT(ReadChanged("audience: \"footprint\"", ""),
              refused("needs url, audience and key_file"));
  EXPECT_THAT(ReadChanged("https://gitlab.example.com",
                          "https://token.actions.githubusercontent.com"),
              refused("is there twice"));
  EXPECT_THAT(
      ReadChanged("read_after_expiry_seconds: 3600", "leeway_seconds: 601"),
      refused("not from 0 to 600"));
  EXPECT_THAT(ReadChanged("name: \"team\"", "name: \"a b\""),
              refused("the identity 'a b': a token has a name"));
  EXPECT_THAT(ReadChanged("claim { name: \"project_path\" value: \"team/*\" }",
                          "claim { name: \"project_path\" value: \"*\" }"),
              refused("it would be everyone's who has an account"));
  EXPECT_THAT(ReadChanged("claim { name: \"project_path\" value: \"team/*\" }",
                          "claim { name: \"aud\" value: \"footprint\" }"),
              refused("it would be everyone's who has an account"));
  EXPECT_THAT(ReadChanged("value: \"team/*\"", "value: \"team\\\\\""),
              refused("a claim needs a name and a value"));
  EXPECT_THAT(ReadChanged("most_budget: \"1GiB\"", "most_budget: \"0\""),
              refused("would refuse every bundle"));
  EXPECT_THAT(ReadChanged("most_waiting: 20", "most_waiting: -1"),
              refused("limits are not negative"));
  EXPECT_THAT(ReadChanged("most_waiting: 20", "scope: \"all\""),
              refused("no scope 'all'"));
  EXPECT_THAT(ReadChanged("owns: \"//releases/...\"", "owns: \"a b\""),
              refused("no pattern of labels"));
  EXPECT_THAT(ReadChanged("gitlab.jwks", "none.jwks"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("none.jwks")));
  EXPECT_THAT(ReadChanged("gitlab.jwks", "oidc.textproto"),
              refused("has no key for RS256 or ES256"));
  Write("oidc.textproto", "schema_version: 1\n");
  EXPECT_THAT(Read(), refused("has no issuer"));
}

}  // namespace
}  // namespace footprint
