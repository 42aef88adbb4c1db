#include "footprint/memo/schedule/early_loads.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "footprint/memo/schedule/belady_schedule.h"
#include "gtest/gtest.h"

namespace footprint::memo_internal {
namespace {

// The smallest request that an early load helps: B fits beside A, but not while
// B loads.
ScheduleRequest Smallest() {
  ScheduleRequest request;
  request.values = {{"A", 50}, {"B", 50}};
  request.values[0].load_cost = 600;
  request.values[1].load_peak_bytes = 100;
  request.cells = {{"first", {0}}, {"second", {0, 1}}};
  return request;
}

TEST(EarlyLoadsTest, AValueIsLoadedBeforeACellThatDoesWithoutIt) {
  const ScheduleRequest request = Smallest();
  const Schedule late = ScheduleByBelady(request, {0, 1}, 100);
  EXPECT_EQ(late.load_cost, 1201);
  const Schedule early = LoadEarlier(request, 100, late);
  EXPECT_EQ(early.load_cost, 601);
  EXPECT_EQ(early.steps[0].loads, (std::vector<int>{1, 0}));
  EXPECT_EQ(PeakBytes(request, early), 100);
}

TEST(EarlyLoadsTest, OnlyLoadsThatTakeMoreThanTheirValuePass) {
  ScheduleRequest request = Smallest();
  EXPECT_TRUE(HasPassingBytes(request));
  EXPECT_FALSE(HasPassingBytes(WithoutPassingBytes(request)));
  request.cells = {{"first", {0}}};
  EXPECT_FALSE(HasPassingBytes(request));
  EXPECT_EQ(CellBytes(Smallest(), {"both", {0, 1}}), 100);
  EXPECT_EQ(CellBytes(Smallest(), {"one", {1}}), 100);
}

// Computes the least cost of the cells in their order, if any value may be
// loaded before any cell: considers all sets of values that can be alive.
class Oracle {
 public:
  Oracle(const ScheduleRequest& request, int64_t budget_bytes)
      : request_(request), budget_bytes_(budget_bytes) {}

  int64_t LeastCost() {
    std::map<unsigned, int64_t> costs = {{0, 0}};
    for (const PlannedCell& cell : request_.cells) {
      costs = Reach(costs);
      unsigned needed = 0;
      for (const int value : cell.values) needed |= 1u << value;
      std::map<unsigned, int64_t> able;
      for (const auto& [live, cost] : costs) {
        if ((live & needed) == needed) able[live] = cost;
      }
      costs = able;
    }
    int64_t least = INT64_MAX;
    for (const auto& [live, cost] : costs) least = std::min(least, cost);
    return least;
  }

 private:
  int64_t ComputeBytes(unsigned live) const {
    int64_t bytes = 0;
    for (size_t v = 0; v < request_.values.size(); ++v) {
      if ((live >> v & 1) != 0) bytes += request_.values[v].bytes;
    }
    return bytes;
  }

  // Returns all states that loads and evictions between two cells lead to.
  std::map<unsigned, int64_t> Reach(std::map<unsigned, int64_t> costs) const {
    std::set<std::pair<int64_t, unsigned>> open;
    for (const auto& [live, cost] : costs) open.insert({cost, live});
    const auto go = [&](unsigned to, int64_t cost) {
      const auto known = costs.find(to);
      if (known != costs.end() && known->second <= cost) return;
      costs[to] = cost;
      open.insert({cost, to});
    };
    while (!open.empty()) {
      const auto [cost, live] = *open.begin();
      open.erase(open.begin());
      if (costs[live] < cost) continue;
      for (size_t v = 0; v < request_.values.size(); ++v) {
        const unsigned bit = 1u << v;
        const PlannedValue& value = request_.values[v];
        if ((live & bit) != 0) {
          go(live & ~bit, cost);
        } else if (ComputeBytes(live) + value.bytes + value.passing_bytes() <=
                   budget_bytes_) {
          go(live | bit, cost + value.load_cost);
        }
      }
    }
    return costs;
  }

  const ScheduleRequest& request_;
  const int64_t budget_bytes_;
};

TEST(EarlyLoadsTest, StaysWithinTheBudgetAndIsOftenTheBestThereIs) {
  std::mt19937 random(7);
  const auto draw = [&random](int low, int high) {
    return low +
           static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  int late_count = 0;
  int early_count = 0;
  for (int trial = 0; trial < 400; ++trial) {
    ScheduleRequest request;
    const int value_count = draw(2, 5);
    for (int v = 0; v < value_count; ++v) {
      PlannedValue value{"v", draw(1, 9)};
      value.load_cost = draw(1, 9);
      if (draw(0, 1) == 0) value.load_peak_bytes = value.bytes + draw(1, 9);
      request.values.push_back(value);
    }
    int64_t budget_bytes = 0;
    std::vector<int> order;
    for (int c = draw(2, 7); c > 0; --c) {
      std::set<int> values;
      for (int n = draw(1, 2); n > 0; --n) {
        values.insert(draw(0, value_count - 1));
      }
      order.push_back(static_cast<int>(request.cells.size()));
      request.cells.push_back({"c", {values.begin(), values.end()}});
      budget_bytes =
          std::max(budget_bytes, CellBytes(request, request.cells.back()));
    }
    budget_bytes += draw(0, 5);
    const Schedule late = ScheduleByBelady(request, order, budget_bytes);
    const Schedule early = LoadEarlier(request, budget_bytes, late);
    const int64_t least = Oracle(request, budget_bytes).LeastCost();
    EXPECT_LE(early.load_cost, late.load_cost);
    EXPECT_GE(early.load_cost, least);
    EXPECT_LE(PeakBytes(request, early), budget_bytes);
    EXPECT_LE(Oracle(WithoutPassingBytes(request), budget_bytes).LeastCost(),
              least);
    late_count += late.load_cost == least ? 1 : 0;
    early_count += early.load_cost == least ? 1 : 0;
  }
  EXPECT_GT(early_count, late_count);
}

}  // namespace
}  // namespace footprint::memo_internal
