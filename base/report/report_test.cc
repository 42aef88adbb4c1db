#include "footprint/base/report/report.h"

#include <cstdint>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

ReportValue Changed(ReportValue value) {
  value.is_change = true;
  return value;
}

TEST(ReportTest, AValueIsWrittenInItsUnit) {
  EXPECT_EQ(WriteValue(ReportValue()), "-");
  EXPECT_EQ(WriteValue(TextValue("a\nb")), "a\\nb");
  EXPECT_EQ(WriteValue(BytesValue(12 << 20)), "12.0 MiB");
  EXPECT_EQ(WriteValue(CountValue(1234567)), "1,234,567");
  EXPECT_EQ(WriteValue(NumberValue(1234567)), "1234567");
  EXPECT_EQ(WriteValue(TimeValue(1500000000)), "1.500 s");
  EXPECT_EQ(WriteValue(ShareValue(1, 8)), "12.5 %");
  EXPECT_EQ(WriteValue(ShareValue(1, 0)), "-");
  EXPECT_EQ(WriteValue(RateValue(2048)), "2.00 KiB/s");
  ReportValue blank;
  blank.unit = ReportUnit::kBlank;
  EXPECT_EQ(WriteValue(blank), "");
}

TEST(ReportTest, AChangeHasASign) {
  EXPECT_EQ(WriteValue(Changed(BytesValue(1536))), "+1.50 KiB");
  EXPECT_EQ(WriteValue(Changed(BytesValue(-1536))), "-1.50 KiB");
  EXPECT_EQ(WriteValue(Changed(BytesValue(0))), "0 B");
  EXPECT_EQ(WriteValue(Changed(ShareValue(1, 8))), "+12.5 %");
  EXPECT_EQ(WriteValue(Changed(ShareValue(-1, 8))), "-12.5 %");
  EXPECT_EQ(WriteValue(Changed(ShareValue(3, 0))), "new");
  EXPECT_EQ(WriteValue(Changed(ShareValue(0, 0))), "0.0 %");
  EXPECT_EQ(WriteExactValue(Changed(BytesValue(1536))), "+1.50 KiB (1,536 B)");
}

TEST(ReportTest, TheExactFigureStandsBehindBytesAlone) {
  EXPECT_EQ(WriteExactValue(BytesValue(1536)), "1.50 KiB (1,536 B)");
  EXPECT_EQ(WriteExactValue(CountValue(1536)), "1,536");
}

TEST(ReportTest, ALongTextIsCutAtAWholeCharacter) {
  EXPECT_EQ(ShortenText("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(ShortenText("abcdefghi", 8), "abcde...");
  // A character has two bytes, so the third byte is in the middle of the second
  // one.
  EXPECT_EQ(ShortenText("\u00e9\u00e9\u00e9\u00e9", 6), "\u00e9...");
  EXPECT_EQ(ShortenText("\u00e9\u00e9\u00e9\u00e9", 7), "\u00e9\u00e9...");
  EXPECT_EQ(ShortenPath("abcdefghi", 8), "...efghi");
  EXPECT_EQ(ShortenPath("\u00e9\u00e9\u00e9\u00e9", 6), "...\u00e9");
  EXPECT_EQ(WriteValue(PathValue("/home/train.cc:31"), 10), "...n.cc:31");
}

TEST(ReportTest, RowsThatAreLeftOutAreCountedAndSummed) {
  ReportTable table;
  table.row_name = "process";
  table.columns = {{"own peak", ReportUnit::kBytes}};
  table.sum_column = 0;
  for (int64_t i = 1; i <= 4; ++i) table.rows.push_back({{BytesValue(i)}});
  EXPECT_EQ(DescribeOtherRows(table), "");
  KeepFirstRows(4, &table);
  EXPECT_EQ(DescribeOtherRows(table), "");
  KeepFirstRows(3, &table);
  EXPECT_EQ(DescribeOtherRows(table), "and 1 more process: 4 B");
  KeepFirstRows(1, &table);
  EXPECT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(DescribeOtherRows(table), "and 3 more processes: 9 B");
  table.sum_column = ComparedColumn::kNone;
  EXPECT_EQ(DescribeOtherRows(table), "and 3 more processes");
}

TEST(ReportTest, ASumThatHasNoRoomIsTheLargest) {
  ReportTable table;
  table.columns = {{"peak", ReportUnit::kCount}};
  table.sum_column = 0;
  table.rows = {{{CountValue(INT64_MAX)}}, {{CountValue(INT64_MAX)}}};
  KeepFirstRows(0, &table);
  EXPECT_EQ(table.other_sum, INT64_MAX);
}

TEST(ReportTest, NamesInFilesSayTheUnit) {
  EXPECT_EQ(KeyOfColumn({"at the peak", ReportUnit::kBytes}),
            "at_the_peak_bytes");
  EXPECT_EQ(KeyOfColumn({"time", ReportUnit::kNanoseconds}), "time_ns");
  EXPECT_EQ(KeyOfColumn({"growth", ReportUnit::kBytesPerSecond}),
            "growth_bytes_per_s");
  EXPECT_EQ(KeyOfColumn({"share", ReportUnit::kShare}), "share");
  EXPECT_EQ(KeyOfName("Whose data: the peak!"), "whose_data_the_peak");
}

}  // namespace
}  // namespace footprint
