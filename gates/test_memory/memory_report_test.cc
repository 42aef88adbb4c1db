#include "footprint/gates/test_memory/memory_report.h"

#include <cstdint>
#include <string>
#include <vector>

#include "footprint/base/report/report.h"
#include "footprint/base/report/report_formats.h"
#include "footprint/gates/test_memory/recorded_tests.h"
#include "footprint/gates/test_memory/test_record.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RecordedTest MakeTest(const std::string& target, int64_t peak_bytes,
                      const std::string& part = "") {
  RecordedTest test;
  test.target = target;
  test.part = part;
  test.record.emplace();
  test.record->target = target;
  test.record->peak_resident_bytes = peak_bytes;
  test.record->process_count = 1;
  test.record->end = TestRecord::End::kExited;
  return test;
}

RecordedTest WithoutRecord(const std::string& target) {
  RecordedTest test;
  test.target = target;
  test.why_none = "its outputs have no record";
  return test;
}

std::vector<std::string> Names(const Report& report) {
  std::vector<std::string> names;
  for (const ReportRow& row : report.tables[0].rows) names.push_back(row.key);
  return names;
}

TEST(MemoryReportTest, SortsTargetsByTheirLargestPart) {
  const Report report =
      MakeMemoryReport({MakeTest("//a:small", 1000),
                        MakeTest("//a:sharded", 500, "shard 1 of 2"),
                        MakeTest("//a:sharded", 9000, "shard 2 of 2"),
                        MakeTest("//a:large", 8000)});
  EXPECT_THAT(Names(report),
              ElementsAre("//a:sharded", "//a:large", "//a:small"));
  EXPECT_EQ(report.tables[0].rows[0].cells[0].number, 9000);
  EXPECT_EQ(report.tables[0].rows[0].cells[6].text, "shard 2 of 2");
  EXPECT_THAT(report.warnings, IsEmpty());
}

TEST(MemoryReportTest, SaysWhichTestsHaveNoRecord) {
  const Report report = MakeMemoryReport(
      {WithoutRecord("//a:none"), MakeTest("//a:part", 7000, "run 1 of 2"),
       WithoutRecord("//a:part")});
  EXPECT_THAT(Names(report), ElementsAre("//a:part"));
  ASSERT_EQ(report.warnings.size(), 2u);
  EXPECT_EQ(report.warnings[0].text,
            "//a:none: has no peak: its outputs have no record");
}

TEST(MemoryReportTest, SaysHowATestEnded) {
  RecordedTest failed = MakeTest("//a:b", 1);
  failed.record->end = TestRecord::End::kSignalled;
  failed.record->end_number = 15;
  failed.status = "TIMEOUT";
  failed.is_cached = true;
  EXPECT_EQ(MakeMemoryReport({failed}).tables[0].rows[0].cells[6].text,
            "killed by signal 15, TIMEOUT, cached");
}

TEST(MemoryReportTest, ATerminalShowsEveryTest) {
  std::vector<RecordedTest> tests;
  for (int i = 0; i < 100; ++i) {
    tests.push_back(MakeTest("//a:t" + std::to_string(i), 7340032 + i));
  }
  const std::string text = WriteReportAs("text", MakeMemoryReport(tests));
  for (int i = 0; i < 100; ++i) {
    EXPECT_THAT(text, HasSubstr("//a:t" + std::to_string(i)));
  }
  EXPECT_THAT(text, HasSubstr("7.00 MiB"));
  EXPECT_THAT(text, HasSubstr("7,340,032"));
}

TEST(MemoryReportTest, OtherFormatsHaveTheSameFigures) {
  for (const char* const format : {"markdown", "json", "html"}) {
    const std::string text =
        WriteReportAs(format, MakeMemoryReport({MakeTest("//a:b", 7340032)}));
    EXPECT_THAT(text, HasSubstr("//a:b")) << format;
    EXPECT_THAT(text, ContainsRegex("7,?340,?032")) << format;
  }
}

}  // namespace
}  // namespace footprint
