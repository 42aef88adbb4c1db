#include "footprint/gates/test_memory/recorded_tests.h"

#include <archive.h>
#include <archive_entry.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/test_memory/test_record.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string RecordText(int64_t peak_bytes,
                       const std::string& target = "//a:b") {
  TestRecord record;
  record.target = target;
  record.peak_resident_bytes = peak_bytes;
  return WriteTestRecord(record);
}

// Writes an archive of a file beside the record.
void WriteZip(const std::string& path, const std::string& record) {
  archive* const zip = archive_write_new();
  archive_write_set_format_zip(zip);
  ASSERT_EQ(archive_write_open_filename(zip, path.c_str()), ARCHIVE_OK);
  for (const auto& [name, text] :
       {std::pair<std::string, std::string>("report.txt", "other"),
        std::pair<std::string, std::string>(kTestRecordName, record)}) {
    archive_entry* const entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_size(entry, static_cast<int64_t>(text.size()));
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    ASSERT_EQ(archive_write_header(zip, entry), ARCHIVE_OK);
    archive_write_data(zip, text.data(), text.size());
    archive_entry_free(entry);
  }
  ASSERT_EQ(archive_write_free(zip), ARCHIVE_OK);
}

// A folder of test logs for one test.
std::string NewTestlogs(const std::string& name) {
  const std::string folder = TestPath(name);
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

std::string MakeOutputs(const std::string& testlogs, const std::string& test) {
  const std::string outputs =
      absl::StrCat(testlogs, "/", test, "/test.outputs");
  fs::create_directories(outputs);
  return outputs;
}

// Returns "TARGET PART PEAK" of each test below the folder.
std::vector<std::string> FindNames(const std::string& testlogs) {
  const absl::StatusOr<std::vector<RecordedTest>> tests =
      FindRecordedTests(testlogs);
  EXPECT_THAT(tests, IsOk());
  std::vector<std::string> names;
  if (!tests.ok()) return names;
  for (const RecordedTest& test : *tests) {
    names.push_back(absl::StrCat(
        test.target, " ", test.part, " ",
        test.record.has_value() ? test.record->peak_resident_bytes : -1));
  }
  return names;
}

TEST(RecordedTestsTest, FindsRecordsInArchivesAndFolders) {
  const std::string logs = NewTestlogs("found");
  WriteZip(MakeOutputs(logs, "app/load_test") + "/outputs.zip",
           RecordText(1, "//app:load_test"));
  ASSERT_THAT(
      ReplaceFile(
          MakeOutputs(logs, "app/deep/plain_test") + "/" + kTestRecordName,
          RecordText(2, "//app/deep:plain_test"), ToDisk::kNoFsync),
      IsOk());
  WriteZip(MakeOutputs(logs, "app/many_test/shard_2_of_3_run_1_of_2") +
               "/outputs.zip",
           RecordText(3, "//app:many_test"));
  WriteZip(MakeOutputs(logs, "external/other/app/x_test") + "/outputs.zip",
           RecordText(4, "@@other//app:x_test"));
  WriteZip(MakeOutputs(logs, "top_test") + "/outputs.zip",
           RecordText(5, "//:top_test"));
  MakeOutputs(logs, "app/unrecorded_test");
  EXPECT_THAT(
      FindNames(logs),
      ::testing::ElementsAre("//app/deep:plain_test  2", "//app:load_test  1",
                             "//app:many_test shard 2 of 3, run 1 of 2 3",
                             "@@other//app:x_test  4", "//:top_test  5"));
}

// A folder's name alone does not tell a part from a test, nor a package from a
// name.
TEST(RecordedTestsTest, ATestHasTheNameThatItsRecordSays) {
  const std::string logs = NewTestlogs("named");
  for (const auto& [folder, target] :
       {std::pair("a/run_of_mill_test", "//a:run_of_mill_test"),
        std::pair("a/shard_1_of_2", "//a:shard_1_of_2"),
        std::pair("app/sub/x_test", "//app:sub/x_test"),
        std::pair("app/sub/y_test/run_2_of_3", "//app:sub/y_test")}) {
    WriteZip(MakeOutputs(logs, folder) + "/outputs.zip", RecordText(1, target));
  }
  EXPECT_THAT(FindNames(logs),
              ::testing::ElementsAre(
                  "//a:run_of_mill_test  1", "//a:shard_1_of_2  1",
                  "//app:sub/x_test  1", "//app:sub/y_test run 2 of 3 1"));
}

TEST(RecordedTestsTest, ATestWithoutARecordHasTheNameOfItsFolder) {
  const std::string logs = NewTestlogs("unnamed");
  for (const char* const folder :
       {"a/run_of_mill_test", "a/run_x_of_2", "app/many_test/run_2_of_3",
        "app/many_test/shard_1_of_2", "external/other/app/x_test",
        "top_test"}) {
    WriteZip(MakeOutputs(logs, folder) + "/outputs.zip", "{");
  }
  EXPECT_THAT(
      FindNames(logs),
      ::testing::ElementsAre("//a:run_of_mill_test  -1", "//a:run_x_of_2  -1",
                             "//app:many_test run 2 of 3 -1",
                             "//app:many_test shard 1 of 2 -1",
                             "@other//app:x_test  -1", "//:top_test  -1"));
}

// The kernel refuses to list the network of a process that has ended.
TEST(RecordedTestsTest, AFolderThatCannotBeReadIsNoShortTable) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(0);
  siginfo_t ended;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT),
            0);
  EXPECT_THAT(FindRecordedTests(absl::StrCat("/proc/", child, "/net")),
              StatusIs(::testing::_, HasSubstr("cannot be read")));
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
}

// Ends with 0 if the tests of a folder cannot be found, as for a user who may
// not read all of it.
void FindWithoutCapabilities(const std::string& root) {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  if (syscall(SYS_capset, &header, none) != 0) std::_Exit(2);
  const absl::Status status = FindRecordedTests(root).status();
  std::fputs(std::string(status.message()).c_str(), stderr);
  std::_Exit(status.ok() ? 1 : 0);
}

TEST(RecordedTestsDeathTest, AClosedFolderIsNoShortTable) {
  const std::string root = TestPath("with_closed");
  const std::string closed = root + "/closed";
  std::filesystem::create_directories(closed);
  ASSERT_EQ(chmod(closed.c_str(), 0), 0);
  EXPECT_EXIT(FindWithoutCapabilities(root), testing::ExitedWithCode(0),
              "cannot be read");
  ASSERT_EQ(chmod(closed.c_str(), 0700), 0);
}

TEST(RecordedTestsTest, SaysWhichRecordsAreDamaged) {
  const std::string logs = NewTestlogs("damaged");
  const std::string zip = MakeOutputs(logs, "app/cut_test") + "/outputs.zip";
  WriteZip(zip, RecordText(1));
  fs::resize_file(zip, fs::file_size(zip) / 3);
  const std::string text = RecordText(1);
  WriteZip(MakeOutputs(logs, "app/half_test") + "/outputs.zip",
           text.substr(0, text.size() / 2));
  const absl::StatusOr<std::vector<RecordedTest>> tests =
      FindRecordedTests(logs);
  ASSERT_THAT(tests, IsOk());
  ASSERT_THAT(*tests, SizeIs(2));
  EXPECT_FALSE((*tests)[0].record.has_value());
  EXPECT_THAT((*tests)[1].why_none, HasSubstr("is damaged"));
}

TEST(RecordedTestsTest, SaysWhatToDoWithoutTestLogs) {
  EXPECT_THAT(FindRecordedTests(TestPath("nowhere")),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("bazel test --config=memory_report")));
  const absl::StatusOr<std::vector<RecordedTest>> none =
      FindRecordedTests(NewTestlogs("empty"));
  ASSERT_THAT(none, IsOk());
  EXPECT_THAT(*none, IsEmpty());
}

// Two shards, of which one is cached; a test that timed out without a record;
// one whose outputs are elsewhere.
std::string Events(const std::string& logs) {
  return absl::StrReplaceAll(
      R"({"id":{"started":{}},"started":{"command":"test"}}
{"id":{"testResult":{"label":"//a:many","run":1,"shard":1,"attempt":1}},"testResult":{"status":"PASSED","testActionOutput":[{"name":"test.log","uri":"file://LOGS/a/many/shard_1_of_2/test.log"},{"name":"test.outputs__outputs.zip","uri":"file://LOGS/a/many/shard_1_of_2/test.outputs/outputs.zip"}]}}
{"id":{"testResult":{"label":"//a:many","run":1,"shard":2,"attempt":1}},"testResult":{"status":"FAILED","cachedLocally":true,"testActionOutput":[{"name":"test.outputs__outputs.zip","uri":"file://LOGS/a/many/shard_2%5Fof_2/test.outputs/outputs.zip"}]}}
{"id":{"testResult":{"label":"//a:slow","run":1,"shard":1,"attempt":1}},"testResult":{"status":"TIMEOUT"}}
{"id":{"testResult":{"label":"//a:far","run":1,"shard":1,"attempt":1}},"testResult":{"status":"PASSED","executionInfo":{"cachedRemotely":true},"testActionOutput":[{"name":"test.outputs__outputs.zip","uri":"bytestream://host/blobs/1"}]}}
{"id":{"buildFinished":{}},"finished":{},"lastMessage":true}
)",
      {{"LOGS", logs}});
}

TEST(RecordedTestsTest, ReadsTheTestsOfOneInvocation) {
  const std::string logs = NewTestlogs("events");
  WriteZip(MakeOutputs(logs, "a/many/shard_1_of_2") + "/outputs.zip",
           RecordText(10));
  WriteZip(MakeOutputs(logs, "a/many/shard_2_of_2") + "/outputs.zip",
           RecordText(20));
  const absl::StatusOr<std::vector<RecordedTest>> tests =
      ReadTestEvents(WriteTestFile("events.json", Events(logs)));
  ASSERT_THAT(tests, IsOk());
  ASSERT_THAT(*tests, SizeIs(4));
  EXPECT_EQ((*tests)[0].part, "shard 1 of 2");
  EXPECT_EQ((*tests)[0].record->peak_resident_bytes, 10);
  EXPECT_FALSE((*tests)[0].is_cached);
  EXPECT_EQ((*tests)[1].record->peak_resident_bytes, 20);
  EXPECT_TRUE((*tests)[1].is_cached);
  EXPECT_EQ((*tests)[1].status, "FAILED");
  EXPECT_EQ((*tests)[2].target, "//a:slow");
  EXPECT_EQ((*tests)[2].part, "");
  EXPECT_EQ((*tests)[2].why_none, "its outputs have no record");
  EXPECT_TRUE((*tests)[3].is_cached);
  EXPECT_THAT((*tests)[3].why_none, HasSubstr("not on this machine"));
}

TEST(RecordedTestsTest, RefusesEventsThatAreCutShort) {
  const std::string whole = Events("/nowhere");
  for (size_t size = 0; size + 3 < whole.size(); size += 7) {
    EXPECT_THAT(
        ReadTestEvents(WriteTestFile("cut.json", whole.substr(0, size))),
        StatusIs(absl::StatusCode::kInvalidArgument))
        << size;
  }
  EXPECT_THAT(ReadTestEvents(TestPath("no_such_file.json")),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace footprint
