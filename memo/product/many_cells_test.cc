// Products with so many cells that they share calls of Google Benchmark.

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/memo/memo.h"
#include "footprint/memo/product/planned_benchmarks.h"
#include "footprint/memo/product/product.h"
#include "footprint/memo/schedule/memo_trace.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;

constexpr int kSide = 16;
constexpr size_t kCellCount = kSide * kSide;
// EndOfBatch allows 32 calls, and one more runs the rest.
constexpr size_t kMostCalls = 33;

class NamesReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) names.push_back(run.benchmark_name());
  }

  std::vector<std::string> names;
};

struct Outcome {
  size_t count = 0;
  size_t call_count = 0;
  int exit_status = 0;
  absl::Status status;
  std::vector<std::string> names;
  MemoTrace trace;
};

Outcome RunWith(std::vector<std::string> flags) {
  flags.insert(flags.begin(),
               {"many_cells_test", "--benchmark_filter=all",
                "--benchmark_min_time=0", "--benchmark_repetitions=1"});
  // Google Benchmark keeps the addresses of the flags.
  static auto* const kept = new std::vector<std::vector<std::string>>;
  kept->push_back(std::move(flags));
  std::vector<char*> argv;
  for (std::string& flag : kept->back()) argv.push_back(&flag[0]);
  int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  PlannedBenchmarks planned(&argc, argv.data());
  benchmark::Initialize(&argc, argv.data());
  NamesReporter reporter;
  Outcome outcome;
  outcome.count = planned.Run(&reporter);
  outcome.call_count = planned.call_count();
  outcome.exit_status = planned.ExitStatus();
  outcome.status = planned.status();
  outcome.names = reporter.names;
  outcome.trace = planned.trace();
  return outcome;
}

class ManyCellsTest : public testing::Test {
 protected:
  void SetUp() override { benchmark::ClearRegisteredBenchmarks(); }

  std::string Unique(const std::string& name) {
    return absl::StrCat(
        testing::UnitTest::GetInstance()->current_test_info()->name(), "_",
        name);
  }

  // Value i is i; the load of the value at `failing` fails.
  Axis<int> MakeAxis(const std::string& name, int failing = -1) {
    Axis<int> axis{name, {}};
    for (int i = 0; i < kSide; ++i) {
      axis.memos.push_back(*MakeMemo<int>(
          Unique(absl::StrCat(name, i)),
          [i, failing]() -> absl::StatusOr<int> {
            if (i == failing) return absl::NotFoundError("no such file");
            return i;
          },
          100));
    }
    return axis;
  }

  // Each cell records its values when it runs.
  ProductBenchmarks<int, int> Register(int failing = -1) {
    absl::StatusOr<ProductBenchmarks<int, int>> cells = Product(
        Unique("BM"),
        [this](benchmark::State& state, const int& row, const int& column) {
          for (auto _ : state) {
            int value = row;
            benchmark::DoNotOptimize(value);
          }
          ran.push_back(row * kSide + column);
        },
        MakeAxis("row", failing), MakeAxis("column"));
    EXPECT_THAT(cells, IsOk());
    return *std::move(cells);
  }

  std::vector<int> ran;
};

// Returns the plan's loads, cells and evictions in order.
std::vector<std::string> PlannedEvents(const MemoPlan& plan) {
  std::vector<std::string> events;
  for (const MemoPlanStep& step : plan.steps()) {
    for (const std::string& name : step.loads()) events.push_back("+" + name);
    events.push_back(step.cell());
    std::vector<std::string> evictions(step.evictions().begin(),
                                       step.evictions().end());
    for (const std::string& name : evictions) events.push_back("-" + name);
  }
  return events;
}

std::vector<std::string> HappenedEvents(const MemoTrace& trace) {
  const std::map<MemoEvent::Kind, std::string> signs = {
      {MemoEvent::LOADED, "+"},
      {MemoEvent::CELL_RAN, ""},
      {MemoEvent::EVICTED, "-"}};
  std::vector<std::string> events;
  for (const MemoEvent& event : trace.events()) {
    const auto sign = signs.find(event.kind());
    events.push_back(sign == signs.end() ? absl::StrCat("? ", event.detail())
                                         : sign->second + event.name());
  }
  return events;
}

TEST_F(ManyCellsTest, ShareCallsInTheGivenOrder) {
  Register();
  const Outcome outcome = RunWith({});
  EXPECT_EQ(outcome.count, kCellCount);
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_LE(outcome.call_count, kMostCalls);
  std::vector<int> all(kCellCount);
  for (size_t i = 0; i < kCellCount; ++i) all[i] = static_cast<int>(i);
  EXPECT_EQ(ran, all);
  EXPECT_EQ(outcome.names.size(), kCellCount);
  EXPECT_EQ(HappenedEvents(outcome.trace), PlannedEvents(outcome.trace.plan()));
}

// Each cell has its values before it runs, and no more values than planned are
// alive.
TEST_F(ManyCellsTest, LoadAndEvictAsPlannedInAnotherOrderUnderABudget) {
  Register();
  const Outcome outcome =
      RunWith({"--memo_order=reorder", "--memo_budget=500B"});
  EXPECT_EQ(outcome.count, kCellCount);
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_TRUE(outcome.trace.plan().is_reordered());
  EXPECT_EQ(outcome.names.size(), kCellCount);
  // The plan goes back and forth in the list, and each turn needs a call.
  EXPECT_GT(outcome.call_count, kMostCalls);
  EXPECT_LT(outcome.call_count, kCellCount);
  EXPECT_EQ(outcome.trace.peak_bytes(), outcome.trace.plan().peak_bytes());
  EXPECT_EQ(HappenedEvents(outcome.trace), PlannedEvents(outcome.trace.plan()));
  std::vector<int> sorted = ran;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(std::unique(sorted.begin(), sorted.end()) - sorted.begin(),
            static_cast<long>(kCellCount));
}

TEST_F(ManyCellsTest, EachIsSetUpAndTornDownAroundItsRun) {
  std::vector<std::string> tasks;
  const auto task = [&tasks, this](const std::string& name) {
    return [&tasks, name, this](const int& row, const int& column) {
      tasks.push_back(
          absl::StrCat(name, row * kSide + column, " after ", ran.size()));
      return absl::OkStatus();
    };
  };
  Register().Setup(task("up ")).Teardown(task("down "));
  RunWith({});
  ASSERT_EQ(tasks.size(), 2 * kCellCount);
  EXPECT_THAT(std::vector<std::string>(tasks.begin(), tasks.begin() + 4),
              ElementsAre("up 0 after 0", "down 0 after 1", "up 1 after 1",
                          "down 1 after 2"));
  EXPECT_EQ(tasks.back(), "down 255 after 256");
}

TEST_F(ManyCellsTest, ThoseWhoseValueCannotBeLoadedAloneFail) {
  Register(/*failing=*/5);
  const Outcome outcome = RunWith({});
  EXPECT_EQ(outcome.count, kCellCount);
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(ran.size(), kCellCount - kSide);
  EXPECT_EQ(std::count(ran.begin(), ran.end(), 5 * kSide), 0);
  EXPECT_EQ(ran.back(), 255);
}

TEST_F(ManyCellsTest, RepetitionsKeepTheValues) {
  Register();
  const Outcome outcome = RunWith({"--benchmark_repetitions=2"});
  EXPECT_EQ(outcome.exit_status, 0);
  // There are two rows, and some rows of aggregates.
  EXPECT_GE(outcome.names.size(), 4 * kCellCount);
  EXPECT_LE(outcome.call_count, kMostCalls);
  EXPECT_EQ(HappenedEvents(outcome.trace), PlannedEvents(outcome.trace.plan()));
}

// Google Benchmark's own setup throws where the cell's function cannot catch
// it.
TEST_F(ManyCellsTest, OneThatThrowsOutsideItsFunctionIsLeftOut) {
  Register().ForEach([index = 0](auto* cell) mutable {
    if (index++ == 20) {
      cell->Setup([](const benchmark::State&) { throw 7; });
    }
  });
  const Outcome outcome = RunWith({});
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(ran.size(), kCellCount - 1);
  EXPECT_EQ(std::count(ran.begin(), ran.end(), 20), 0);
  EXPECT_EQ(outcome.names.size(), kCellCount - 1);
}

TEST_F(ManyCellsTest, OtherBenchmarksRunWhereTheyStand) {
  Register();
  benchmark::RegisterBenchmark("BM_Other", [this](benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(this);
    ran.push_back(-1);
  });
  const Outcome outcome = RunWith({});
  EXPECT_EQ(outcome.count, kCellCount + 1);
  EXPECT_EQ(ran.back(), -1);
}

// Load times are measured, remembered, and used as the next plan's costs.
TEST_F(ManyCellsTest, TheSecondRunPlansBySeconds) {
  Register();
  const std::string path = testing::TempDir() + "/times.binpb";
  std::remove(path.c_str());
  // The file is the only way in which another process would know of these
  // loads.
  const Outcome first = RunWith({"--memo_remember=" + path});
  EXPECT_FALSE(first.trace.plan().costs_are_microseconds());
  EXPECT_EQ(first.trace.plan().load_cost(), 2 * kSide);
  const Outcome second = RunWith({"--memo_remember=" + path});
  EXPECT_TRUE(second.trace.plan().costs_are_microseconds());
  EXPECT_GE(second.trace.plan().load_cost(), 100 * 2 * kSide);
  EXPECT_GT(second.trace.events(0).load_nanoseconds(), 0);
  EXPECT_GT(second.trace.plan().values(0).load_cost(), 1);
}

}  // namespace
}  // namespace footprint
