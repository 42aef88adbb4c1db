// Measures the time that planned benchmarks take beyond the benchmarks' own:
// runs a product of `side` x `side` cells that do nothing.
//
//   bazel run -c opt //memo/product:many_cells_benchmark -- 64
//
// Prints the processor time of the run, from the listing to the last row, and
// how often Google Benchmark matched its list: in the given order, and with
// cells reordered under a budget.

#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "footprint/memo/memo.h"
#include "footprint/memo/product/planned_benchmarks.h"
#include "footprint/memo/product/product.h"

namespace footprint {
namespace {

class SilentReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& /*runs*/) override {}
};

absl::StatusOr<Axis<int>> MakeAxis(const std::string& name, int side) {
  Axis<int> axis{name, {}};
  for (int i = 0; i < side; ++i) {
    absl::StatusOr<Memo<int>> memo = MakeMemo<int>(
        absl::StrCat(name, i), [i] { return i; }, 100);
    if (!memo.ok()) return memo.status();
    axis.memos.push_back(*std::move(memo));
  }
  return axis;
}

absl::Status RegisterCells(int side) {
  absl::StatusOr<Axis<int>> rows = MakeAxis("row", side);
  if (!rows.ok()) return rows.status();
  absl::StatusOr<Axis<int>> columns = MakeAxis("column", side);
  if (!columns.ok()) return columns.status();
  const auto do_nothing = [](benchmark::State& state, const int& row,
                             const int& column) {
    for (auto _ : state) benchmark::DoNotOptimize(row + column);
  };
  return Product("BM_DoNothing", do_nothing, *rows, *columns).status();
}

void Measure(std::vector<std::string> flags) {
  flags.insert(flags.begin(),
               {"many_cells_benchmark", "--benchmark_min_time=0"});
  // Google Benchmark keeps the addresses of the flags.
  static auto* const kept = new std::vector<std::vector<std::string>>;
  kept->push_back(std::move(flags));
  std::vector<char*> argv;
  for (std::string& flag : kept->back()) argv.push_back(&flag[0]);
  int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  PlannedBenchmarks planned(&argc, argv.data());
  benchmark::Initialize(&argc, argv.data());
  SilentReporter reporter;
  const std::clock_t begin = std::clock();
  const size_t count = planned.Run(&reporter);
  const double seconds =
      static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  std::cout << count << " cells: " << seconds << " s, " << planned.call_count()
            << " calls\n";
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  const int side = argc > 1 ? std::atoi(argv[1]) : 64;
  const absl::Status registered = footprint::RegisterCells(side);
  if (!registered.ok()) {
    std::cerr << registered << "\n";
    return 2;
  }
  footprint::Measure({});
  footprint::Measure({"--memo_order=reorder", "--memo_budget=2000B"});
  return 0;
}
