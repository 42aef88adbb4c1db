#include "footprint/memo/product/product.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <stdexcept>
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
#include "footprint/memo/schedule/memo_trace.pb.h"
#include "footprint/memo/schedule/memo_trace_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

struct Model {
  int id = 0;
};
struct Data {
  int id = 0;
};

// Rows by name, and how often each call came.
class RecordingReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override {
    ++context_count;
    name_field_width = context.name_field_width;
    return true;
  }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      names.push_back(run.benchmark_name());
      errors[run.benchmark_name()] = ErrorOf(run, 0);
    }
  }
  void Finalize() override { ++finalize_count; }

  int context_count = 0;
  int finalize_count = 0;
  size_t name_field_width = 0;
  std::vector<std::string> names;
  std::map<std::string, std::string> errors;

 private:
  template <typename AnyRun>
  static auto ErrorOf(const AnyRun& run, int)
      -> decltype(run.error_occurred, std::string()) {
    return run.error_occurred ? run.error_message : "";
  }
  template <typename AnyRun>
  static auto ErrorOf(const AnyRun& run, long)
      -> decltype(run.skipped, std::string()) {
    return run.skip_message;
  }
};

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file),
                     std::istreambuf_iterator<char>());
}

struct Outcome {
  std::vector<Remark> remarks;
  size_t count = 0;
  int exit_status = 0;
  absl::Status status;
  RecordingReporter reporter;
  MemoTrace trace;
};

Outcome RunWith(std::vector<std::string> flags) {
  flags.insert(flags.begin(), "product_test");
  // Google Benchmark's flags outlive a run.
  flags.insert(flags.begin() + 1,
               {"--benchmark_filter=all", "--benchmark_min_time=0",
                "--benchmark_repetitions=1", "--benchmark_min_warmup_time=0"});
  static auto* const kept = new std::vector<std::vector<std::string>>;
  kept->push_back(std::move(flags));
  std::vector<char*> argv;
  for (std::string& flag : kept->back()) argv.push_back(&flag[0]);
  int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  PlannedBenchmarks planned(&argc, argv.data());
  benchmark::Initialize(&argc, argv.data());
  Outcome outcome;
  outcome.count = planned.Run(&outcome.reporter);
  outcome.exit_status = planned.ExitStatus();
  outcome.status = planned.status();
  outcome.trace = planned.trace();
  outcome.remarks = planned.notes();
  return outcome;
}

// Fresh memos and cells for each test.
class ProductTest : public testing::Test {
 protected:
  void SetUp() override { benchmark::ClearRegisteredBenchmarks(); }

  std::string Unique(const std::string& name) {
    return absl::StrCat(
        testing::UnitTest::GetInstance()->current_test_info()->name(), "_",
        name);
  }

  template <typename T>
  Axis<T> MakeAxis(const std::string& name, int count, int64_t bytes) {
    Axis<T> axis{name, {}};
    for (int i = 0; i < count; ++i) {
      axis.memos.push_back(*MakeMemo<T>(
          Unique(absl::StrCat(name, i)),
          [this, i]() -> absl::StatusOr<T> {
            ++load_count;
            ++live;
            most_live = std::max(most_live, live);
            if (i == failing_id) {
              --live;
              return absl::NotFoundError("no such file");
            }
            return T{i};
          },
          bytes));
    }
    return axis;
  }

  // Three models by two data sets, which count their calls.
  ProductBenchmarks<Model, Data> RegisterThreeByTwo() {
    auto product = Product(
        Unique("BM"),
        [this](benchmark::State& state, const Model& model, const Data& data) {
          ++call_count;
          for (auto _ : state) {
            int id = model.id;
            benchmark::DoNotOptimize(id);
          }
          std::lock_guard<std::mutex> lock(mutex);
          cells.emplace_back(model.id, data.id);
        },
        MakeAxis<Model>("model", 3, 400), MakeAxis<Data>("data", 2, 200));
    EXPECT_THAT(product, IsOk());
    return *product;
  }

  std::string Cell(int model, int data) {
    return absl::StrCat(Unique("BM"), "/model:", Unique("model"), model,
                        "/data:", Unique("data"), data);
  }

  int load_count = 0;
  int live = 0;
  int most_live = 0;
  int failing_id = -1;
  std::atomic<int> call_count{0};
  std::mutex mutex;
  std::vector<std::pair<int, int>> cells;
};

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
  // Model 1 with both data sets, and data set 1 with all models.
  EXPECT_EQ(failed, 4);
  EXPECT_EQ(outcome.trace.failed_load_count(), 2);
  // Models 0 and 2, data set 0, and one attempt each at what fails.
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
  EXPECT_EQ(ReadMemoTotals().loaded_count, 0);
}

TEST_F(ProductTest, AnotherBenchmarkThatThrowsDoesNotEndTheRun) {
  benchmark::RegisterBenchmark("BM_Throws", [](benchmark::State& state) {
    for (auto _ : state) throw std::runtime_error("bad weather");
  });
  RegisterThreeByTwo();
  const Outcome outcome = RunWith({});
  EXPECT_EQ(outcome.count, 6u);
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(outcome.reporter.names.size(), 6u);
  EXPECT_NE(outcome.trace.events(0).detail().find("bad weather"),
            std::string::npos);
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

TEST_F(ProductTest, ABudgetHoldsAndMayReorder) {
  RegisterThreeByTwo();
  const Outcome given = RunWith({"--memo_budget=600B"});
  EXPECT_EQ(given.exit_status, 0) << given.status;
  EXPECT_LE(given.trace.plan().peak_bytes(), 600);
  EXPECT_EQ(given.trace.load_count(), given.trace.plan().load_count());
  EXPECT_FALSE(given.trace.plan().is_reordered());
  load_count = 0;
  const Outcome reordered =
      RunWith({"--memo_budget=600B", "--memo_order=reorder"});
  EXPECT_EQ(reordered.exit_status, 0);
  EXPECT_EQ(load_count, 7);
  EXPECT_TRUE(reordered.trace.plan().is_optimal());
  EXPECT_EQ(std::set<std::string>(reordered.reporter.names.begin(),
                                  reordered.reporter.names.end())
                .size(),
            6u);
}

TEST_F(ProductTest, RefusesABudgetThatCannotBe) {
  RegisterThreeByTwo();
  const Outcome outcome = RunWith({"--memo_budget=599B"});
  EXPECT_EQ(outcome.count, 0u);
  EXPECT_EQ(outcome.exit_status, 2);
  EXPECT_THAT(outcome.status, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_NE(outcome.status.message().find("smallest budget that can is 600"),
            absl::string_view::npos);
  EXPECT_EQ(load_count, 0);
}

TEST_F(ProductTest, RefusesRandomInterleavingWithTheReason) {
  RegisterThreeByTwo();
  const Outcome outcome =
      RunWith({"--benchmark_enable_random_interleaving=true"});
  EXPECT_EQ(outcome.exit_status, 2);
  EXPECT_NE(outcome.status.message().find("stay alive"),
            absl::string_view::npos);
  EXPECT_EQ(load_count, 0);
  RunWith({"--benchmark_enable_random_interleaving=false"});
  EXPECT_EQ(load_count, 5);
}

TEST_F(ProductTest, SaysThatTheFilterMatchesNothing) {
  RegisterThreeByTwo();
  const Outcome outcome = RunWith({"--benchmark_filter=no_such_benchmark"});
  EXPECT_EQ(outcome.exit_status, 2);
  EXPECT_NE(outcome.status.message().find("filter matches no"),
            absl::string_view::npos);
}

TEST_F(ProductTest, RefusesAWrongFlag) {
  RegisterThreeByTwo();
  EXPECT_EQ(RunWith({"--memo_budget=lots"}).exit_status, 2);
  EXPECT_EQ(RunWith({"--memo_sizes=/no/such/file"}).exit_status, 2);
  EXPECT_EQ(load_count, 0);
}

TEST_F(ProductTest, ListsWithoutLoading) {
  RegisterThreeByTwo();
  std::ostringstream listing;
  PlannedBenchmarks* planned = nullptr;
  std::vector<std::string> flags = {"p", "--benchmark_list_tests=true"};
  char* argv[] = {&flags[0][0], &flags[1][0], nullptr};
  int argc = 2;
  PlannedBenchmarks lister(&argc, argv);
  planned = &lister;
  benchmark::Initialize(&argc, argv);
  RecordingReporter reporter;
  reporter.SetOutputStream(&listing);
  EXPECT_EQ(planned->Run(&reporter), 6u);
  EXPECT_NE(listing.str().find(Cell(2, 1)), std::string::npos);
  EXPECT_EQ(load_count, 0);
  RunWith({"--benchmark_list_tests=false"});
  EXPECT_EQ(load_count, 5);
}

TEST_F(ProductTest, RefusesBadAxes) {
  const auto run = [](benchmark::State&, const Model&) {};
  const auto code_of = [&](const std::string& name, Axis<Model> axis) {
    return Product(name, run, std::move(axis)).status().code();
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

TEST_F(ProductTest, OtherBenchmarksRunWhereTheyStand) {
  const auto plain = [](benchmark::State& state) {
    for (auto _ : state) {
    }
  };
  benchmark::RegisterBenchmark("BM_Before(a+b)", plain);
  benchmark::RegisterBenchmark("BM_Before2", plain)->Arg(3);
  RegisterThreeByTwo();
  benchmark::RegisterBenchmark("BM_After<int[3]>{4}", plain);
  const Outcome outcome = RunWith({});
  EXPECT_EQ(outcome.count, 9u);
  ASSERT_EQ(outcome.reporter.names.size(), 9u);
  EXPECT_EQ(outcome.reporter.names[0], "BM_Before(a+b)");
  EXPECT_EQ(outcome.reporter.names[1], "BM_Before2/3");
  EXPECT_EQ(outcome.reporter.names[8], "BM_After<int[3]>{4}");
  EXPECT_EQ(load_count, 5);
}

// Long names in large number: one filter over all of them would be refused by
// the machine's regular expressions.
TEST_F(ProductTest, ManyOtherBenchmarksAllRun) {
  const std::string base(55, 'x');
  std::set<std::string> ran;
  for (int i = 0; i < 1500; ++i) {
    const std::string name = absl::StrCat("BM_", base, "/number:", i);
    benchmark::RegisterBenchmark(name.c_str(),
                                 [&ran, name](benchmark::State& state) {
                                   for (auto _ : state) {
                                   }
                                   ran.insert(name);
                                 });
  }
  RegisterThreeByTwo();
  const Outcome outcome = RunWith({});
  EXPECT_EQ(ran.size(), 1500u);
  EXPECT_EQ(outcome.count, 1506u);
  EXPECT_EQ(outcome.reporter.names.size(), 1506u);
  EXPECT_EQ(outcome.exit_status, 0);
}

// A line break cuts a name in the list in two, and nothing has such a name.
TEST_F(ProductTest, ABenchmarkThatDoesNotRunIsAFailure) {
  const auto plain = [](benchmark::State& state) {
    for (auto _ : state) {
    }
  };
  benchmark::RegisterBenchmark("BM_Two\nLines", plain);
  benchmark::RegisterBenchmark("BM_Plain", plain);
  RegisterThreeByTwo();
  const Outcome outcome = RunWith({});
  EXPECT_EQ(outcome.count, 7u);
  EXPECT_EQ(outcome.exit_status, 1);
  ASSERT_GT(outcome.trace.events_size(), 0);
  EXPECT_EQ(outcome.trace.events(0).kind(), MemoEvent::NOT_RUN);
  EXPECT_NE(outcome.trace.events(0).detail().find("2 of 3"), std::string::npos)
      << outcome.trace.events(0).detail();
}

TEST_F(ProductTest, BenchmarksOfOneNameRunOnceEach) {
  std::vector<int> calls(2);
  const auto plain = [&calls](int number) {
    return [&calls, number](benchmark::State& state) {
      for (auto _ : state) {
      }
      ++calls[static_cast<size_t>(number)];
    };
  };
  benchmark::RegisterBenchmark("BM_Same", plain(0));
  RegisterThreeByTwo();
  benchmark::RegisterBenchmark("BM_Same", plain(1));
  const Outcome outcome = RunWith({});
  EXPECT_EQ(calls, std::vector<int>({1, 1}));
  EXPECT_EQ(outcome.count, 8u);
  EXPECT_EQ(outcome.exit_status, 0);
}

TEST_F(ProductTest, BenchmarksOfOneNameRunOnceEachAlsoAmongMany) {
  const std::string base(60, 'x');
  int call_count = 0;
  for (int i = 0; i <= 1500; ++i) {
    benchmark::RegisterBenchmark(absl::StrCat("BM_", i % 1500, base).c_str(),
                                 [&call_count](benchmark::State& state) {
                                   for (auto _ : state) {
                                   }
                                   ++call_count;
                                 })
        ->Iterations(1);
  }
  const Outcome outcome = RunWith({});
  EXPECT_EQ(outcome.count, 1501u);
  EXPECT_EQ(call_count, 1501);
  EXPECT_EQ(outcome.exit_status, 0);
}

TEST_F(ProductTest, ABenchmarkThatThrowsLeavesItsNeighboursTheirRows) {
  const auto plain = [](benchmark::State& state) {
    for (auto _ : state) {
    }
  };
  const auto throwing = [](benchmark::State&) {
    throw std::runtime_error("bad weather");
  };
  benchmark::RegisterBenchmark("BM_ThrowsFirst", throwing);
  benchmark::RegisterBenchmark("BM_One", plain);
  benchmark::RegisterBenchmark("BM_Two\nLines", plain);
  benchmark::RegisterBenchmark("BM_ThrowsLater", throwing);
  benchmark::RegisterBenchmark("BM_Three", plain);
  const Outcome outcome = RunWith({});
  EXPECT_EQ(outcome.reporter.names,
            std::vector<std::string>({"BM_One", "BM_Three"}));
  EXPECT_EQ(outcome.count, 2u);
  EXPECT_EQ(outcome.exit_status, 1);
  std::vector<std::string> failed;
  int not_run_count = 0;
  for (const MemoEvent& event : outcome.trace.events()) {
    if (event.kind() == MemoEvent::TASK_FAILED) {
      failed.push_back(event.name());
      EXPECT_NE(event.detail().find("bad weather"), std::string::npos);
    }
    not_run_count += event.kind() == MemoEvent::NOT_RUN ? 1 : 0;
  }
  EXPECT_EQ(failed,
            std::vector<std::string>({"BM_ThrowsFirst", "BM_ThrowsLater"}));
  EXPECT_EQ(not_run_count, 1);  // What has a line break in its name.
}

TEST_F(ProductTest, RefusesNamesThatWouldEndTheProcess) {
  const auto plain = [](benchmark::State& state) {
    for (auto _ : state) {
    }
  };
  benchmark::RegisterBenchmark(std::string(4000, 'l').c_str(), plain);
  EXPECT_EQ(RunWith({}).count, 1u);
  benchmark::RegisterBenchmark(
      absl::StrCat("BM_Long", std::string(20'000, 'l')).c_str(), plain);
  const Outcome outcome = RunWith({});
  EXPECT_EQ(outcome.exit_status, 2);
  EXPECT_THAT(outcome.status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_NE(outcome.status.message().find("BM_Longlll"), std::string::npos);
  EXPECT_LT(outcome.status.message().size(), 400u);
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

TEST_F(ProductTest, SaysThePlanInALineForTheProfile) {
  RegisterThreeByTwo();
  const Outcome outcome = RunWith({"--memo_budget=2KiB"});
  ASSERT_EQ(outcome.remarks.size(), 1u);
  EXPECT_EQ(outcome.remarks[0].about(), "memo plan");
  EXPECT_EQ(outcome.remarks[0].text(),
            "5 values, 5 loads planned (keep to last use, optimal), 3 alive at "
            "most; peak 800 B, budget 2.00 KiB (2,048 B)");
  benchmark::ClearRegisteredBenchmarks();
  EXPECT_EQ(RunWith({}).remarks.size(), 0u);
}

// As the README's program: all models are needed again by the second product.
TEST_F(ProductTest, SaysWhatAnotherOrderWouldNeed) {
  Axis<Model> models = MakeAxis<Model>("model", 3, 100);
  Axis<Data> data = MakeAxis<Data>("data", 2, 50);
  ASSERT_THAT(Product(
                  Unique("alone"),
                  [](benchmark::State& state, const Model&) {
                    for (auto _ : state) {
                    }
                  },
                  models),
              IsOk());
  ASSERT_THAT(Product(
                  Unique("pairs"),
                  [](benchmark::State& state, const Model&, const Data&) {
                    for (auto _ : state) {
                    }
                  },
                  models, data),
              IsOk());
  const Outcome given = RunWith({});
  EXPECT_EQ(given.trace.plan().peak_bytes(), 400);
  EXPECT_EQ(given.trace.peak_bytes(), 400);
  EXPECT_NE(given.remarks[0].text().find(
                "peak 400 B; in another order (--memo_order=reorder) 200 B"),
            std::string::npos)
      << given.remarks[0].text();
  load_count = 0;
  const Outcome reordered = RunWith({"--memo_order=reorder"});
  EXPECT_EQ(reordered.trace.peak_bytes(), 200);
  EXPECT_EQ(load_count, 5);
  EXPECT_EQ(reordered.trace.plan().other_order_peak_count(), 0);
}

TEST_F(ProductTest, GuessesAFilesSizeAndRefusesNothingForIt) {
  const std::string path = testing::TempDir() + "/guessed";
  std::ofstream(path) << std::string(700, 'w');
  Axis<Model> axis = MakeAxis<Model>("model", 1, 0);
  axis.memos.push_back(*MakeMemo<Model>(path, [] { return Model{7}; }));
  MemoOptions options;
  options.source_path = path;
  axis.memos.push_back(*MakeMemo<Model>(
      Unique("from a file"), [] { return Model{8}; }, options));
  ASSERT_THAT(Product(
                  Unique("BM"),
                  [](benchmark::State& state, const Model&) {
                    for (auto _ : state) {
                    }
                  },
                  axis),
              IsOk());
  const Outcome outcome = RunWith({});
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_TRUE(outcome.trace.plan().values(0).is_unknown());
  EXPECT_TRUE(outcome.trace.plan().values(1).is_guessed());
  EXPECT_EQ(outcome.trace.plan().values(1).bytes(), 700);
  EXPECT_EQ(outcome.trace.plan().values(2).bytes(), 700);
  EXPECT_NE(outcome.remarks[0].text().find("2 sizes guessed; 1 sizes unknown"),
            std::string::npos);
  const Outcome some =
      RunWith({"--memo_budget=700B", "--benchmark_filter=guessed|file"});
  EXPECT_EQ(some.exit_status, 0) << some.status;
}

TEST_F(ProductTest, RemembersWhatWasMeasured) {
  RegisterThreeByTwo();
  const std::string path = testing::TempDir() + "/remembered.binpb";
  // Without jemalloc no size is measured, but how long each load took is.
  EXPECT_EQ(RunWith({"--memo_remember=" + path}).exit_status, 0);
  absl::StatusOr<MemoTrace> remembered = ReadMemoTraceFile(path);
  ASSERT_THAT(remembered, IsOk());
  EXPECT_EQ(remembered->events_size(), 5);
  for (const MemoEvent& event : remembered->events()) {
    EXPECT_EQ(event.bytes(), 0);
    EXPECT_GT(event.load_nanoseconds(), 0);
  }
  // As an earlier run, with another program's value besides.
  LoadedSize size;
  size.bytes = 4000;
  size.load_peak_bytes = 5 << 20;
  size.source = SizeSource::kMeasured;
  ASSERT_THAT(
      WriteMemoTraceFile(
          TraceOfSizes({{Unique("model0"), size}, {"other", size}}), path),
      IsOk());
  const Outcome outcome = RunWith({"--memo_remember=" + path});
  EXPECT_EQ(outcome.trace.plan().values(0).bytes(), 4000);
  EXPECT_EQ(outcome.trace.plan().values(0).load_peak_bytes(), 5 << 20);
  EXPECT_EQ(outcome.trace.plan().peak_bytes(), 5 << 20);
  EXPECT_EQ(ReadMemoTraceFile(path)->events_size(), 6);
  EXPECT_EQ(RunWith({"--memo_remember=/no/such/folder/x"}).exit_status, 2);
  std::ofstream(path) << "no trace";
  EXPECT_EQ(RunWith({"--memo_remember=" + path}).exit_status, 2);
}

TEST_F(ProductTest, WhatAnotherRunRemembersMeanwhileStays) {
  const std::string path = testing::TempDir() + "/remembered_by_two.binpb";
  std::ofstream(path, std::ios::trunc).flush();  // Empty: no sizes.
  LoadedSize size;
  size.bytes = 4000;
  size.source = SizeSource::kMeasured;
  ASSERT_THAT(Product(
                  Unique("BM"),
                  [&](benchmark::State& state, const Model&) {
                    for (auto _ : state) {
                    }
                    EXPECT_THAT(RememberSizes({{"other", size}}, path), IsOk());
                  },
                  MakeAxis<Model>("model", 1, 400)),
              IsOk());
  EXPECT_EQ(RunWith({"--memo_remember=" + path}).exit_status, 0);
  EXPECT_EQ((*ReadRememberedSizes(path))["other"].bytes, 4000);
}

TEST_F(ProductTest, ADifferentSizeIsSaidWithTheFlagThatIsInUse) {
  const std::string path = testing::TempDir() + "/different.binpb";
  LoadedSize size;
  size.bytes = 4000;
  size.source = SizeSource::kMeasured;
  ASSERT_THAT(
      WriteMemoTraceFile(TraceOfSizes({{Unique("model0"), size}}), path),
      IsOk());
  RegisterThreeByTwo();
  const Outcome outcome = RunWith({"--memo_remember=" + path});
  int differing_count = 0;
  for (const MemoEvent& event : outcome.trace.events()) {
    if (event.kind() != MemoEvent::SIZE_DIFFERS) continue;
    ++differing_count;
    EXPECT_NE(event.detail().find("--memo_remember="), std::string::npos);
    EXPECT_EQ(event.detail().find("--memo_trace_out="), std::string::npos);
  }
  EXPECT_EQ(differing_count, 1);
}

TEST_F(ProductTest, AnAutomaticBudgetIsWhatTheMachineHasLeft) {
  RegisterThreeByTwo();
  const Outcome outcome = RunWith({"--memo_budget=auto"});
  EXPECT_EQ(outcome.exit_status, 0) << outcome.status;
  EXPECT_GT(outcome.trace.plan().budget_bytes(), 800);
  EXPECT_TRUE(outcome.trace.plan().counts_resident_bytes());
}

TEST_F(ProductTest, WhatFactoriesLoadCountsAndIsEvicted) {
  int inner_count = 0;
  const Memo<Data> inner = *MakeMemo<Data>(
      Unique("inner"),
      [&] {
        ++inner_count;
        return Data{5};
      },
      100);
  Axis<Model> axis{"model", {}};
  for (int i = 0; i < 3; ++i) {
    axis.memos.push_back(*MakeMemo<Model>(
        Unique(absl::StrCat("model", i)),
        [inner, i]() -> absl::StatusOr<Model> {
          const auto handle = inner.Get();
          if (!handle.ok()) return handle.status();
          return Model{i + (*handle)->id};
        },
        400));
  }
  ASSERT_THAT(Product(
                  Unique("BM"),
                  [](benchmark::State& state, const Model&) {
                    for (auto _ : state) {
                    }
                  },
                  axis),
              IsOk());
  const Outcome outcome = RunWith({});
  EXPECT_EQ(outcome.trace.peak_bytes(), 500);
  EXPECT_EQ(outcome.trace.events(1).kind(), MemoEvent::LOADED_BY_FACTORY);
  EXPECT_EQ(outcome.trace.events(1).name(), Unique("inner"));
  EXPECT_EQ(inner_count, 1);
  EXPECT_FALSE(inner.statistics().is_loaded);
  // Under a budget it makes room at once; the run says that it had none.
  const Outcome budgeted = RunWith({"--memo_budget=450B"});
  EXPECT_EQ(budgeted.exit_status, 1);
  EXPECT_EQ(inner_count, 4);
  EXPECT_EQ(RunWith({"--memo_budget=500B"}).exit_status, 0);
  EXPECT_EQ(ReadMemoTotals().loaded_count, 0);
}

// What somebody else has loaded is alive too, but was no load of the plan.
TEST_F(ProductTest, AValueFoundLoadedCountsAsAliveNotAsALoad) {
  Axis<Model> axis = MakeAxis<Model>("model", 2, 400);
  ASSERT_THAT(Product(
                  Unique("BM"),
                  [](benchmark::State& state, const Model&) {
                    for (auto _ : state) {
                    }
                  },
                  axis),
              IsOk());
  ASSERT_THAT(axis.memos[0].Get(), IsOk());
  const Outcome outcome = RunWith({});
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_EQ(outcome.trace.events(0).kind(), MemoEvent::FOUND_LOADED);
  EXPECT_EQ(outcome.trace.events(0).bytes(), 400);
  EXPECT_EQ(outcome.trace.load_count(), 1);
  EXPECT_EQ(outcome.trace.peak_bytes(), 400);
  EXPECT_EQ(load_count, 2);
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

// So that each can have a process of its own.
TEST_F(ProductTest, OneProductCanBeRunByItself) {
  const std::string product = Unique("first");
  const std::string other = Unique("second");
  Axis<Model> axis = MakeAxis<Model>("model", 2, 400);
  const auto run = [](benchmark::State& state, const Model&) {
    for (auto _ : state) {
    }
  };
  ASSERT_THAT(Product(product, run, axis), IsOk());
  ASSERT_THAT(Product(other, run, axis), IsOk());
  const Outcome outcome = RunWith({"--memo_product=" + other});
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_EQ(outcome.count, 2u);
  for (const MemoEvent& event : outcome.trace.events()) {
    if (event.kind() != MemoEvent::CELL_RAN) continue;
    EXPECT_EQ(event.name().find(other + "/"), 0u) << event.name();
  }
  ASSERT_EQ(outcome.remarks.size(), 1u);
  EXPECT_EQ(outcome.remarks[0].about(), "memo plan of " + other);

  const Outcome none =
      RunWith({"--memo_product=" + other, "--benchmark_filter=model1$",
               "--memo_product=none"});
  EXPECT_EQ(none.exit_status, 2);
  EXPECT_THAT(none.status, StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ProductTest, CellsShareTheProcessOfTheirProduct) {
  const std::string product = Unique("BM");
  ASSERT_THAT(Product(
                  product,
                  [](benchmark::State& state, const Model&) {
                    for (auto _ : state) {
                    }
                  },
                  MakeAxis<Model>("model", 2, 400)),
              IsOk());
  const auto argument_of = [](std::string flag, const std::string& instance) {
    std::string program = "program";
    char* argv[] = {&program[0], &flag[0], nullptr};
    int argc = 2;
    return PlannedBenchmarks(&argc, argv).sharing()(instance);
  };
  EXPECT_EQ(argument_of("--x", absl::StrCat(product, "/model:", Unique("model"),
                                            "1/threads:2")),
            "--memo_product=" + product);
  EXPECT_EQ(argument_of("--x", "BM_Plain"), "");
  // Its file holds one plan.
  EXPECT_EQ(argument_of("--memo_trace_out=t", "BM_Plain"),
            "--memory_one_process");
  // Its file holds the sizes of one run.
  EXPECT_EQ(argument_of("--memo_remember=s", "BM_Plain"),
            "--memory_one_process");
}

TEST_F(ProductTest, WritesAllRowsToOneFile) {
  RegisterThreeByTwo();
  const std::string path = testing::TempDir() + "/rows.json";
  EXPECT_EQ(RunWith({"--benchmark_out=" + path}).exit_status, 0);
  const std::string text = ReadFile(path);
  for (int cell = 0; cell < 6; ++cell) {
    EXPECT_NE(text.find(Cell(cell / 2, cell % 2)), std::string::npos);
  }
  EXPECT_EQ(text.find("\"context\""), text.rfind("\"context\""));
}

TEST_F(ProductTest, WritesAllRowsToTheFileThatTheEnvironmentNames) {
  RegisterThreeByTwo();
  const std::string path = testing::TempDir() + "/environment.json";
  ASSERT_EQ(setenv("BENCHMARK_OUT", path.c_str(), 1), 0);
  EXPECT_EQ(RunWith({}).exit_status, 0);
  unsetenv("BENCHMARK_OUT");
  const std::string text = ReadFile(path);
  for (int cell = 0; cell < 6; ++cell) {
    EXPECT_NE(text.find(Cell(cell / 2, cell % 2)), std::string::npos);
  }
}

TEST_F(ProductTest, SaysBeforeItRunsWhatCannotBeWritten) {
  RegisterThreeByTwo();
  for (const char* flag :
       {"--benchmark_out=/no/such/folder/x", "--memo_trace_out=/no/such/x"}) {
    const Outcome outcome = RunWith({flag});
    EXPECT_EQ(outcome.exit_status, 2);
    EXPECT_THAT(outcome.status, StatusIs(absl::StatusCode::kNotFound));
    EXPECT_EQ(load_count, 0);
  }
}

TEST_F(ProductTest, ATraceTellsTheNextPlanTheSizes) {
  RegisterThreeByTwo();
  const std::string path = testing::TempDir() + "/sizes.binpb";
  ASSERT_EQ(RunWith({"--memo_trace_out=" + path}).exit_status, 0);
  const absl::StatusOr<MemoTrace> trace = ReadMemoTraceFile(path);
  ASSERT_THAT(trace, IsOk());
  EXPECT_EQ(trace->load_count(), 5);
  const Outcome outcome = RunWith({"--memo_sizes=" + path});
  EXPECT_EQ(outcome.exit_status, 0);
  // Without jemalloc the sizes of the trace are the declared ones.
  EXPECT_FALSE(outcome.trace.plan().values(0).is_measured());
  MemoTrace measured = *trace;
  for (MemoEvent& event : *measured.mutable_events()) {
    if (event.kind() == MemoEvent::LOADED) event.set_bytes(4000);
    event.set_is_measured(event.kind() == MemoEvent::LOADED);
  }
  ASSERT_THAT(WriteMemoTraceFile(measured, path), IsOk());
  const Outcome second = RunWith({"--memo_sizes=" + path});
  EXPECT_TRUE(second.trace.plan().values(0).is_measured());
  EXPECT_EQ(second.trace.plan().values(0).bytes(), 4000);
  // Declared sizes of 400 bytes are no 4,000: the run says so.
  int differing_count = 0;
  for (const MemoEvent& event : second.trace.events()) {
    differing_count += event.kind() == MemoEvent::SIZE_DIFFERS;
  }
  EXPECT_EQ(differing_count, 5);
}

TEST_F(ProductTest, ABudgetThatLoadsExceedIsAProblem) {
  RegisterThreeByTwo();
  const std::string path = testing::TempDir() + "/too_small.binpb";
  ASSERT_EQ(RunWith({"--memo_trace_out=" + path}).exit_status, 0);
  MemoTrace trace = *ReadMemoTraceFile(path);
  for (MemoEvent& event : *trace.mutable_events()) {
    if (event.kind() == MemoEvent::LOADED) event.set_bytes(1);
  }
  ASSERT_THAT(WriteMemoTraceFile(trace, path), IsOk());
  // Planned with a byte each, but the values take 400 and 200.
  const Outcome outcome = RunWith({"--memo_sizes=" + path, "--memo_budget=3"});
  EXPECT_EQ(outcome.exit_status, 1);
  int exceeding_count = 0;
  for (const MemoEvent& event : outcome.trace.events()) {
    exceeding_count += event.kind() == MemoEvent::BUDGET_EXCEEDED;
  }
  EXPECT_GT(exceeding_count, 0);
}

TEST_F(ProductTest, ABadFilterIsNamedAsSuch) {
  RegisterThreeByTwo();
  const Outcome outcome = RunWith({"--benchmark_filter=["});
  EXPECT_EQ(outcome.exit_status, 2);
  EXPECT_NE(outcome.status.message().find("Could not compile"),
            std::string::npos)
      << outcome.status;
}

}  // namespace
}  // namespace footprint
