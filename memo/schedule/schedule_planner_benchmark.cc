// Measures how long planning takes and what memory it needs: `PlanSchedule`
// alone, on products of two or three axes, and on many values that are alive at
// once. Nothing is loaded. Loads and their lower bound are counters.

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "footprint/memo/schedule/schedule_planner.h"

namespace footprint {
namespace {

// A square product. If `sizes_differ`, every fifth value is three times as
// large, so that neither Belady's rule nor a search is exact.
ScheduleRequest MakeRequest(int cells_a_side, bool sizes_differ) {
  ScheduleRequest request;
  for (int i = 0; i < 2 * cells_a_side; ++i) {
    request.values.push_back(
        {absl::StrCat("value", i), sizes_differ && i % 5 == 0 ? 3 : 1});
  }
  for (int row = 0; row < cells_a_side; ++row) {
    for (int column = 0; column < cells_a_side; ++column) {
      request.cells.push_back(
          {absl::StrCat(row, "/", column), {row, cells_a_side + column}});
    }
  }
  return request;
}

void Plan(benchmark::State& state, const ScheduleRequest& request) {
  for (auto _ : state) {
    absl::StatusOr<Schedule> schedule = PlanSchedule(request);
    if (!schedule.ok()) {
      state.SkipWithError(std::string(schedule.status().message()).c_str());
      return;
    }
    benchmark::DoNotOptimize(schedule->load_count);
    state.counters["loads"] = static_cast<double>(schedule->load_count);
    state.counters["least"] = static_cast<double>(schedule->least_load_cost);
  }
}

void BM_PlanWithoutBudget(benchmark::State& state) {
  Plan(state, MakeRequest(static_cast<int>(state.range(0)), false));
}

void BM_PlanUnderBudget(benchmark::State& state) {
  ScheduleRequest request =
      MakeRequest(static_cast<int>(state.range(0)), state.range(1) == 1);
  request.budget_bytes = state.range(0) / 2;
  Plan(state, request);
}

void BM_PlanReordered(benchmark::State& state) {
  ScheduleRequest request =
      MakeRequest(static_cast<int>(state.range(0)), state.range(1) == 1);
  request.budget_bytes = state.range(0) / 2;
  request.may_reorder = true;
  Plan(state, request);
}

void BM_TileCube(benchmark::State& state) {
  const int side = static_cast<int>(state.range(0));
  ScheduleRequest request;
  request.values.resize(3 * static_cast<size_t>(side), {"v", 1});
  for (int i = 0; i < side * side * side; ++i) {
    request.cells.push_back(
        {"c",
         {i / (side * side), side + i / side % side, 2 * side + i % side}});
  }
  request.budget_bytes = state.range(1);
  request.may_reorder = true;
  Plan(state, request);
}

// The cells go forth and back through half as many values, with room for a
// fifth of them; sizes are 1 to `most_bytes`.
void BM_MakeRoomForPalindrome(benchmark::State& state) {
  const int cell_count = static_cast<int>(state.range(0));
  ScheduleRequest request;
  int64_t bytes = 0;
  for (int i = 0; i < cell_count / 2; ++i) {
    request.values.push_back({"v", 1 + i * 7919 % state.range(1)});
    bytes += request.values.back().bytes;
  }
  for (int i = 0; i < cell_count; ++i) {
    request.cells.push_back({"c", {std::min(i, cell_count - 1 - i)}});
  }
  request.budget_bytes = std::max(bytes / 5, state.range(1));
  Plan(state, request);
}

BENCHMARK(BM_TileCube)
    ->ArgNames({"side", "room"})
    ->Args({10, 8})
    ->Args({20, 20});
BENCHMARK(BM_MakeRoomForPalindrome)
    ->ArgNames({"cells", "most_bytes"})
    ->ArgsProduct({{25'000, 100'000}, {1, 100}});
BENCHMARK(BM_PlanWithoutBudget)->ArgName("side")->Arg(10)->Arg(100);
BENCHMARK(BM_PlanUnderBudget)
    ->ArgNames({"side", "sizes_differ"})
    ->ArgsProduct({{20, 100}, {0, 1}});
BENCHMARK(BM_PlanReordered)
    ->ArgNames({"side", "sizes_differ"})
    ->ArgsProduct({{20, 100}, {0, 1}});

}  // namespace
}  // namespace footprint
