#include "footprint/gates/server/audit_log.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

TEST(AuditLogTest, AnEntryIsALine) {
  const std::string path = MakeAuditLogPath(TestPath(""));
  ASSERT_THAT(AppendToAuditLog(path, 1764400000,
                               {"ci", "submit", {{"bundle_sha256", "ab"}}}),
              IsOk());
  ASSERT_THAT(AppendToAuditLog(path, 0, {"uid 0", "token add", {}}), IsOk());
  EXPECT_EQ(ReadTestFile(path),
            "{\"time\":\"2025-11-29T07:06:40Z\",\"who\":\"ci\",\"action\":"
            "\"submit\",\"bundle_sha256\":\"ab\"}\n"
            "{\"time\":\"1970-01-01T00:00:00Z\",\"who\":\"uid 0\",\"action\":"
            "\"token add\"}\n");
  struct stat about;
  ASSERT_EQ(stat(path.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
}

TEST(AuditLogTest, AnEntryThatWasCutOffSpoilsNoOther) {
  const std::string path = WriteTestFile("cut.jsonl", "{\"time\":\"20");
  ASSERT_THAT(AppendToAuditLog(path, 0, {"a", "submit", {}}), IsOk());
  const std::vector<std::string> lines =
      absl::StrSplit(ReadTestFile(path), '\n');
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(nlohmann::json::parse(lines[1])["who"], "a");
}

TEST(AuditLogTest, NoTextMakesASecondLine) {
  const std::string path = TestPath("hostile.jsonl");
  ASSERT_THAT(
      AppendToAuditLog(path, 0,
                       {"a", "submit", {{"deployment", "x\n{\"who\"\xff"}}}),
      IsOk());
  const std::string text = ReadTestFile(path);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  EXPECT_EQ(nlohmann::json::parse(text)["who"], "a");
}

TEST(AuditLogTest, AFullDiskIsAnError) {
  EXPECT_THAT(AppendToAuditLog("/dev/full", 0, {"a", "submit", {}}),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(AppendToAuditLog("/no/such/folder", 0, {"a", "submit", {}}),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST(AuditLogTest, ALinkIsRefused) {
  const std::string target = TestPath("target_of_a_link");
  const std::string path = TestPath("link.jsonl");
  ASSERT_EQ(symlink(target.c_str(), path.c_str()), 0);
  EXPECT_THAT(AppendToAuditLog(path, 0, {"a", "submit", {}}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_NE(access(target.c_str(), F_OK), 0);
}

TEST(AuditLogTest, ThreadsWriteWholeLines) {
  const std::string path = TestPath("threads.jsonl");
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&path, thread] {
      for (int i = 0; i < 1000; ++i) {
        EXPECT_THAT(
            AppendToAuditLog(path, i,
                             {absl::StrCat("token", thread),
                              "submit",
                              {{"bundle_sha256", std::string(64, 'a')}}}),
            IsOk());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<std::string> lines = absl::StrSplit(ReadTestFile(path), '\n');
  ASSERT_EQ(lines.size(), 4001u);
  lines.pop_back();
  for (const std::string& line : lines) {
    EXPECT_EQ(nlohmann::json::parse(line)["action"], "submit");
  }
}

TEST(AuditLogTest, ALogThatRootMakesBelongsToTheOwnerOfTheFolder) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make files of others";
  constexpr uid_t kNobody = 65534;
  const std::string folder = TestPath("folder_of_another");
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  if (chown(folder.c_str(), kNobody, kNobody) != 0) {
    GTEST_SKIP() << "this sandbox has no second user";
  }
  const std::string path = MakeAuditLogPath(folder);
  ASSERT_THAT(AppendToAuditLog(path, 0, {"uid 0", "token add", {}}), IsOk());
  struct stat about = {};
  ASSERT_EQ(stat(path.c_str(), &about), 0);
  EXPECT_EQ(about.st_uid, kNobody);
  // A file that is not new stays whose it is.
  ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
  ASSERT_THAT(AppendToAuditLog(path, 0, {"uid 0", "token add", {}}), IsOk());
  ASSERT_EQ(stat(path.c_str(), &about), 0);
  EXPECT_EQ(about.st_uid, 0u);
}

}  // namespace
}  // namespace footprint
