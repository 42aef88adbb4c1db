#include "footprint/gates/test_memory/recorded_tests.h"

#include <archive.h>
#include <archive_entry.h>

#include <cstdint>
#include <filesystem>
#include <string>
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

std::string RecordText(int64_t peak_bytes) {
  TestRecord record;
  record.target = "//a:b";
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

TEST(RecordedTestsTest, FindsRecordsInArchivesAndFolders) {
  const std::string logs = NewTestlogs("found");
  WriteZip(MakeOutputs(logs, "app/load_test") + "/outputs.zip", RecordText(1));
  ASSERT_THAT(ReplaceFile(MakeOutputs(logs, "app/deep/plain_test") + "/" +
                              kTestRecordName,
                          RecordText(2), ToDisk::kNoFsync),
              IsOk());
  WriteZip(MakeOutputs(logs, "app/many_test/shard_2_of_3_run_1_of_2") +
               "/outputs.zip",
           RecordText(3));
  WriteZip(MakeOutputs(logs, "external/other/app/x_test") + "/outputs.zip",
           RecordText(4));
  WriteZip(MakeOutputs(logs, "top_test") + "/outputs.zip", RecordText(5));
  MakeOutputs(logs, "app/unrecorded_test");
  const absl::StatusOr<std::vector<RecordedTest>> tests =
      FindRecordedTests(logs);
  ASSERT_THAT(tests, IsOk());
  std::vector<std::string> names;
  for (const RecordedTest& test : *tests) {
    ASSERT_TRUE(test.record.has_value()) << test.why_none;
    names.push_back(absl::StrCat(test.target, " ", test.part, " ",
                                 test.record->peak_resident_bytes));
  }
  EXPECT_THAT(names, ::testing::ElementsAre(
                         "//app/deep:plain_test  2", "//app:load_test  1",
                         "//app:many_test shard 2 of 3, run 1 of 2 3",
                         "@other//app:x_test  4", "//:top_test  5"));
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
