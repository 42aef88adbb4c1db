#include "footprint/memo/product/product.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/memo/memo.h"
#include "footprint/memo/product/planned_benchmarks.h"
#include "footprint/memo/product/product_fixture.h"
#include "footprint/memo/schedule/memo_trace.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(ProductTest, LoadsEachValueOnce) {
  RegisterThreeByTwo();
  const Outcome outcome = RunWith({});
  EXPECT_EQ(outcome.count, 6u);
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_EQ(load_count, 5);
  EXPECT_EQ(outcome.trace.load_count(), 5);
  EXPECT_EQ(outcome.trace.plan().load_count(), 5);
  EXPECT_EQ(outcome.trace.plan().peak_bytes(), 800);
  EXPECT_EQ(ReadMemoTotals().loaded_count, 0);
  ASSERT_EQ(outcome.reporter.names.size(), 6u);
  EXPECT_EQ(outcome.reporter.names[1].rfind(Cell(0, 1), 0), 0u)
      << outcome.reporter.names[1];
  EXPECT_EQ(outcome.reporter.context_count, 1);
  EXPECT_EQ(outcome.reporter.finalize_count, 1);
  EXPECT_GE(outcome.reporter.name_field_width, Cell(0, 0).size());
}

TEST_F(ProductTest, EvictsAfterTheLastUseAndBeforeTheNextLoad) {
  RegisterThreeByTwo();
  const MemoTrace trace = RunWith({}).trace;
  std::set<std::string> alive;
  size_t most = 0;
  for (const MemoEvent& event : trace.events()) {
    if (event.kind() == MemoEvent::LOADED) alive.insert(event.name());
    if (event.kind() == MemoEvent::EVICTED) alive.erase(event.name());
    most = std::max(most, alive.size());
  }
  EXPECT_EQ(most, 3u);
  EXPECT_TRUE(alive.empty());
  EXPECT_EQ(trace.events(trace.events_size() - 1).kind(), MemoEvent::EVICTED);
}

TEST_F(ProductTest, TheFilterComesBeforeThePlan) {
  RegisterThreeByTwo();
  const Outcome outcome = RunWith({"--benchmark_filter=data:.*data1"});
  EXPECT_EQ(outcome.count, 3u);
  EXPECT_EQ(load_count, 4);
  EXPECT_EQ(outcome.trace.plan().peak_bytes(), 600);
  EXPECT_EQ(RunWith({"--benchmark_filter=all"}).count, 6u);
}

TEST_F(ProductTest, RepetitionsThreadsAndWarmUpAddNoLoads) {
  RegisterThreeByTwo().ForEach([](auto* cell) { cell->Threads(2); });
  const Outcome outcome =
      RunWith({"--benchmark_repetitions=3", "--benchmark_min_warmup_time=0.001",
               "--benchmark_min_time=0.001"});
  EXPECT_EQ(outcome.count, 6u);
  EXPECT_EQ(load_count, 5);
  EXPECT_GE(call_count, 6 * 3 * 2);
  EXPECT_EQ(outcome.exit_status, 0);
}

class CountingMemoryManager : public benchmark::MemoryManager {
 public:
  explicit CountingMemoryManager(const int* loads) : loads_(loads) {}
  void Start() override { at_start_ = *loads_; }
  void Stop(Result& result) override {
    result.num_allocs = 0;
    result.max_bytes_used = 0;
    ++region_count;
    loads_inside += *loads_ - at_start_;
  }
  virtual void Stop(Result* result) { Stop(*result); }  // NOLINT

  int region_count = 0;
  int loads_inside = 0;

 private:
  const int* const loads_;
  int at_start_ = 0;
};

TEST_F(ProductTest, LoadsAreOutsideTheMemoryManagersRegions) {
  RegisterThreeByTwo();
  CountingMemoryManager manager(&load_count);
  benchmark::RegisterMemoryManager(&manager);
  RunWith({});
  benchmark::RegisterMemoryManager(nullptr);
  EXPECT_EQ(load_count, 5);
  EXPECT_EQ(manager.region_count, 6);
  EXPECT_EQ(manager.loads_inside, 0);
}

TEST_F(ProductTest, AFailingFactoryShowsInItsRowsOnly) {
  failing_id = 1;
  auto product = Product(
      Unique("BM"),
      [this](benchmark::State& state, const Model& model) {
        for (auto _ : state) {
          int id = model.id;
          benchmark::DoNotOptimize(id);
        }
        ++call_count;
      },
      MakeAxis<Model>("model", 3, 400));
  ASSERT_THAT(product, IsOk());
  const Outcome outcome = RunWith({});
  ASSERT_EQ(outcome.reporter.names.size(), 3u);
  int failed = 0;
  for (const auto& [name, error] : outcome.reporter.errors) {
    if (error.empty()) continue;
    ++failed;
    EXPECT_NE(name.find("model1"), std::string::npos);
    EXPECT_NE(error.find("no such file"), std::string::npos);
  }
  EXPECT_EQ(failed, 1);
  EXPECT_EQ(call_count, 2);
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(outcome.trace.failed_load_count(), 1);
  EXPECT_EQ(ReadMemoTotals().loaded_count, 0);
}

TEST_F(ProductTest, AFailedLoadIsNotTriedAgain) {
  failing_id = 1;
  RegisterThreeByTwo();
  const Outcome outcome = RunWith({});
  ASSERT_EQ(outcome.reporter.names.size(), 6u);
  int failed = 0;
  for (const auto& [name, error] : outcome.reporter.errors) {
    failed += error.find("no such file") != std::string::npos ? 1 : 0;
  }
  // These are model 1 with both data sets, and data set 1 with all models.
  EXPECT_EQ(failed, 4);
  EXPECT_EQ(outcome.trace.failed_load_count(), 2);
  // These are models 0 and 2, data set 0, and one attempt at each failing
  // value.
  EXPECT_EQ(load_count, 5);
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(ReadMemoTotals().loaded_count, 0);
}

TEST_F(ProductTest, WhatTasksAndFunctionsThrowIsShownAndTheRestRuns) {
  const std::string path = testing::TempDir() + "/throwing.json";
  auto product = Product(
      Unique("BM"),
      [](benchmark::State& state, const Model& model) {
        for (auto _ : state) {
          if (model.id == 0) throw std::runtime_error("bad weather");
        }
      },
      MakeAxis<Model>("model", 3, 400));
  ASSERT_THAT(product, IsOk());
  product->ForEach([](auto* cell) { cell->Threads(2); });
  product->Setup([](const Model& model) {
    if (model.id == 1) throw 3;
    return absl::OkStatus();
  });
  product->Teardown([](const Model& model) -> absl::Status {
    if (model.id == 2) throw std::runtime_error("dust");
    return absl::OkStatus();
  });
  const Outcome outcome = RunWith({"--benchmark_out=" + path});
  ASSERT_EQ(outcome.reporter.names.size(), 3u);
  std::vector<std::string> errors;
  for (const auto& [name, error] : outcome.reporter.errors) {
    errors.push_back(error);
  }
  EXPECT_EQ(errors,
            std::vector<std::string>(
                {"the function threw: bad weather",
                 "the setup threw something that is no std::exception", ""}));
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_NE(ReadFile(path).find("bad weather"), std::string::npos);
  std::vector<std::string> failed;
  for (const MemoEvent& event : outcome.trace.events()) {
    if (event.kind() == MemoEvent::TASK_FAILED) {
      failed.push_back(event.detail());
    }
  }
  // Both threads threw, and the first exception was kept.
  EXPECT_THAT(
      failed,
      ElementsAre(
          HasSubstr("the function threw: bad weather"),
          HasSubstr("the setup threw something that is no std::exception"),
          HasSubstr("the teardown threw: dust")));
  EXPECT_EQ(ReadMemoTotals().loaded_count, 0);
}

TEST_F(ProductTest, TasksGetTheValuesOnceAnInstance) {
  std::vector<std::string> calls;
  RegisterThreeByTwo()
      .Setup([&](const Model& model, const Data& data) {
        calls.push_back(absl::StrCat("+", model.id, data.id));
        return absl::OkStatus();
      })
      .Teardown([&](const Model& model, const Data& data) {
        calls.push_back(absl::StrCat("-", model.id, data.id));
        return absl::OkStatus();
      });
  RunWith({"--benchmark_repetitions=2", "--benchmark_filter=model2"});
  EXPECT_EQ(calls, std::vector<std::string>({"+20", "-20", "+21", "-21"}));
}

TEST_F(ProductTest, FailingTasksAreShown) {
  int teardown_count = 0;
  RegisterThreeByTwo()
      .Setup([&](const Model& model, const Data&) {
        return model.id == 0 ? absl::InternalError("no licence")
                             : absl::OkStatus();
      })
      .Teardown([&](const Model&, const Data&) {
        ++teardown_count;
        return absl::DataLossError("lost");
      });
  const Outcome outcome = RunWith({});
  int shown = 0;
  for (const auto& [name, error] : outcome.reporter.errors) {
    shown += error == "no licence" ? 1 : 0;
  }
  EXPECT_EQ(shown, 2);
  EXPECT_EQ(teardown_count, 4);
  EXPECT_EQ(outcome.exit_status, 1);
}

TEST_F(ProductTest, RefusesBadAxes) {
  const auto run = [](benchmark::State&, const Model&) {};
  const auto code_of = [&](const std::string& name, const Axis<Model>& axis) {
    return Product(name, run, axis).status().code();
  };
  EXPECT_EQ(code_of(Unique("a"), Axis<Model>{"model", {}}),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of("", MakeAxis<Model>("model", 1, 1)),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of(Unique("a"), MakeAxis<Model>("", 1, 1)),
            absl::StatusCode::kInvalidArgument);
  Axis<Model> twice = MakeAxis<Model>("model", 1, 1);
  twice.memos.push_back(twice.memos[0]);
  EXPECT_EQ(code_of(Unique("a"), twice), absl::StatusCode::kInvalidArgument);
  twice.memos.pop_back();
  EXPECT_EQ(code_of(Unique("a"), twice), absl::StatusCode::kOk);
  EXPECT_EQ(code_of(Unique("a"), twice), absl::StatusCode::kInvalidArgument);
}

TEST_F(ProductTest, AProductIsNotRunUnplanned) {
  RegisterThreeByTwo();
  RunWith({"--benchmark_list_tests=false"});
  RecordingReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  ASSERT_EQ(reporter.errors.size(), 6u);
  EXPECT_NE(reporter.errors.begin()->second.find("PlannedBenchmarks"),
            std::string::npos);
}

TEST_F(ProductTest, AHeldValueIsReportedAsNotEvicted) {
  Axis<Model> axis = MakeAxis<Model>("model", 1, 400);
  const Memo<Model> memo = axis.memos[0];
  std::vector<Handle<Model>> held;
  auto product = Product(
      Unique("BM"),
      [&](benchmark::State& state, const Model&) {
        for (auto _ : state) {
        }
        held.push_back(*memo.Get());
      },
      axis);
  ASSERT_THAT(product, IsOk());
  const Outcome outcome = RunWith({});
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(outcome.trace.events(outcome.trace.events_size() - 1).kind(),
            MemoEvent::EVICTION_FAILED);
  held.clear();
  EXPECT_THAT(memo.Evict(), IsOk());
}

TEST_F(ProductTest, TwoProductsShareAMemo) {
  Axis<Model> axis = MakeAxis<Model>("model", 2, 400);
  for (const char* name : {"first", "second"}) {
    ASSERT_THAT(Product(
                    Unique(name),
                    [](benchmark::State& state, const Model&) {
                      for (auto _ : state) {
                      }
                    },
                    axis),
                IsOk());
  }
  EXPECT_EQ(RunWith({}).count, 4u);
  EXPECT_EQ(load_count, 2);
}

}  // namespace
}  // namespace footprint
