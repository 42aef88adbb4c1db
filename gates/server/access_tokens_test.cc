#include "footprint/gates/server/access_tokens.h"

#include <sys/stat.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(AccessTokensTest, ATokenGrantsItsScopesUntilItExpires) {
  const std::string path = TestPath("tokens");
  AccessTokens tokens(path);
  EXPECT_THAT(tokens.Check("fpt_guess", 0),
              StatusIs(absl::StatusCode::kUnauthenticated));
  const absl::StatusOr<std::string> token =
      AddAccessToken(path, {"ci", kSubmitScope | kReadScope, 1000});
  ASSERT_THAT(token, IsOk());
  const absl::StatusOr<AccessGrant> grant = tokens.Check(*token, 999);
  ASSERT_THAT(grant, IsOk());
  EXPECT_EQ(grant->name, "ci");
  EXPECT_EQ(grant->scopes, kSubmitScope | kReadScope);
  EXPECT_THAT(
      tokens.Check(*token, 1000),
      StatusIs(absl::StatusCode::kUnauthenticated, HasSubstr("'ci' expired")));
  for (const std::string& wrong :
       {std::string(), *token + "0", token->substr(1), Sha256Hex(*token)}) {
    EXPECT_THAT(tokens.Check(wrong, 0),
                StatusIs(absl::StatusCode::kUnauthenticated));
  }
}

TEST(AccessTokensTest, TheFileHasNoToken) {
  const std::string path = TestPath("hashed");
  const absl::StatusOr<std::string> token =
      AddAccessToken(path, {"ci", kAdminScope, 0});
  ASSERT_THAT(token, IsOk());
  EXPECT_EQ(token->size(), 68u);
  const std::string text = ReadTestFile(path);
  EXPECT_THAT(text, Not(HasSubstr(token->substr(4))));
  EXPECT_EQ(text, absl::StrCat("ci\t", Sha256Hex(*token), "\tadmin\t0\n"));
  struct stat found;
  ASSERT_EQ(stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
}

TEST(AccessTokensTest, LimitsAreKept) {
  const std::string path = TestPath("limited");
  ASSERT_THAT(AddAccessToken(path, {"free", kSubmitScope, 0}), IsOk());
  SubmitterLimits limits;
  limits.most_undecided = 10;
  limits.most_budget_bytes = 1 << 30;
  const absl::StatusOr<std::string> token =
      AddAccessToken(path, {"ci", kSubmitScope, 0, limits});
  ASSERT_THAT(token, IsOk());
  EXPECT_THAT(ReadTestFile(path),
              testing::EndsWith(
                  "\tsubmit\t0\tmost_waiting=10,most_budget=1073741824\n"));
  AccessTokens tokens(path);
  const absl::StatusOr<AccessGrant> grant = tokens.Check(*token, 0);
  ASSERT_THAT(grant, IsOk());
  EXPECT_EQ(grant->limits.most_undecided, 10);
  EXPECT_EQ(grant->limits.most_budget_bytes, 1 << 30);
  EXPECT_EQ(grant->limits.most_seconds, 0);
  const absl::StatusOr<std::vector<KeptToken>> kept = ReadTokenFile(path);
  ASSERT_THAT(kept, IsOk());
  EXPECT_EQ(LimitsText((*kept)[0].grant.limits), "");
  EXPECT_EQ(TokenFileText(*kept), ReadTestFile(path));
}

AccessGrant MakeOwner(const std::string& name,
                      const std::vector<std::string>& labels) {
  AccessGrant grant = {name, kSubmitScope, 0};
  grant.owned_labels = labels;
  return grant;
}

TEST(AccessTokensTest, ALabelBelongsToTheTokensWithItsPattern) {
  const std::string path = TestPath("owners");
  AccessTokens tokens(path);
  ASSERT_THAT(AddAccessToken(path, {"free", kSubmitScope, 0}), IsOk());
  EXPECT_THAT(tokens.HasOwners(), IsOkAndHolds(false));
  ASSERT_THAT(AddAccessToken(path, MakeOwner("a", {"//a/...", "//x:y"})),
              IsOk());
  AccessGrant expired = MakeOwner("b", {"//a/b:*"});
  expired.expiry_unix_seconds = 1;
  ASSERT_THAT(AddAccessToken(path, expired), IsOk());
  EXPECT_THAT(ReadTestFile(path), HasSubstr("\tsubmit\t0\t\t//a/...,//x:y\n"));
  EXPECT_THAT(tokens.HasOwners(), IsOkAndHolds(true));
  for (const char* name : {"a", "b", "free"}) {
    EXPECT_THAT(tokens.CheckOwner(name, "//other:c"), IsOk());
  }
  EXPECT_THAT(tokens.CheckOwner("a", "//a:c"), IsOk());
  EXPECT_THAT(tokens.CheckOwner("b", "//a/b:c"), IsOk());
  EXPECT_THAT(tokens.CheckOwner("b", "//a:c"),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       HasSubstr("belongs to the token 'a', and this is")));
  EXPECT_THAT(tokens.CheckOwner("free", "//a/b:c"),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       HasSubstr("the token 'a' and the token 'b', and")));
  EXPECT_THAT(RemoveAccessToken(path, "a"), IsOk());
  EXPECT_THAT(tokens.CheckOwner("free", "//x:y"), IsOk());
  EXPECT_THAT(AddAccessToken(path, {"d", kSubmitScope, -1}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("seconds since 1970")))
      << "nobody could read the file again";
  EXPECT_THAT(AddAccessToken(path, MakeOwner("c", {"a b"})),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no pattern of labels")));
}

TEST(AccessTokensTest, WithoutAnyWeightThereAreNoGroups) {
  const std::string path = TestPath("weights");
  AccessTokens tokens(path);
  ASSERT_THAT(AddAccessToken(path, {"a", kSubmitScope}), IsOk());
  EXPECT_THAT(tokens.FindCpuWeight("a"), IsOkAndHolds(0));
  AccessGrant heavy = {"heavy", kSubmitScope};
  heavy.limits.cpu_weight = 400;
  ASSERT_THAT(AddAccessToken(path, heavy), IsOk());
  EXPECT_THAT(ReadTestFile(path), HasSubstr("\tcpu_weight=400\n"));
  EXPECT_THAT(tokens.FindCpuWeight("heavy"), IsOkAndHolds(400));
  EXPECT_THAT(tokens.FindCpuWeight("a"), IsOkAndHolds(100));
  EXPECT_THAT(tokens.FindCpuWeight("removed"), IsOkAndHolds(100));
}

TEST(AccessTokensTest, ATokenIsChangedInPlace) {
  const std::string path = TestPath("changed");
  AccessTokens tokens(path);
  const absl::StatusOr<std::string> token =
      AddAccessToken(path, {"ci", kSubmitScope, 1000});
  ASSERT_THAT(token, IsOk());
  ASSERT_THAT(AddAccessToken(path, {"last", kSubmitScope, 0}), IsOk());
  const absl::StatusOr<AccessGrant> changed =
      ChangeAccessToken(path, "ci", [](AccessGrant* grant) {
        EXPECT_EQ(grant->expiry_unix_seconds, 1000);
        grant->limits.most_undecided = 7;
        grant->owned_labels = {"//a/..."};
        grant->name = "other";
        return absl::OkStatus();
      });
  ASSERT_THAT(changed, IsOk());
  EXPECT_EQ(changed->name, "ci");
  const absl::StatusOr<AccessGrant> grant = tokens.Check(*token, 999);
  ASSERT_THAT(grant, IsOk());
  EXPECT_EQ(grant->limits.most_undecided, 7);
  EXPECT_EQ(grant->owned_labels.size(), 1u);
  EXPECT_THAT(ReadTestFile(path),
              testing::StartsWith(absl::StrCat("ci\t", Sha256Hex(*token))));
  // After an error the file is as it was.
  const std::string before = ReadTestFile(path);
  EXPECT_THAT(ChangeAccessToken(path, "none",
                                [](AccessGrant*) { return absl::OkStatus(); }),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(
      ChangeAccessToken(
          path, "ci", [](AccessGrant*) { return absl::CancelledError("no"); }),
      StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(ChangeAccessToken(path, "ci",
                                [](AccessGrant* each) {
                                  each->owned_labels = {""};
                                  return absl::OkStatus();
                                }),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(ReadTestFile(path), before);
}

TEST(AccessTokensTest, LimitsAreReadInAnyOrder) {
  const absl::StatusOr<SubmitterLimits> limits =
      ParseLimits("most_time=600,most_waiting=3");
  ASSERT_THAT(limits, IsOk());
  EXPECT_EQ(LimitsText(*limits), "most_waiting=3,most_time=600");
  for (const char* wrong :
       {"", "most_time", "most_time=", "most_time=0", "most_time=-1", "all=1",
        "most_time=1,", "most_time=1s", "most_budget=9223372036854775808"}) {
    EXPECT_THAT(ParseLimits(wrong),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("most_budget, most_time and cpu_weight")))
        << wrong;
  }
}

TEST(AccessTokensTest, NamesAreTakenOnceAndRemoved) {
  const std::string path = TestPath("names");
  AccessTokens tokens(path);
  const absl::StatusOr<std::string> a = AddAccessToken(path, {"a", 1, 0});
  const absl::StatusOr<std::string> b = AddAccessToken(path, {"b", 2, 0});
  EXPECT_NE(*a, *b);
  EXPECT_THAT(AddAccessToken(path, {"a", 1, 0}),
              StatusIs(absl::StatusCode::kAlreadyExists));
  for (const char* name : {"", "a b", "a\tb", "a\n", "<b>"}) {
    EXPECT_THAT(AddAccessToken(path, {name, 1, 0}),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_THAT(AddAccessToken(path, {std::string(64, 'a'), 1, 0}), IsOk());
  EXPECT_THAT(AddAccessToken(path, {std::string(65, 'a'), 1, 0}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(AddAccessToken(path, {"c", 0, 0}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(tokens.Check(*a, 0), IsOk());
  EXPECT_THAT(RemoveAccessToken(path, "a"), IsOk());
  EXPECT_THAT(RemoveAccessToken(path, "a"),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(tokens.Check(*a, 0),
              StatusIs(absl::StatusCode::kUnauthenticated));
  EXPECT_THAT(tokens.Check(*b, 0), IsOk());
}

TEST(AccessTokensTest, TheLinesOfPeopleStay) {
  const std::string hash = Sha256Hex("x");
  const std::string path =
      WriteTestFile("commented", absl::StrCat("# team A\tAnn\na\t", hash,
                                              "\tread\t0\n\n# b\nb\t", hash,
                                              "\tread\t0\n# the end"));
  ASSERT_THAT(AddAccessToken(path, {"c", kReadScope, 0}), IsOk());
  ASSERT_THAT(ChangeAccessToken(path, "b",
                                [](AccessGrant* grant) {
                                  grant->expiry_unix_seconds = 7;
                                  return absl::OkStatus();
                                }),
              IsOk());
  ASSERT_THAT(RemoveAccessToken(path, "a"), IsOk());
  EXPECT_THAT(RemoveAccessToken(path, "# team A"),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(ReadTestFile(path), testing::StartsWith(absl::StrCat(
                                      "# team A\tAnn\n\n# b\nb\t", hash,
                                      "\tread\t7\n# the end\nc\t")));
}

TEST(AccessTokensTest, AFileThatIsWrongGrantsNothing) {
  const std::string hash = Sha256Hex("x");
  for (const std::string& line :
       {std::string("name"), absl::StrCat("a b\t", hash, "\tread\t0"),
        std::string("a\tshort\tread\t0"), absl::StrCat("a\t", hash, "\tall\t0"),
        absl::StrCat("a\t", hash, "\tread\t-1"),
        absl::StrCat("a\t", hash, "\tread\t0\tmore"),
        absl::StrCat("a\t", hash, "\tread\t0\tmost_waiting=0"),
        absl::StrCat("a\t", hash, "\tread\t0\t"),
        absl::StrCat("a\t", hash, "\tread\t0\tmost_waiting=1\t"),
        absl::StrCat("a\t", hash, "\tread\t0\t\t//a,"),
        absl::StrCat("a\t", hash, "\tread\t0\t\t//a\t")}) {
    const std::string path = WriteTestFile("wrong", "# tokens\n" + line);
    AccessTokens tokens(path);
    EXPECT_THAT(
        tokens.Check("x", 0),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("line 2")))
        << line;
  }
}

TEST(AccessTokensTest, ScopesAreReadAsWritten) {
  for (unsigned scopes = 1; scopes < 8; ++scopes) {
    EXPECT_THAT(ParseScopes(ScopesText(scopes)), IsOkAndHolds(scopes));
  }
  EXPECT_THAT(ParseScopes(""), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ParseScopes("read,"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace footprint
