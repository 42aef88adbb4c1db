// What csv_table.h promises.

#include "footprint/gates/deployments/tabular/csv_table.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace tabular {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

Rows RowsOf(const Table& table) {
  Rows rows;
  for (size_t row = 0; row < table.row_count(); ++row) {
    rows.emplace_back(table.Row(row), table.Row(row) + table.column_count());
  }
  return rows;
}

Rows MustRead(const std::string& text, const CsvColumns& columns = {}) {
  const absl::StatusOr<Table> table = ReadCsvTable(WriteFile(text), columns);
  EXPECT_TRUE(table.ok()) << table.status();
  return table.ok() ? RowsOf(*table) : Rows();
}

std::string ErrorOf(const std::string& text, const CsvColumns& columns = {}) {
  const absl::StatusOr<Table> table = ReadCsvTable(WriteFile(text), columns);
  EXPECT_FALSE(table.ok());
  return table.status().ToString();
}

TEST(CsvTableTest, ReadsNumbersInEveryUsualForm) {
  EXPECT_THAT(MustRead("a,b,c\n1,-2.5,3e2\n\"4\", .5 ,\t-0\n"),
              ElementsAre(ElementsAre(1, -2.5, 300), ElementsAre(4, .5, 0)));
}

TEST(CsvTableTest, PlacesTheTargetLastAndSkipsIgnoredColumns) {
  CsvColumns columns;
  columns.target = "close";
  columns.ignored = {"date"};
  EXPECT_THAT(MustRead("date,open,close,volume\n19-Sep-03,1,2,3\n", columns),
              ElementsAre(ElementsAre(1, 3, 2)));
}

TEST(CsvTableTest, SaysWhereAndWhatIsWrong) {
  EXPECT_THAT(ErrorOf("a,b\n1,2\n3,x\n"),
              HasSubstr("table.csv:3:3: field 2 should be a finite number but "
                        "is \"x\""));
  EXPECT_THAT(ErrorOf("a,b\n1\n"),
              HasSubstr("table.csv:2:1: the line has 1 fields where the header "
                        "has 2"));
  EXPECT_THAT(ErrorOf("a,b\n1,2,3\n"),
              HasSubstr("table.csv:2:3: the line goes"));
  EXPECT_THAT(ErrorOf("a,b\n1,nan\n"), HasSubstr("finite number"));
  EXPECT_THAT(ErrorOf("a,b\n1,inf\n"), HasSubstr("finite number"));
  EXPECT_THAT(ErrorOf("a,b\n1,1e999\n"), HasSubstr("range of a double"));
  EXPECT_THAT(ErrorOf("a,b\n1,\n"), HasSubstr("but is \"\""));
  EXPECT_THAT(ErrorOf("a,b\n1,2 3\n"), HasSubstr("but is \"2 3\""));
  EXPECT_THAT(ErrorOf("a,b\n1,0x10\n"), HasSubstr("but is \"0x10\""));
  EXPECT_THAT(ErrorOf("a,b\n1,\"2\n\"\n"), HasSubstr("but is \"2 \""));
  EXPECT_THAT(ErrorOf(""), HasSubstr("table.csv:1:1: the file is empty"));
  EXPECT_THAT(ErrorOf("a,b\n"), HasSubstr("no rows follow"));
  EXPECT_THAT(ErrorOf("a,b\n1,2\n\n"), HasSubstr("table.csv:3:1"));
}

TEST(CsvTableTest, RefusesColumnsThatTheHeaderDoesNotName) {
  CsvColumns columns;
  columns.target = "price";
  EXPECT_THAT(ErrorOf("a,b\n1,2\n", columns),
              HasSubstr("the header has no column \"price\""));
  columns = {};
  columns.ignored = {"date"};
  EXPECT_THAT(ErrorOf("a,b\n1,2\n", columns),
              HasSubstr("the header has no column \"date\""));
  columns.ignored = {"a", "b"};
  EXPECT_THAT(ErrorOf("a,b\n1,2\n", columns), HasSubstr("every column"));
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
  CsvTableWriter writer(path, /*column_count=*/3);
  Rows expected;
  for (int row = 0; row < 5000; ++row) {
    expected.push_back(
        {RandomDouble(&random), RandomDouble(&random), RandomDouble(&random)});
    writer.AddRow(expected.back().data());
  }
  ASSERT_TRUE(writer.Commit().ok());
  EXPECT_EQ(ReadFile(path).substr(0, 27), "feature_1,feature_2,target\n");
  const absl::StatusOr<Table> table = ReadCsvTable(path, {});
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(RowsOf(*table), expected);
}

TEST(CsvTableTest, WritesOneColumn) {
  const std::string path = testing::TempDir() + "/column.csv";
  ASSERT_TRUE(WriteCsvColumn("prediction", {0.1, -2, 1e300}, path).ok());
  EXPECT_EQ(ReadFile(path), "prediction\n0.1\n-2\n1e+300\n");
  EXPECT_EQ(WriteCsvColumn("prediction", {0.1}, "/dev/full").code(),
            absl::StatusCode::kResourceExhausted);
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
