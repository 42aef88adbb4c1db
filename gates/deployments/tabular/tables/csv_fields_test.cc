#include "footprint/gates/deployments/tabular/tables/csv_fields.h"

#include <sys/stat.h>

#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace tabular {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Records = std::vector<std::vector<std::string>>;

std::string WriteFile(const std::string& text) {
  const std::string path = testing::TempDir() + "/fields.csv";
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

absl::Status ReadRecords(const std::string& text, Records* records) {
  CsvFields fields;
  absl::Status status = fields.Open(WriteFile(text));
  if (!status.ok()) return status;
  bool is_new_record = true;
  while (fields.Next()) {
    if (is_new_record) records->emplace_back();
    records->back().emplace_back(fields.text());
    is_new_record = fields.is_last_in_record();
  }
  return fields.status();
}

Records MustRead(const std::string& text) {
  Records records;
  const absl::Status status = ReadRecords(text, &records);
  EXPECT_THAT(status, IsOk());
  return records;
}

std::string FindError(const std::string& text) {
  Records records;
  const absl::Status status = ReadRecords(text, &records);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  return std::string(status.message());
}

TEST(CsvFieldsTest, SkipsAByteOrderMark) {
  EXPECT_THAT(MustRead("\xef\xbb\xbf"
                       "a,b\r\n1,\"2\"\r\n"),
              ElementsAre(ElementsAre("a", "b"), ElementsAre("1", "2")));
  EXPECT_THAT(MustRead(""), ElementsAre());
}

TEST(CsvFieldsTest, NamesThePlaceOfAnError) {
  EXPECT_THAT(FindError("a,b\n1,2\"\n"), HasSubstr("fields.csv:2:4: a quote"));
}

// Some rows cross the end of the buffer.
TEST(CsvFieldsTest, ReadsAFileLargerThanItsBuffer) {
  std::string text;
  Records expected;
  for (int row = 0; row < 20'000; ++row) {
    expected.push_back({std::to_string(row), std::to_string(row % 7)});
    text += expected.back()[0] + ",\"" + expected.back()[1] + "\"\n";
  }
  EXPECT_EQ(MustRead(text), expected);
}

TEST(CsvFieldsTest, ReportsWhatCannotBeOpened) {
  EXPECT_THAT(CsvFields().Open("/missing.csv"),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(CsvFields().Open("/"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(CsvFieldsTest, ReadsAPipeAsItIsWritten) {
  const std::string path = testing::TempDir() + "/fields_pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] {
    std::ofstream pipe(path);
    pipe << "a,b" << std::flush;
    pipe << "c\n";
  });
  CsvFields fields;
  const absl::Status opened = fields.Open(path);
  writer.join();
  ASSERT_THAT(opened, IsOk());
  ASSERT_TRUE(fields.Next());
  EXPECT_EQ(fields.text(), "a");
  ASSERT_TRUE(fields.Next());
  EXPECT_EQ(fields.text(), "bc");
  EXPECT_FALSE(fields.Next());
  EXPECT_THAT(fields.status(), IsOk());
}

}  // namespace
}  // namespace tabular
}  // namespace footprint
