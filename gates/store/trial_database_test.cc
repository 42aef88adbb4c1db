#include "footprint/gates/store/trial_database.h"

#include <unistd.h>

#include <string>
#include <utility>

#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;

absl::StatusOr<SqliteDatabase> Open(const std::string& path) {
  return OpenTrialDatabase(path, {}, NewDatabase::kMake);
}

constexpr char kOneVerdict[] =
    "INSERT INTO bundle VALUES('b', 5, 1);"
    "INSERT INTO trial(key, bundle_sha256, deployment, submitter, "
    "submitted_unix_seconds) VALUES('k', 'b', '//a:b', 'me', 7);"
    "UPDATE trial SET decided_order = 1, decision = 1, "
    "decided_unix_seconds = 8;"
    "INSERT INTO result VALUES(1, zeroblob(20000));";

// Makes a database of several pages and closes it. Returns its path.
std::string MadeDatabase(const std::string& name) {
  const std::string path = TestPath(name);
  absl::StatusOr<SqliteDatabase> database = Open(path);
  EXPECT_THAT(database, IsOk());
  EXPECT_THAT(database->Execute(kOneVerdict), IsOk());
  EXPECT_THAT(SealTrial(&*database, 1), IsOk());
  return path;
}

TEST(TrialDatabaseTest, ADatabaseIsMadeOnceAndOpenedAgain) {
  const std::string path = MadeDatabase("made.sqlite");
  absl::StatusOr<SqliteDatabase> database = Open(path);
  ASSERT_THAT(database, IsOk());
  EXPECT_THAT(database->Ask("SELECT LENGTH(bytes) FROM result"),
              IsOkAndHolds("20000"));
  EXPECT_THAT(database->Ask("PRAGMA journal_mode"), IsOkAndHolds("wal"));
}

TEST(TrialDatabaseTest, TotalsFollowTheRows) {
  absl::StatusOr<SqliteDatabase> database = Open(TestPath("totals.sqlite"));
  ASSERT_THAT(database, IsOk());
  ASSERT_THAT(
      database->Execute(
          "INSERT INTO bundle VALUES('a', 10, 1), ('b', 5, 2);"
          "DELETE FROM bundle WHERE sha256 = 'a';"
          "INSERT INTO trial(key, bundle_sha256, deployment, submitter, "
          "submitted_unix_seconds) VALUES('k', 'b', '', '', 0), "
          "('l', 'b', '', '', 0);"
          "UPDATE trial SET decided_order = 7 WHERE key = 'k';"
          "INSERT INTO result VALUES(1, 'r');"),
      IsOk());
  const char kTotal[] =
      "SELECT bundle_count || ' ' || bundle_bytes || ' ' || trial_count || ' ' "
      "|| decided_count || ' ' || last_decided_order FROM total";
  EXPECT_THAT(database->Ask(kTotal), IsOkAndHolds("1 5 2 1 7"));
  ASSERT_THAT(database->Execute("DELETE FROM trial WHERE key = 'k'"), IsOk());
  EXPECT_THAT(database->Ask(kTotal), IsOkAndHolds("1 5 1 0 7"));
  EXPECT_THAT(database->Ask("SELECT COUNT(*) FROM result"), IsOkAndHolds("0"));
}

TEST(TrialDatabaseTest, ADamagedDatabaseIsKeptAndTheWayOutIsSaid) {
  const std::string whole = ReadTestFile(MadeDatabase("whole.sqlite"));
  ASSERT_GT(whole.size(), 20000u);
  std::string overwritten = whole;
  overwritten.replace(4096, 4096, 4096, '\x5a');
  const std::string cut = whole.substr(0, whole.size() / 2);
  for (const std::string& damaged : {overwritten, cut, std::string("text")}) {
    const std::string path = WriteTestFile("damaged.sqlite", damaged);
    EXPECT_THAT(Open(path),
                StatusIs(absl::StatusCode::kDataLoss,
                         AllOf(HasSubstr("damaged"), HasSubstr("backup"))));
    EXPECT_EQ(ReadTestFile(path), damaged);
  }
}

TEST(TrialDatabaseTest, OthersDatabasesAreLeftAlone) {
  const std::string newer = MadeDatabase("newer.sqlite");
  ASSERT_THAT(SqliteDatabase::Open(newer, {})->Execute("PRAGMA user_version=4"),
              IsOk());
  EXPECT_THAT(Open(newer), StatusIs(absl::StatusCode::kFailedPrecondition,
                                    HasSubstr("of schema 4")));
  const std::string other = TestPath("other.sqlite");
  ASSERT_THAT(
      SqliteDatabase::Open(other, {})->Execute("CREATE TABLE theirs(x)"),
      IsOk());
  const std::string before = ReadTestFile(other);
  EXPECT_THAT(Open(other), StatusIs(absl::StatusCode::kFailedPrecondition,
                                    HasSubstr("another program")));
  EXPECT_EQ(ReadTestFile(other), before);
}

// These values of a verdict are in no index, so only the seal shows that one
// changed.
TEST(TrialDatabaseTest, AVerdictThatChangedIsDamage) {
  for (const char* change :
       {"UPDATE trial SET decision = 0", "UPDATE trial SET submitter = 'mf'",
        "UPDATE trial SET decided_unix_seconds = 9",
        "UPDATE trial SET attempt_count = 1025",
        "UPDATE trial SET deployment = '//a:c'",
        "UPDATE result SET bytes = zeroblob(19999)",
        "UPDATE seal SET fingerprint = fingerprint + 1", "DELETE FROM seal",
        "DELETE FROM result", "UPDATE bundle SET bytes = 6",
        "UPDATE total SET decided_count = 0",
        "UPDATE total SET last_decided_order = 1025", "DELETE FROM total",
        "DELETE FROM bundle; UPDATE total SET bundle_count = 1",
        "DROP TRIGGER bundle_added"}) {
    const std::string path = MadeDatabase("changed.sqlite");
    ASSERT_THAT(SqliteDatabase::Open(path, {})->Execute(change), IsOk());
    EXPECT_THAT(Open(path),
                StatusIs(absl::StatusCode::kDataLoss,
                         AllOf(HasSubstr("damaged"), HasSubstr("To restore"))))
        << change;
    ASSERT_EQ(unlink(path.c_str()), 0);
  }
}

TEST(TrialDatabaseTest, AChangeAfterTheOpeningIsNoticedAtItsUse) {
  absl::StatusOr<SqliteDatabase> database = Open(MadeDatabase("live.sqlite"));
  ASSERT_THAT(database, IsOk());
  EXPECT_THAT(CheckSeal(&*database, 1), IsOk());
  ASSERT_THAT(database->Execute("UPDATE trial SET decision = 0"), IsOk());
  EXPECT_THAT(CheckSeal(&*database, 1),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("trial 1")));
  ASSERT_THAT(SealTrial(&*database, 1), IsOk());
  EXPECT_THAT(CheckSeal(&*database, 1), IsOk());
}

TEST(TrialDatabaseTest, ADatabaseOfSchemaOneGetsItsSeals) {
  const std::string path = MadeDatabase("first.sqlite");
  ASSERT_THAT(SqliteDatabase::Open(path, {})->Execute(
                  "DROP TRIGGER trial_removed_with_seal; DROP TABLE seal; "
                  "DROP TRIGGER trial_removed_with_limit; "
                  "DROP TABLE trial_limit; PRAGMA user_version=1"),
              IsOk());
  absl::StatusOr<SqliteDatabase> database = Open(path);
  ASSERT_THAT(database, IsOk());
  EXPECT_THAT(database->Ask("SELECT COUNT(*) FROM seal"), IsOkAndHolds("1"));
  EXPECT_THAT(CheckSeal(&*database, 1), IsOk());
  EXPECT_THAT(database->Ask("PRAGMA user_version"), IsOkAndHolds("3"));
}

TEST(TrialDatabaseTest, ADatabaseOfSchemaTwoKeepsItsSealsAndGetsLimits) {
  const std::string path = MadeDatabase("second.sqlite");
  absl::StatusOr<SqliteDatabase> second = SqliteDatabase::Open(path, {});
  ASSERT_THAT(second, IsOk());
  ASSERT_THAT(second->Execute("DROP TRIGGER trial_removed_with_limit; "
                              "DROP TABLE trial_limit; PRAGMA user_version=2"),
              IsOk());
  const absl::StatusOr<std::string> seal =
      second->Ask("SELECT fingerprint FROM seal");
  second = SqliteDatabase::Open(":memory:", {});
  absl::StatusOr<SqliteDatabase> database = Open(path);
  ASSERT_THAT(database, IsOk());
  EXPECT_THAT(database->Ask("SELECT fingerprint FROM seal"),
              IsOkAndHolds(*seal));
  EXPECT_THAT(CheckSeal(&*database, 1), IsOk());
  EXPECT_THAT(database->Ask("PRAGMA user_version"), IsOkAndHolds("3"));
  ASSERT_THAT(database->Execute("INSERT INTO trial_limit VALUES(1, 7, 8)"),
              IsOk());
  EXPECT_THAT(CheckSeal(&*database, 1),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("trial 1")));
  ASSERT_THAT(SealTrial(&*database, 1), IsOk());
  EXPECT_THAT(CheckSeal(&*database, 1), IsOk());
  ASSERT_THAT(database->Execute("UPDATE trial_limit SET most_seconds = 9"),
              IsOk());
  EXPECT_THAT(CheckSeal(&*database, 1), StatusIs(absl::StatusCode::kDataLoss));
  ASSERT_THAT(database->Execute("DELETE FROM trial WHERE sequence = 1"),
              IsOk());
  EXPECT_THAT(database->Ask("SELECT COUNT(*) FROM trial_limit"),
              IsOkAndHolds("0"));
}

TEST(TrialDatabaseTest, WhereBundlesAreItMustBeThere) {
  const std::string missing = TestPath("missing.sqlite");
  EXPECT_THAT(
      OpenTrialDatabase(missing, {}, NewDatabase::kRefuse),
      StatusIs(absl::StatusCode::kDataLoss,
               AllOf(HasSubstr("missing or empty"), HasSubstr("To restore"))));
  EXPECT_NE(access(missing.c_str(), F_OK), 0);
  // SQLite would remove the log of an empty database.
  const std::string empty = WriteTestFile("empty.sqlite", "");
  WriteTestFile("empty.sqlite-wal", "acknowledged");
  EXPECT_THAT(OpenTrialDatabase(empty, {}, NewDatabase::kRefuse),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(ReadTestFile(empty + "-wal"), "acknowledged");
  // This database is empty too, but has a header.
  const std::string bare = TestPath("bare.sqlite");
  ASSERT_THAT(SqliteDatabase::Open(bare, {})->Execute(
                  "CREATE TABLE t(x); DROP TABLE t"),
              IsOk());
  EXPECT_THAT(OpenTrialDatabase(bare, {}, NewDatabase::kRefuse),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(
      OpenTrialDatabase(MadeDatabase("there.sqlite"), {}, NewDatabase::kRefuse),
      IsOk());
}

}  // namespace
}  // namespace footprint
