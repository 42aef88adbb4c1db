#include "footprint/memo/product/planned_benchmarks.h"

#include <cstddef>
#include <cstdlib>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "benchmark/benchmark.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/memo/product/product.h"
#include "footprint/memo/product/product_fixture.h"
#include "footprint/memo/schedule/memo_trace.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

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

// There are many long names: the machine's regular expressions would refuse one
// filter over all of them.
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

// There are so many cells that some share a call of Google Benchmark, with
// another benchmark between them.
TEST_F(ProductTest, AnotherBenchmarkStandsBetweenManyCells) {
  const auto run = [](benchmark::State& state, const Model&) {
    for (auto _ : state) {
    }
  };
  ASSERT_THAT(Product(Unique("first"), run, MakeAxis<Model>("a", 50, 1)),
              IsOk());
  benchmark::RegisterBenchmark("BM_Between", [](benchmark::State& state) {
    for (auto _ : state) {
    }
  });
  ASSERT_THAT(Product(Unique("second"), run, MakeAxis<Model>("b", 50, 1)),
              IsOk());
  const Outcome outcome = RunWith({});
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_EQ(outcome.count, 101u);
  ASSERT_EQ(outcome.reporter.names.size(), 101u);
  EXPECT_EQ(outcome.reporter.names[50], "BM_Between");
  EXPECT_EQ(load_count, 100);
}

// A line break splits a name in the list into two names that no benchmark has.
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
  EXPECT_EQ(not_run_count, 1);  // the one with a line break in its name
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
  // The trace file holds one plan.
  EXPECT_EQ(argument_of("--memo_trace_out=t", "BM_Plain"),
            "--memory_one_process");
  // The file of sizes holds the sizes of one run.
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
