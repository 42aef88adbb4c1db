#include "footprint/gates/store/sqlite_database.h"

#include <string>
#include <utility>

#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

SqliteDatabase NewDatabase(const std::string& name) {
  absl::StatusOr<SqliteDatabase> database =
      SqliteDatabase::Open(TestPath(name), {});
  EXPECT_THAT(database, IsOk());
  EXPECT_THAT(database->Execute("CREATE TABLE t(name TEXT UNIQUE, n INTEGER)"),
              IsOk());
  return *std::move(database);
}

TEST(SqliteDatabaseTest, WhatIsBoundIsReadBack) {
  SqliteDatabase database = NewDatabase("bound.sqlite");
  const std::string bytes("a\0b\xff", 4);
  absl::StatusOr<SqliteStatement> insert =
      database.Prepare("INSERT INTO t VALUES(?, ?)");
  ASSERT_THAT(insert, IsOk());
  ASSERT_THAT(insert->BindBytes(1, bytes).BindInt(2, -7).Run(), IsOk());
  absl::StatusOr<SqliteStatement> select =
      database.Prepare("SELECT name, n, NULL FROM t");
  ASSERT_THAT(select, IsOk());
  ASSERT_THAT(select->Step(), IsOkAndHolds(true));
  EXPECT_EQ(select->Text(0), bytes);
  EXPECT_EQ(select->Int(1), -7);
  EXPECT_TRUE(select->IsNull(2));
  EXPECT_FALSE(select->IsNull(1));
  EXPECT_EQ(select->Text(2), "");
  EXPECT_THAT(select->Step(), IsOkAndHolds(false));
}

TEST(SqliteDatabaseTest, AStatementRunsAgainAfterAnError) {
  SqliteDatabase database = NewDatabase("again.sqlite");
  absl::StatusOr<SqliteStatement> insert =
      database.Prepare("INSERT INTO t VALUES(?, 1)");
  ASSERT_THAT(insert, IsOk());
  EXPECT_THAT(insert->BindText(1, "a").Run(), IsOk());
  EXPECT_THAT(insert->BindText(1, "a").Run(),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("UNIQUE")));
  EXPECT_THAT(insert->BindText(1, "b").Run(), IsOk());
  EXPECT_THAT(database.Ask("SELECT COUNT(*) FROM t"), IsOkAndHolds("2"));
}

TEST(SqliteDatabaseTest, ErrorsSayWhereAndWhat) {
  EXPECT_THAT(SqliteDatabase::Open("/no/such/folder/x", {}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/no/such")));
  const std::string path = WriteTestFile("text.sqlite", std::string(5000, 'x'));
  absl::StatusOr<SqliteDatabase> text = SqliteDatabase::Open(path, {});
  ASSERT_THAT(text, IsOk());
  EXPECT_THAT(text->Execute("SELECT * FROM sqlite_schema"),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr(path)));
  SqliteDatabase database = NewDatabase("full.sqlite");
  ASSERT_THAT(database.Execute("PRAGMA max_page_count=4"), IsOk());
  EXPECT_THAT(database.Execute("INSERT INTO t VALUES(randomblob(99999), 1)"),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST(SqliteDatabaseTest, ABackupIsOfOneMoment) {
  SqliteDatabase database = NewDatabase("live.sqlite");
  ASSERT_THAT(database.Execute("PRAGMA journal_mode=WAL; "
                               "INSERT INTO t VALUES('a', 1)"),
              IsOk());
  const std::string copy_path = TestPath("copy.sqlite");
  ASSERT_THAT(database.BackUp(copy_path), IsOk());
  ASSERT_THAT(database.Execute("INSERT INTO t VALUES('b', 2)"), IsOk());
  SqliteOptions read_only;
  read_only.is_read_only = true;
  absl::StatusOr<SqliteDatabase> copy =
      SqliteDatabase::Open(copy_path, read_only);
  ASSERT_THAT(copy, IsOk());
  EXPECT_THAT(copy->Ask("SELECT group_concat(name) FROM t"), IsOkAndHolds("a"));
  EXPECT_THAT(copy->Execute("DELETE FROM t"),
              StatusIs(absl::StatusCode::kPermissionDenied));
}

}  // namespace
}  // namespace footprint
