#include "footprint/base/report/compare_reports.h"

#include <cstdint>
#include <string>
#include <vector>

#include "footprint/base/report/report_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Place {
  std::string name;
  int64_t bytes;
  int64_t sigma = 0;
};

Report MakeReport(const std::vector<Place>& places) {
  Report report;
  ReportTable table;
  table.heading = "Places";
  table.row_name = "place";
  table.columns = {{"at the peak", ReportUnit::kBytes},
                   {"sigma", ReportUnit::kBytes},
                   {"function"}};
  table.compared = {{0, 1}};
  for (const Place& place : places) {
    table.rows.push_back({{BytesValue(place.bytes), BytesValue(place.sigma),
                           TextValue(place.name)},
                          place.name});
  }
  report.tables.push_back(table);
  return report;
}

std::string Changes(const std::vector<Place>& before,
                    const std::vector<Place>& after) {
  const Report changes = CompareReports(MakeReport(before), MakeReport(after));
  EXPECT_EQ(changes.tables.size(), 2u);
  EXPECT_EQ(changes.tables[1].heading, "Places: at the peak");
  return TableText(changes.tables[1]);
}

TEST(CompareReportsTest, TheLargestChangeStandsFirst) {
  EXPECT_EQ(Changes({{"same", 7}, {"gone", 100}, {"grown", 10}},
                    {{"same", 7}, {"grown", 900}, {"new", 5}}),
            "at the peak  before  after  function\n"
            "     +890 B    10 B  900 B  grown\n"
            "     -100 B   100 B    0 B  gone\n"
            "       +5 B     0 B    5 B  new\n");
}

TEST(CompareReportsTest, NoChangeIsASentence) {
  EXPECT_EQ(Changes({{"same", 7}}, {{"same", 7}}), "no place has changed\n");
  EXPECT_EQ(Changes({}, {}), "no place has changed\n");
}

TEST(CompareReportsTest, WhatMayBeChanceIsCountedAlone) {
  // The sigma of the change is 5: a change of 10 is two sigmas, and 11 is more.
  EXPECT_EQ(Changes({{"a", 100, 3}}, {{"a", 110, 4}}),
            "no place has surely changed; 1 place changed by less than two "
            "sigma, which may be chance\n");
  EXPECT_EQ(Changes({{"a", 100, 3}, {"b", 5, 5}}, {{"a", 111, 4}, {"b", 6, 5}}),
            "at the peak  sigma  before  after  function\n"
            "      +11 B    5 B   100 B  111 B  a\n"
            "1 place changed by less than two sigma, which may be chance\n");
}

TEST(CompareReportsTest, RowsOfOneKeyAreOne) {
  EXPECT_THAT(Changes({{"a", 1}, {"a", 2}}, {{"a", 5}}),
              HasSubstr("       +2 B     3 B    5 B  a\n"));
  Report before = MakeReport({{"a", 1}, {"a", 2}});
  Report after = MakeReport({{"a", 5}});
  before.tables[0].compared[0].takes_largest = true;
  after.tables[0].compared[0].takes_largest = true;
  EXPECT_THAT(TableText(CompareReports(before, after).tables[1]),
              HasSubstr("       +3 B     2 B    5 B  a\n"));
}

TEST(CompareReportsTest, ARowInsideOthersIsNamedByItsKey) {
  Report before = MakeReport({{"fit", 1}});
  Report after = MakeReport({{"fit", 1}, {"epoch", 5}});
  after.tables[0].rows[1].key = "fit / epoch";
  after.tables[0].rows[1].depth = 1;
  EXPECT_THAT(TableText(CompareReports(before, after).tables[1]),
              HasSubstr("fit / epoch\n"));
}

TEST(CompareReportsTest, FiguresOfEitherReportAreCompared) {
  Report before;
  before.figures = {{"peak", BytesValue(100)},
                    {"calls", CountValue(3)},
                    {"gone", BytesValue(7)},
                    {"nothing", BytesValue(0)}};
  Report after;
  after.figures = {{"peak", BytesValue(150)},
                   {"calls", CountValue(3)},
                   {"where", TextValue("there")},
                   {"new", TimeValue(1000000000)},
                   {"nothing", BytesValue(0)}};
  after.figures[0].compared = BytesValue(120);
  EXPECT_EQ(TableText(CompareReports(before, after).tables[0]),
            "change       by  before    after  figure\n"
            " +20 B  +20.0 %   100 B    120 B  peak\n"
            "     0   +0.0 %       3        3  calls\n"
            "     -        -       -  1.000 s  new\n"
            "     -        -     7 B        -  gone\n");
  // A figure that was not measured is not 0.
  after.figures[0].value = ReportValue();
  after.figures[0].compared = ReportValue();
  EXPECT_THAT(TableText(CompareReports(before, after).tables[0]),
              HasSubstr("     -       -   100 B        -  peak\n"));
}

TEST(CompareReportsTest, ATableOfOneReportIsNotCompared) {
  const Report some = MakeReport({{"a", 5}});
  const Report gone = CompareReports(some, Report());
  EXPECT_EQ(gone.tables.size(), 1u) << "the figures";
  EXPECT_EQ(WarningsText(gone),
            "note       \"Places\" is not compared: only the earlier run has "
            "it\n");
  EXPECT_EQ(WarningsText(CompareReports(Report(), some)),
            "note       \"Places\" is not compared: only the later run has "
            "it\n");
}

TEST(CompareReportsTest, ChangesThatAreLeftOutHaveASign) {
  Report changes =
      CompareReports(MakeReport({}), MakeReport({{"a", 9}, {"b", 5}}));
  KeepFirstRows(1, &changes.tables[1]);
  EXPECT_EQ(DescribeOtherRows(changes.tables[1]), "and 1 more place: +5 B");
}

TEST(CompareReportsTest, WarningsOfBothAreNamed) {
  Report before;
  before.warnings = {{"killed"}};
  Report after;
  after.warnings = {{"odd", true}};
  EXPECT_EQ(WarningsText(CompareReports(before, after)),
            "warning    before: killed\nnote       after: odd\n");
}

TEST(CompareReportsTest, ExtremesDoNoHarm) {
  EXPECT_THAT(Changes({{"a", INT64_MIN}}, {{"a", INT64_MAX}}),
              HasSubstr("a\n"));
}

}  // namespace
}  // namespace footprint
