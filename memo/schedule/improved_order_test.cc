#include "footprint/memo/schedule/improved_order.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/memo/schedule/belady_schedule.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint::memo_internal {
namespace {

// Cells with one to four of the values, in a list that is not a product.
ScheduleRequest MakeList(uint32_t seed, int cell_count) {
  std::mt19937 dice(seed);
  ScheduleRequest request;
  for (int i = 0; i < 14; ++i) {
    PlannedValue value;
    value.bytes = 1 + dice() % 100;
    value.load_cost = 1 + dice() % 50;
    request.values.push_back(value);
  }
  for (int i = 0; i < cell_count; ++i) {
    PlannedCell cell;
    cell.name = absl::StrCat("cell", i);
    const uint32_t needs = 1 + dice() % 4;
    while (cell.values.size() < needs) {
      const int value = static_cast<int>(dice() % 14);
      if (std::find(cell.values.begin(), cell.values.end(), value) ==
          cell.values.end()) {
        cell.values.push_back(value);
      }
    }
    request.cells.push_back(cell);
  }
  return request;
}

constexpr int64_t kBudgetBytes = 420;  // the largest cell needs 400

std::vector<int> GivenOrder(const ScheduleRequest& request) {
  std::vector<int> order(request.cells.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

int64_t LoadCost(const ScheduleRequest& request,
                 const std::vector<int>& order) {
  return ScheduleByBelady(request, order, kBudgetBytes).load_cost;
}

// The peer is simulated annealing with swaps, for as long as it takes.
int64_t AnnealedCost(const ScheduleRequest& request) {
  constexpr int kTrials = 20'000;
  std::mt19937 dice(7);
  std::vector<int> order = GivenOrder(request);
  int64_t cost = LoadCost(request, order);
  int64_t lowest = cost;
  for (int i = 0; i < kTrials; ++i) {
    const double temperature = 60 * std::pow(0.005, 1.0 * i / kTrials);
    const size_t a = dice() % order.size();
    const size_t b = dice() % order.size();
    std::swap(order[a], order[b]);
    const int64_t tried = LoadCost(request, order);
    const double chance = std::exp((cost - tried) / temperature);
    if (tried <= cost || chance * 4294967296.0 > dice()) {
      cost = tried;
      lowest = std::min(lowest, cost);
    } else {
      std::swap(order[a], order[b]);
    }
  }
  return lowest;
}

TEST(ImproveOrderTest, ComesNearWhatALongAnnealingFinds) {
  double worst = 0;
  for (int cell_count : {17, 24, 32, 40}) {
    const ScheduleRequest request =
        MakeList(static_cast<uint32_t>(cell_count), cell_count);
    const std::vector<int> order =
        ImproveOrder(request, kBudgetBytes, 0, GivenOrder(request));
    worst = std::max(worst, static_cast<double>(LoadCost(request, order)) /
                                static_cast<double>(AnnealedCost(request)));
  }
  EXPECT_LE(worst, 1.02);
}

TEST(ImproveOrderTest, KeepsEveryCellAndIsTheSameEachTime) {
  const ScheduleRequest request = MakeList(1, 30);
  const std::vector<int> order =
      ImproveOrder(request, kBudgetBytes, 0, GivenOrder(request));
  EXPECT_THAT(order, testing::UnorderedElementsAreArray(GivenOrder(request)));
  EXPECT_EQ(order, ImproveOrder(request, kBudgetBytes, 0, GivenOrder(request)));
  EXPECT_LT(LoadCost(request, order), LoadCost(request, GivenOrder(request)));
}

TEST(ImproveOrderTest, StopsAtTheBound) {
  const ScheduleRequest request = MakeList(2, 30);
  const std::vector<int> given = GivenOrder(request);
  EXPECT_EQ(
      ImproveOrder(request, kBudgetBytes, LoadCost(request, given), given),
      given);
}

TEST(ImproveOrderTest, IsForListsThatAreNeitherTooShortNorTooLong) {
  EXPECT_FALSE(MayImproveOrder(MakeList(3, 2)));
  EXPECT_TRUE(MayImproveOrder(MakeList(3, 3)));
  EXPECT_TRUE(MayImproveOrder(MakeList(4, 64)));
  EXPECT_FALSE(MayImproveOrder(MakeList(4, 65)));
}

}  // namespace
}  // namespace footprint::memo_internal
