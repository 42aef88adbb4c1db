// Tests of the promises of csv_table.h.

#include "footprint/gates/deployments/tabular/tables/csv_table.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace tabular {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

using Rows = std::vector<std::vector<double>>;

std::string WriteFile(const std::string& text) {
  const std::string path = testing::TempDir() + "/table.csv";
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Rows ListRows(const Table& table) {
  Rows rows;
  for (size_t row = 0; row < table.row_count(); ++row) {
    rows.emplace_back(table.Row(row), table.Row(row) + table.column_count());
  }
  return rows;
}

Rows MustRead(const std::string& text, const CsvColumns& columns = {}) {
  const absl::StatusOr<Table> table = ReadCsvTable(WriteFile(text), columns);
  EXPECT_THAT(table, IsOk());
  return table.ok() ? ListRows(*table) : Rows();
}

std::string FindError(const std::string& text, const CsvColumns& columns = {}) {
  const absl::StatusOr<Table> table = ReadCsvTable(WriteFile(text), columns);
  EXPECT_THAT(table, Not(IsOk()));
  return table.status().ToString();
}

TEST(CsvTableTest, ReadsNumbersInEveryUsualForm) {
  EXPECT_THAT(MustRead("a,b,c\n1,-2.5,3e2\n\"4\", .5 ,\t-0\n"),
              ElementsAre(ElementsAre(1, -2.5, 300), ElementsAre(4, .5, 0)));
}

// pandas 1.5 and numpy 1.24 read these numbers the same way.
TEST(CsvTableTest, ReadsPlusSignsAndNumbersTooSmallForADouble) {
  EXPECT_THAT(MustRead("a,b,c\n+1, +.5,+2e+1\n1e-400,-1e-400,1e-320\n"),
              ElementsAre(ElementsAre(1, .5, 20), ElementsAre(0, 0, 1e-320)));
  // ElementsAre does not tell -0 from 0.
  const Rows rows = MustRead("a,b\n1,-1e-400\n");
  ASSERT_THAT(rows, ElementsAre(SizeIs(2)));
  EXPECT_TRUE(std::signbit(rows[0][1]));
  for (const char* text : {"+", "++1", "+-1", "-+1", "+ 1", "+nan", "+inf"}) {
    EXPECT_THAT(FindError(absl::StrCat("a,b\n1,", text, "\n")),
                HasSubstr("finite number"))
        << text;
  }
  EXPECT_THAT(FindError("a,b\n1,+1e400\n"), HasSubstr("range of a double"));
  EXPECT_THAT(FindError("a,b\n1,-1e400\n"), HasSubstr("range of a double"));
}

TEST(CsvTableTest, SkipsBlankLinesAtTheEndOnly) {
  for (const char* end : {"\n", "\n\n", "\r\n", "  \t\n\n", " "}) {
    EXPECT_THAT(MustRead(absl::StrCat("a,b\n1,2\n", end)),
                ElementsAre(ElementsAre(1, 2)));
    EXPECT_THAT(MustRead(absl::StrCat("a\n1\n", end)),
                ElementsAre(ElementsAre(1)));
  }
  EXPECT_THAT(FindError("a,b\n1,2\n\n3,4\n"),
              HasSubstr("table.csv:3:1: a blank line, and rows after it"));
  EXPECT_THAT(FindError("\na,b\n1,2\n"),
              HasSubstr("table.csv:1:1: the first line is blank"));
  EXPECT_THAT(FindError("a,b\n\n"), HasSubstr("no rows follow"));
  // A missing value is not a blank line.
  EXPECT_THAT(FindError("a\n1\n\"\"\n"), HasSubstr("but is \"\""));
  EXPECT_THAT(FindError("a,b\n1,2\n,\n"), HasSubstr("but is \"\""));
}

TEST(CsvTableTest, RefusesToTakeARowForTheHeader) {
  EXPECT_THAT(
      FindError("1,2\n3,4\n"),
      HasSubstr("table.csv:1:1: the first line should name the columns, "
                "but its field 1 is \"1\", as a row's would be; say "
                "--header=no if it is a row, --header=yes if its names are "
                "like that"));
  EXPECT_THAT(FindError("\"1\",+2e400\n3,4\n"), HasSubstr("--header=no"));
  CsvColumns columns;
  columns.ignored = {"19-Sep-03"};
  EXPECT_THAT(FindError("19-Sep-03,1,2\n18-Sep-03,3,4\n", columns),
              HasSubstr("--header=no"));
  // One field is enough: a number, or a word for a missing one.
  for (const char* first :
       {"NA,2,3",   ",2,3",         "nan,inf,1e999", "x,y,2021", "0,1,target",
        "a,,c",     "a,\"\",c",     "a, ,c",         "a,b,NaN",  "a,b,-inf",
        "a,b,+1.5", "a,b,N/A",      "a,b,null",      "a,b,None", "a,b,?",
        "a,b,-",    "a,b,Infinity", "a,b, NA ",      "a,b,#N/A", "a,b,+nan"}) {
    const std::string text = absl::StrCat(first, "\n3,4,5\n");
    EXPECT_THAT(FindError(text), HasSubstr("as a row's would be")) << first;
    CsvColumns named;
    named.header = CsvHeader::kYes;
    EXPECT_THAT(MustRead(text, named), ElementsAre(ElementsAre(3, 4, 5)));
  }
  EXPECT_THAT(FindError("a,b,2021\n3,4,5\n"),
              HasSubstr("but its field 3 is \"2021\""));
  // These names only begin like such a word: Na (sodium) is not a missing
  // value.
  EXPECT_THAT(MustRead("RI,Na,1st,e,x1,info,-x\n1,2,3,4,5,6,7\n"),
              ElementsAre(ElementsAre(1, 2, 3, 4, 5, 6, 7)));
  // A number that the command line names is a column's name.
  columns.ignored = {"0"};
  EXPECT_THAT(MustRead("0,a\n3,4\n", columns), ElementsAre(ElementsAre(4)));
}

TEST(CsvTableTest, ReadsTheFirstLineAsItIsTold) {
  CsvColumns columns;
  columns.header = CsvHeader::kYes;
  EXPECT_THAT(MustRead("1,2\n3,4\n", columns), ElementsAre(ElementsAre(3, 4)));
  columns.header = CsvHeader::kNo;
  EXPECT_THAT(MustRead("1,2\n3,4\n", columns),
              ElementsAre(ElementsAre(1, 2), ElementsAre(3, 4)));
  EXPECT_THAT(MustRead("1,2", columns), ElementsAre(ElementsAre(1, 2)));
  EXPECT_THAT(FindError("a,b\n3,4\n", columns),
              HasSubstr("table.csv:1:1: field 1 should be a finite number"));
  EXPECT_THAT(FindError("1,2\n3\n", columns),
              HasSubstr("1 fields where the first line has 2"));
  EXPECT_THAT(FindError("1,2\n3,4,5\n", columns),
              HasSubstr("where the first line has only 2"));
  columns.target = "2";
  columns.ignored = {"1"};
  EXPECT_THAT(MustRead("19-Sep-03,1,2\n18-Sep-03,3,4\n", columns),
              ElementsAre(ElementsAre(2, 1), ElementsAre(4, 3)));
  columns.target = "close";
  EXPECT_THAT(FindError("x,1,2\n", columns),
              HasSubstr("no column \"close\"; without a header they are named "
                        "1 to 3"));
}

TEST(CsvTableTest, RefusesTwoColumnsOfOneName) {
  EXPECT_THAT(FindError("a,b,a\n1,2,3\n"),
              HasSubstr("table.csv:1:5: columns 1 and 3 are both named \"a\""));
  CsvColumns columns;
  columns.target = "a";
  EXPECT_THAT(FindError("a,b,a\n1,2,3\n", columns), HasSubstr("both named"));
  columns.ignored = {"a"};
  EXPECT_THAT(FindError("a,b\n1,2\n", columns),
              HasSubstr("\"a\" is the target and is ignored"));
  columns.target = "";
  columns.ignored = {"a", "a"};
  EXPECT_THAT(MustRead("a,b\n1,2\n", columns), ElementsAre(ElementsAre(2)));
}

TEST(CsvTableTest, HintsAtAnotherDelimiterAndTakesIt) {
  struct Case {
    char delimiter;
    const char* hint;
  };
  for (const Case& c :
       {Case{';', "--delimiter=\";\""}, Case{'\t', "--delimiter=tab"},
        Case{'|', "--delimiter=\"|\""}, Case{' ', "--delimiter=\" \""}}) {
    const std::string part(1, c.delimiter);
    const std::string header = "a" + part + "b\n";
    EXPECT_THAT(FindError(header + "1" + part + "2\n"), HasSubstr(c.hint));
    EXPECT_THAT(FindError(header + "1,5" + part + "2,5\n"), HasSubstr(c.hint));
    EXPECT_THAT(FindError(header), HasSubstr(c.hint));
    EXPECT_THAT(FindError("a,b\n1" + part + "2,3\n"), HasSubstr(c.hint));
    CsvColumns columns;
    columns.target = "a";
    EXPECT_THAT(FindError(header + "1" + part + "2\n", columns),
                HasSubstr(c.hint));
    columns.delimiter = c.delimiter;
    EXPECT_THAT(MustRead(header + "1" + part + "2\n", columns),
                ElementsAre(ElementsAre(2, 1)));
    EXPECT_THAT(FindError(header + "1,5" + part + "2\n", columns),
                HasSubstr("decimal comma, write a point"));
  }
  // This may be a blank beside the number, or a missing value.
  EXPECT_THAT(FindError("a\tb\n\t5\n"), HasSubstr("--delimiter=tab"));
}

TEST(CsvTableTest, PlacesTheTargetLastAndSkipsIgnoredColumns) {
  CsvColumns columns;
  columns.target = "close";
  columns.ignored = {"date"};
  EXPECT_THAT(MustRead("date,open,close,volume\n19-Sep-03,1,2,3\n", columns),
              ElementsAre(ElementsAre(1, 3, 2)));
}

TEST(CsvTableTest, SaysWhereAndWhatIsWrong) {
  EXPECT_THAT(FindError("a,b\n1,2\n3,x\n"),
              HasSubstr("table.csv:3:3: field 2 should be a finite number but "
                        "is \"x\""));
  EXPECT_THAT(FindError("a,b\n1\n"),
              HasSubstr("table.csv:2:1: the line has 1 fields where the header "
                        "has 2"));
  EXPECT_THAT(FindError("a,b\n1,2,3\n"),
              HasSubstr("table.csv:2:3: the line goes"));
  EXPECT_THAT(FindError("a,b\n1,nan\n"), HasSubstr("finite number"));
  EXPECT_THAT(FindError("a,b\n1,inf\n"), HasSubstr("finite number"));
  EXPECT_THAT(FindError("a,b\n1,1e999\n"), HasSubstr("range of a double"));
  EXPECT_THAT(FindError("a,b\n1,\n"), HasSubstr("but is \"\""));
  EXPECT_THAT(FindError("a,b\n1,2 3\n"), HasSubstr("but is \"2 3\""));
  EXPECT_THAT(FindError("a,b\n1,0x10\n"), HasSubstr("but is \"0x10\""));
  EXPECT_THAT(FindError("a,b\n1,\"2\n\"\n"), HasSubstr("but is \"2 \""));
  EXPECT_THAT(FindError(""), HasSubstr("table.csv:1:1: the file is empty"));
  EXPECT_THAT(FindError("a,b\n"), HasSubstr("no rows follow"));
}

TEST(CsvTableTest, RefusesColumnsThatTheHeaderDoesNotName) {
  CsvColumns columns;
  columns.target = "price";
  EXPECT_THAT(FindError("a,b\n1,2\n", columns),
              HasSubstr("the header has no column \"price\""));
  columns = {};
  columns.ignored = {"date"};
  EXPECT_THAT(FindError("a,b\n1,2\n", columns),
              HasSubstr("the header has no column \"date\""));
  columns.ignored = {"a", "b"};
  EXPECT_THAT(FindError("a,b\n1,2\n", columns), HasSubstr("every column"));
}

double RandomDouble(std::mt19937_64* random) {
  while (true) {
    const uint64_t bits = (*random)();
    double number;
    std::memcpy(&number, &bits, sizeof(number));
    if (number - number == 0) return number;
  }
}

TEST(CsvTableTest, ReadsBackBitForBitWhatItWrote) {
  std::mt19937_64 random(3);
  const std::string path = testing::TempDir() + "/written.csv";
  absl::StatusOr<CsvTableWriter> writer =
      CsvTableWriter::Create(path, /*column_count=*/3);
  ASSERT_THAT(writer, IsOk());
  Rows expected;
  for (int row = 0; row < 5000; ++row) {
    expected.push_back(
        {RandomDouble(&random), RandomDouble(&random), RandomDouble(&random)});
    ASSERT_THAT(writer->AddRow(expected.back().data()), IsOk());
  }
  ASSERT_THAT(writer->Commit(), IsOk());
  EXPECT_EQ(ReadFile(path).substr(0, 27), "feature_1,feature_2,target\n");
  const absl::StatusOr<Table> table = ReadCsvTable(path, {});
  ASSERT_THAT(table, IsOk());
  EXPECT_EQ(ListRows(*table), expected);
}

TEST(CsvTableTest, WritesOneColumn) {
  const std::string path = testing::TempDir() + "/column.csv";
  ASSERT_THAT(WriteCsvColumn("prediction", {0.1, -2, 1e300}, path), IsOk());
  EXPECT_EQ(ReadFile(path), "prediction\n0.1\n-2\n1e+300\n");
  EXPECT_THAT(WriteCsvColumn("prediction", {0.1}, "/dev/full"),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST(CsvTableTest, EndsOnEveryRandomlyDamagedFile) {
  std::mt19937 random(4);
  const std::string original = "a,b,c\n1,2.5,-3\n4,\"5\",6e1\n7,8,9\n";
  for (int trial = 0; trial < 2000; ++trial) {
    std::string text = original;
    for (int damage = 0; damage < 3; ++damage) {
      text[random() % text.size()] = static_cast<char>(random() % 256);
    }
    text.resize(random() % (text.size() + 1));
    const absl::StatusOr<Table> table = ReadCsvTable(WriteFile(text), {});
    if (table.ok()) {
      EXPECT_GE(table->row_count(), 1u);
    } else {
      EXPECT_THAT(table.status().ToString(), HasSubstr("table.csv:"));
    }
  }
}

}  // namespace
}  // namespace tabular
}  // namespace footprint
