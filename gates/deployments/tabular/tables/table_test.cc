// Tests of the promises of table.h.

#include "footprint/gates/deployments/tabular/tables/table.h"

#include <malloc.h>

#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace footprint {
namespace tabular {
namespace {

// Returns the number that belongs at a place.
double NumberAt(size_t row, size_t column) {
  return static_cast<double>(row) * 10000 + static_cast<double>(column);
}

Table BuildTable(size_t row_count, size_t column_count, size_t expected) {
  TableBuilder builder(column_count, expected);
  for (size_t row = 0; row < row_count; ++row) {
    double* numbers = builder.AddRow();
    for (size_t column = 0; column < column_count; ++column) {
      numbers[column] = NumberAt(row, column);
    }
  }
  return std::move(builder).Build();
}

void ExpectNumbersInPlace(const Table& table) {
  for (size_t row = 0; row < table.row_count(); ++row) {
    for (size_t column = 0; column < table.column_count(); ++column) {
      ASSERT_EQ(table.Row(row)[column], NumberAt(row, column))
          << row << ", " << column;
    }
  }
}

TEST(TableTest, KeepsEveryNumberForAnyShapeAndExpectation) {
  const size_t full_block = Table::kBlockBytes / sizeof(double);
  for (size_t column_count :
       {size_t{1}, size_t{3}, size_t{501}, full_block, full_block + 1}) {
    const size_t rows_in_block = std::max<size_t>(1, full_block / column_count);
    for (size_t row_count : {size_t{0}, size_t{1}, rows_in_block - 1,
                             rows_in_block, 2 * rows_in_block + 1}) {
      for (size_t expected :
           {size_t{0}, size_t{1}, row_count / 2, row_count, row_count + 1}) {
        const Table table = BuildTable(row_count, column_count, expected);
        EXPECT_EQ(table.row_count(), row_count);
        EXPECT_EQ(table.column_count(), column_count);
        EXPECT_EQ(table.feature_count(), column_count - 1);
        ExpectNumbersInPlace(table);
      }
    }
  }
}

TEST(TableTest, KeepsNoRoomForRowsThatNeverCame) {
  for (size_t expected : {size_t{0}, size_t{10}, size_t{5000}}) {
    const Table table = BuildTable(10, 2, expected);
    void* block = const_cast<double*>(table.Row(0));
    // An allocator rounds up, but not by that much.
    EXPECT_LE(malloc_usable_size(block), 2 * 10 * 2 * sizeof(double))
        << expected;
  }
}

TEST(TableTest, ReleasesForeignNumbersOnce) {
  std::vector<double> numbers = {NumberAt(0, 0), NumberAt(0, 1), NumberAt(1, 0),
                                 NumberAt(1, 1)};
  int release_count = 0;
  {
    Table table = Table::OverNumbers(numbers.data(), 2, 2,
                                     [&release_count] { ++release_count; });
    EXPECT_EQ(table.Row(0), numbers.data());
    Table moved = std::move(table);
    ExpectNumbersInPlace(moved);
    EXPECT_EQ(release_count, 0);
    moved.Clear();
    EXPECT_EQ(release_count, 1);
    EXPECT_EQ(moved.row_count(), 0u);
  }
  EXPECT_EQ(release_count, 1);
}

TEST(TableTest, LendsItsFirstRows) {
  const Table table = BuildTable(9000, 2, 0);
  const Table first = table.FirstRows(4500);
  EXPECT_EQ(first.row_count(), 4500u);
  EXPECT_EQ(first.column_count(), 2u);
  EXPECT_EQ(first.Row(4499), table.Row(4499));
  ExpectNumbersInPlace(first);
  EXPECT_EQ(table.FirstRows(10000).row_count(), 9000u);
}

TEST(TableBuilderTest, TellsWhatTheRowsTake) {
  TableBuilder builder(/*column_count=*/3);
  EXPECT_EQ(builder.size_bytes(), 0u);
  builder.AddRow();
  builder.AddRow();
  EXPECT_EQ(builder.row_count(), 2u);
  EXPECT_EQ(builder.size_bytes(), 2 * 3 * sizeof(double));
}

// A file can promise more rows than there is room for. The builder says so when
// the rows come.
TEST(TableBuilderTest, RowsThatAreOnlyExpectedTakeLittleMemory) {
  TableBuilder builder(/*column_count=*/2,
                       /*expected_row_count=*/size_t{1} << 58);
  ASSERT_NE(builder.AddRow(), nullptr);
  EXPECT_EQ(builder.row_count(), 1u);
}

TEST(TableTest, IsEmptyAfterBeingMovedFrom) {
  Table table = BuildTable(10, 2, 10);
  const Table moved = std::move(table);
  EXPECT_EQ(table.row_count(), 0u);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(moved.row_count(), 10u);
  ExpectNumbersInPlace(moved);
}

}  // namespace
}  // namespace tabular
}  // namespace footprint
