#include "footprint/base/text/text_table.h"

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(TextTableTest, WordsBeginAtTheLeftAndFiguresEndAtTheRight) {
  const TextTable table(
      {{"name", TextTable::kWords, 6}, {"bytes", TextTable::kFigures}, {"of"}});
  EXPECT_EQ(table.Headings(), "name    bytes  of\n");
  EXPECT_EQ(table.Row({"a", "12", "the last"}), "a          12  the last\n");
}

TEST(TextTableTest, AWideCellPushesTheRestOfItsRow) {
  const TextTable table({{"a"}, {"b", TextTable::kFigures, 3}}, 1);
  EXPECT_EQ(table.Row({"wide", "1"}), "wide   1\n");
  EXPECT_EQ(table.Row({"x", "12345"}), "x 12345\n");
  EXPECT_EQ(table.Headings(), "a   b\n");
}

TEST(TextTableTest, FitWidensTheColumns) {
  TextTable table({{"a"}, {"b", TextTable::kFigures}, {"c"}}, 1);
  table.Fit({"four", "22", "any length"});
  table.Fit({"x", "1", ""});
  EXPECT_EQ(table.Headings(), "a     b c\n");
  EXPECT_EQ(table.Row({"x", "1", "z"}), "x     1 z\n");
}

TEST(TextTableTest, NoBlanksStandAtTheEndOfALine) {
  const TextTable table({{"a"}, {"b", TextTable::kFigures, 3}, {"note"}});
  EXPECT_EQ(table.Row({"x", "1", ""}), "x    1\n");
  EXPECT_EQ(table.Row({"", "", ""}), "\n");
}

}  // namespace
}  // namespace footprint
