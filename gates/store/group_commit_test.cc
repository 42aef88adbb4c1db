#include "footprint/gates/store/group_commit.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

SqliteDatabase NewDatabase(const std::string& name) {
  absl::StatusOr<SqliteDatabase> database =
      SqliteDatabase::Open(TestPath(name), {});
  EXPECT_THAT(database, IsOk());
  EXPECT_THAT(database->Execute("PRAGMA journal_mode=WAL; "
                                "CREATE TABLE t(n INTEGER UNIQUE)"),
              IsOk());
  return *std::move(database);
}

GroupCommit::Change Insert(int number) {
  return [number](SqliteDatabase* database) {
    return database->Execute(
        absl::StrCat("INSERT INTO t VALUES(", number, ")"));
  };
}

std::string CountIn(const std::string& name) {
  return *SqliteDatabase::Open(TestPath(name), {})
              ->Ask("SELECT COUNT(*) || ' ' || TOTAL(n) FROM t");
}

TEST(GroupCommitTest, EachThreadGetsItsOwnResult) {
  GroupCommit commit(NewDatabase("threads.sqlite"));
  std::atomic<int> refused_count = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 25; ++i) {
        // All threads insert every fifth number, and only one of them may
        // succeed.
        const int number = i % 5 == 0 ? i : 1000 * thread + i;
        const absl::Status status =
            commit.Apply(Insert(number), i % 2 == 0 ? Durability::kFlush
                                                    : Durability::kKeepOnCrash);
        if (!status.ok()) ++refused_count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refused_count, 7 * 5);
  // Each thread adds 20 numbers, and 0, 5, ..., 20 are there once.
  double sum = 50;
  for (int thread = 0; thread < 8; ++thread) sum += 20000 * thread + 250;
  EXPECT_EQ(CountIn("threads.sqlite"), absl::StrCat("165 ", sum, ".0"));
}

TEST(GroupCommitTest, AChangeThatFailsIsTakenBack) {
  GroupCommit commit(NewDatabase("back.sqlite"));
  EXPECT_THAT(commit.Apply(
                  [](SqliteDatabase* database) -> absl::Status {
                    EXPECT_THAT(Insert(1)(database), IsOk());
                    return absl::UnavailableError("not now");
                  },
                  Durability::kFlush),
              StatusIs(absl::StatusCode::kUnavailable, "not now"));
  EXPECT_EQ(CountIn("back.sqlite"), "0 0.0");
  EXPECT_THAT(commit.Apply(Insert(2), Durability::kFlush), IsOk());
  EXPECT_EQ(CountIn("back.sqlite"), "1 2.0");
}

TEST(GroupCommitTest, AFullDiskPasses) {
  SqliteDatabase database = NewDatabase("full.sqlite");
  ASSERT_THAT(database.Execute("PRAGMA max_page_count=8"), IsOk());
  GroupCommit commit(std::move(database));
  const GroupCommit::Change large = [](SqliteDatabase* opened) {
    return opened->Execute("CREATE TABLE large AS SELECT zeroblob(99999)");
  };
  EXPECT_THAT(commit.Apply(large, Durability::kFlush),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(commit.Apply(Insert(2), Durability::kFlush), IsOk());
  EXPECT_EQ(CountIn("full.sqlite"), "1 2.0");
}

}  // namespace
}  // namespace footprint
