#include "footprint/gates/test_memory/test_record.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_replace.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;

TestRecord Example() {
  TestRecord record;
  record.target = "//app:load_test";
  record.peak_resident_bytes = 7340032;
  record.anonymous_bytes = 5000000;
  record.file_bytes = 2000000;
  record.shared_bytes = 340032;
  record.process_count = 3;
  record.end = TestRecord::End::kSignalled;
  record.end_number = 9;
  return record;
}

TEST(TestRecordTest, ReadsWhatItWrote) {
  const absl::StatusOr<TestRecord> read =
      ParseTestRecord(WriteTestRecord(Example()));
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->target, "//app:load_test");
  EXPECT_EQ(read->peak_resident_bytes, 7340032);
  EXPECT_EQ(read->anonymous_bytes, 5000000);
  EXPECT_EQ(read->file_bytes, 2000000);
  EXPECT_EQ(read->shared_bytes, 340032);
  EXPECT_EQ(read->process_count, 3);
  EXPECT_EQ(read->end, TestRecord::End::kSignalled);
  EXPECT_EQ(read->end_number, 9);
}

TEST(TestRecordTest, DescribesHowATestEnded) {
  TestRecord record = Example();
  EXPECT_EQ(DescribeTestEnd(record), "killed by signal 9");
  record.end = TestRecord::End::kRunning;
  EXPECT_EQ(DescribeTestEnd(record), "not ended");
  record.end = TestRecord::End::kExited;
  EXPECT_EQ(DescribeTestEnd(record), "exit status 9");
  record.end_number = 0;
  EXPECT_EQ(DescribeTestEnd(record), "");
}

TEST(TestRecordTest, RefusesEveryPartOfARecord) {
  const std::string whole = WriteTestRecord(Example());
  // The last two bytes are the brace and the newline.
  for (size_t size = 0; size + 2 < whole.size(); ++size) {
    EXPECT_THAT(ParseTestRecord(whole.substr(0, size)),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << size;
  }
}

TEST(TestRecordTest, RefusesWrongValues) {
  const std::string good = WriteTestRecord(Example());
  for (const auto& [from, to] :
       {std::pair("7340032", "-1"), std::pair("7340032", "1e3"),
        std::pair("7340032", "18446744073709551615"),
        std::pair("\"signalled\"", "\"asleep\""),
        std::pair("\"signalled\"", "3"), std::pair("\"//app:load_test\"", "[]"),
        std::pair("\"process_count\"", "\"processes\"")}) {
    EXPECT_THAT(ParseTestRecord(absl::StrReplaceAll(good, {{from, to}})),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("run the test again")))
        << from << " -> " << to;
  }
  EXPECT_THAT(ParseTestRecord(absl::StrReplaceAll(
                  good, {{"\"schema_version\": 1", "\"schema_version\": 2"}})),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the same version")));
  EXPECT_THAT(ParseTestRecord(good + std::string(kMostTestRecordBytes, ' ')),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace footprint
