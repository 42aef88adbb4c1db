#include "footprint/profiling/reports/csv_report.h"

#include <string>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/base/text/csv_parser.h"
#include "footprint/profiling/example_runs/example_runs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

std::vector<std::vector<std::string>> Parse(const std::string& csv) {
  std::vector<std::vector<std::string>> rows(1);
  CsvParser fields("csv", csv);
  while (fields.Next()) {
    rows.back().emplace_back(fields.text());
    if (fields.is_last_in_record()) rows.emplace_back();
  }
  EXPECT_THAT(fields.status(), IsOk());
  if (rows.back().empty()) rows.pop_back();
  return rows;
}

TEST(CsvReportTest, HasAPlaceARow) {
  const auto rows = Parse(CsvReport(FullRun()));
  ASSERT_GT(rows.size(), 3u);
  EXPECT_EQ(rows[0].size(), 14u);
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
  EXPECT_EQ(rows[0][6], "at_peak_bytes");
  EXPECT_EQ(rows[1][0], "100");
  EXPECT_EQ(rows[1][1], "python3 train.py");
  EXPECT_EQ(rows[1][2], "PyArray_NewFromDescr");
  EXPECT_EQ(rows[1][3], "ctors.c");
  EXPECT_EQ(rows[1][4], "830");
  EXPECT_EQ(rows[1][6], "7340032");
}

TEST(CsvReportTest, WhatIsNotKnownIsEmpty) {
  MeasuredRun run = FullRun();
  run.mutable_images(0)->set_has_totals(false);
  const auto rows = Parse(CsvReport(run));
  EXPECT_EQ(rows[1][12], "");
  EXPECT_EQ(rows[1][13], "");
  EXPECT_EQ(Parse(CsvReport(MeasuredRun())).size(), 1u) << "the headings";
}

// A spreadsheet evaluates a cell that begins with a sign.
TEST(CsvReportTest, NamesAreNoFormulasAndQuotesAreDoubled) {
  for (const auto& row : Parse(CsvReport(RunNamed("=1+\"a\",\n2")))) {
    if (row[2] == "function") continue;
    EXPECT_THAT(row[2], testing::AnyOf("'=1+\"a\",\n2", StartsWith("[")));
  }
}

}  // namespace
}  // namespace footprint
