// Tests of the promises of row_order.h.

#include "footprint/gates/deployments/tabular/estimators/row_order.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"

namespace footprint {
namespace tabular {
namespace {

std::vector<size_t> Order(size_t row_count, uint64_t seed) {
  RowOrder order(row_count, seed);
  std::vector<size_t> rows(row_count);
  std::generate(rows.begin(), rows.end(), [&] { return order.Next(); });
  return rows;
}

TEST(RowOrderTest, VisitsEveryRowOnce) {
  for (size_t row_count = 1; row_count < 200; ++row_count) {
    for (uint64_t seed = 0; seed < 10; ++seed) {
      std::vector<size_t> rows = Order(row_count, seed);
      std::sort(rows.begin(), rows.end());
      std::vector<size_t> expected(row_count);
      std::iota(expected.begin(), expected.end(), size_t{0});
      ASSERT_EQ(rows, expected) << row_count << " rows, seed " << seed;
    }
  }
}

TEST(RowOrderTest, DiffersBetweenSeedsAndRepeatsForOne) {
  EXPECT_EQ(Order(1000, 1), Order(1000, 1));
  EXPECT_NE(Order(1000, 1), Order(1000, 2));
}

TEST(RowStreamTest, GoesThroughEpochsInOrdersOfTheirOwn) {
  constexpr size_t kRows = 101;
  RowStream stream(kRows, 7);
  std::vector<std::vector<size_t>> epochs;
  for (uint64_t epoch = 0; epoch < 3; ++epoch) {
    RowOrder order(kRows, 7 + epoch);
    epochs.emplace_back();
    for (size_t i = 0; i < kRows; ++i) {
      epochs.back().push_back(stream.Next());
      EXPECT_EQ(epochs.back().back(), order.Next());
    }
  }
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_NE(epochs[1], epochs[2]);
}

}  // namespace
}  // namespace tabular
}  // namespace footprint
