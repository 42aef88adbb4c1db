#include "footprint/gates/store/trial_database.h"

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

// A database of some pages, closed.
std::string NewDatabase(const std::string& name) {
  const std::string path = TestPath(name);
  absl::StatusOr<SqliteDatabase> database = OpenTrialDatabase(path, {});
  EXPECT_THAT(database, IsOk());
  EXPECT_THAT(
      database->Execute("INSERT INTO result VALUES(1, zeroblob(20000))"),
      IsOk());
  return path;
}

TEST(TrialDatabaseTest, ADatabaseIsMadeOnceAndOpenedAgain) {
  const std::string path = NewDatabase("made.sqlite");
  absl::StatusOr<SqliteDatabase> database = OpenTrialDatabase(path, {});
  ASSERT_THAT(database, IsOk());
  EXPECT_THAT(database->Ask("SELECT LENGTH(bytes) FROM result"),
              IsOkAndHolds("20000"));
  EXPECT_THAT(database->Ask("PRAGMA journal_mode"), IsOkAndHolds("wal"));
}

TEST(TrialDatabaseTest, TotalsFollowTheRows) {
  absl::StatusOr<SqliteDatabase> database =
      OpenTrialDatabase(TestPath("totals.sqlite"), {});
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
  const std::string whole = ReadTestFile(NewDatabase("whole.sqlite"));
  ASSERT_GT(whole.size(), 20000u);
  std::string overwritten = whole;
  overwritten.replace(4096, 4096, 4096, '\x5a');
  const std::string cut = whole.substr(0, whole.size() / 2);
  for (const std::string& damaged : {overwritten, cut, std::string("text")}) {
    const std::string path = WriteTestFile("damaged.sqlite", damaged);
    EXPECT_THAT(OpenTrialDatabase(path, {}),
                StatusIs(absl::StatusCode::kDataLoss,
                         AllOf(HasSubstr("damaged"), HasSubstr("backup"))));
    EXPECT_EQ(ReadTestFile(path), damaged);
  }
}

TEST(TrialDatabaseTest, OthersDatabasesAreLeftAlone) {
  const std::string newer = NewDatabase("newer.sqlite");
  ASSERT_THAT(SqliteDatabase::Open(newer, {})->Execute("PRAGMA user_version=2"),
              IsOk());
  EXPECT_THAT(OpenTrialDatabase(newer, {}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("of schema 2")));
  const std::string other = TestPath("other.sqlite");
  ASSERT_THAT(
      SqliteDatabase::Open(other, {})->Execute("CREATE TABLE theirs(x)"),
      IsOk());
  const std::string before = ReadTestFile(other);
  EXPECT_THAT(OpenTrialDatabase(other, {}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("another program")));
  EXPECT_EQ(ReadTestFile(other), before);
}

}  // namespace
}  // namespace footprint
