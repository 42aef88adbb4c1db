// Axes of every kind in products, and the numbers and files of their rows.

#include <cstdint>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "benchmark/benchmark.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/memo/memo.h"
#include "footprint/memo/product/axis.h"
#include "footprint/memo/product/planned_benchmarks.h"
#include "footprint/memo/product/product.h"
#include "footprint/memo/product/product_fixture.h"
#include "footprint/memo/schedule/memo_trace.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::StartsWith;

void RunNothing(benchmark::State& state) {
  for (auto _ : state) {
  }
}

TEST_F(ProductTest, PlainValuesAreAnAxis) {
  std::vector<std::string> seen;
  auto product = Product(
      Unique("BM"),
      [&](benchmark::State& state, const Model& model, int batch,
          const std::string& mode) {
        RunNothing(state);
        seen.push_back(absl::StrCat(model.id, " ", batch, " ", mode));
      },
      MakeAxis<Model>("model", 2, 400), ValueAxis<int>{"batch", {1, 8}},
      ValueAxis<std::string>{"mode", {"fast"}});
  ASSERT_THAT(product, IsOk());
  EXPECT_EQ(product->cell_count(), 4u);
  std::vector<std::string> told;
  product->Setup([&](const Model& model, const int& batch, const std::string&) {
    told.push_back(absl::StrCat(model.id, " ", batch));
    return absl::OkStatus();
  });
  const Outcome outcome = RunWith({});
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_THAT(seen,
              ElementsAre("0 1 fast", "0 8 fast", "1 1 fast", "1 8 fast"));
  EXPECT_THAT(told, ElementsAre("0 1", "0 8", "1 1", "1 8"));
  EXPECT_THAT(outcome.reporter.names[1],
              StartsWith(absl::StrCat(Unique("BM"), "/model:", Unique("model0"),
                                      "/batch:8/mode:fast")));
  // Only the models are values of the plan.
  EXPECT_EQ(outcome.trace.plan().values_size(), 2);
  EXPECT_EQ(outcome.trace.plan().peak_bytes(), 400);
}

TEST_F(ProductTest, AProductMayHavePlainValuesOnly) {
  int sum = 0;
  ASSERT_THAT(Product(
                  Unique("BM"),
                  [&](benchmark::State& state, int size) {
                    RunNothing(state);
                    sum += size;
                  },
                  ValueAxis<int>{"size", {1, 10, 100}}),
              IsOk());
  const Outcome outcome = RunWith({});
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_EQ(sum, 111);
}

TEST_F(ProductTest, ValuesOfOneTextAreOneCellTwice) {
  EXPECT_THAT(Product(
                  Unique("BM"), [](benchmark::State&, double) {},
                  ValueAxis<double>{"rate", {1.0, 1.0 + 1e-12}}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(ProductTest, AZipAndAListOfCellsAreAxes) {
  const Axis<Model> models = MakeAxis<Model>("model", 2, 400);
  const Axis<Data> data = MakeAxis<Data>("data", 2, 200);
  std::vector<std::string> seen;
  const auto note = [&](benchmark::State& state, const Model& model,
                        const Data& of, int batch) {
    RunNothing(state);
    seen.push_back(absl::StrCat(model.id, of.id, " ", batch));
  };
  ASSERT_THAT(Product(Unique("BM_Zip"), note, Zip(models, data),
                      ValueAxis<int>{"batch", {1, 8}}),
              IsOk());
  ASSERT_THAT(
      Product(Unique("BM_Cells"), note,
              Cells<Model, Data, int>{{"model", "data", "batch"},
                                      {{models.memos[1], data.memos[0], 3},
                                       {models.memos[0], data.memos[0], 5}}}),
      IsOk());
  const Outcome outcome = RunWith({});
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_THAT(seen,
              ElementsAre("00 1", "00 8", "11 1", "11 8", "10 3", "00 5"));
  EXPECT_EQ(load_count, 4);
  const Outcome only_zip = RunWith({"--memo_product=" + Unique("BM_Zip")});
  EXPECT_EQ(only_zip.trace.plan().peak_bytes(), 600);
}

TEST_F(ProductTest, AnAxisThatCannotBeMadeIsTheProductsError) {
  const auto load = [](const std::string&) { return Model(); };
  const std::string path = Unique("path");
  const auto product = Product(
      Unique("BM"), [](benchmark::State&, const Model&, int) {},
      footprint::MakeAxis<Model>("model", {path, path}, load),
      ValueAxis<int>{"batch", {1}});
  EXPECT_THAT(product, StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_THAT(std::string(product.status().message()), HasSubstr(path));
  EXPECT_THAT(Product(
                  Unique("BM"), [](benchmark::State&, const Model&, int) {},
                  footprint::MakeAxis<Model>("model", {path}, load),
                  ValueAxis<int>{"batch", {}}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

// Random axes run every cell once, and load no value twice.
TEST_F(ProductTest, RandomAxesRunEveryCellOnce) {
  std::mt19937 random(15);
  for (int round = 0; round < 20; ++round) {
    benchmark::ClearRegisteredBenchmarks();
    load_count = 0;
    const int model_count = 1 + static_cast<int>(random() % 3);
    const int zipped_count = 1 + static_cast<int>(random() % 3);
    ValueAxis<int> batch{"batch", {}};
    for (int i = 0; i < zipped_count; ++i) batch.values.push_back(i);
    std::map<std::string, int> counts;
    ASSERT_THAT(Product(
                    Unique(absl::StrCat("BM", round)),
                    [&](benchmark::State& state, const Model& model,
                        const Data& data, int index) {
                      RunNothing(state);
                      EXPECT_EQ(data.id, index);
                      ++counts[absl::StrCat(model.id, " ", index)];
                    },
                    MakeAxis<Model>(absl::StrCat("model", round, "_"),
                                    model_count, 400),
                    Zip(MakeAxis<Data>(absl::StrCat("data", round, "_"),
                                       zipped_count, 200),
                        batch)),
                IsOk());
    const Outcome outcome = RunWith({});
    EXPECT_EQ(outcome.exit_status, 0);
    EXPECT_EQ(load_count, model_count + zipped_count);
    EXPECT_EQ(counts.size(), static_cast<size_t>(model_count * zipped_count));
    for (const auto& [cell, count] : counts) EXPECT_EQ(count, 1) << cell;
  }
}

TEST_F(ProductTest, EachRowHasItsFamilysNumber) {
  benchmark::RegisterBenchmark(Unique("BM_Before").c_str(), RunNothing)
      ->Arg(8)
      ->Arg(64);
  RegisterThreeByTwo();
  benchmark::RegisterBenchmark(Unique("BM_After").c_str(), RunNothing);
  const Outcome outcome = RunWith({});
  EXPECT_THAT(
      outcome.reporter.family_numbers,
      ElementsAre(Pair(0, 0), Pair(0, 1), Pair(2, 0), Pair(3, 0), Pair(4, 0),
                  Pair(5, 0), Pair(6, 0), Pair(7, 0), Pair(8, 0)));
  const Outcome reordered =
      RunWith({"--memo_budget=600B", "--memo_order=reorder"});
  ASSERT_TRUE(reordered.trace.plan().is_reordered());
  std::map<std::string, std::pair<int64_t, int64_t>> in_order;
  for (size_t i = 0; i < outcome.reporter.names.size(); ++i) {
    in_order[outcome.reporter.names[i]] = outcome.reporter.family_numbers[i];
  }
  ASSERT_EQ(reordered.reporter.names.size(), 9u);
  for (size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(reordered.reporter.family_numbers[i],
              in_order[reordered.reporter.names[i]]);
  }
}

TEST_F(ProductTest, RepetitionsShareTheirFamilysNumber) {
  RegisterThreeByTwo();
  const Outcome outcome =
      RunWith({"--benchmark_repetitions=2", "--benchmark_filter=model1"});
  std::map<int64_t, int> row_counts;
  for (const auto& numbers : outcome.reporter.family_numbers) {
    ++row_counts[numbers.first];
  }
  ASSERT_EQ(row_counts.size(), 2u);
  EXPECT_EQ(row_counts[0], row_counts[1]);
  EXPECT_GE(row_counts[0], 2);
}

TEST_F(ProductTest, WritesRowsAsCommaSeparatedValues) {
  ASSERT_THAT(Product(
                  Unique("BM"),
                  [](benchmark::State& state, int size) {
                    RunNothing(state);
                    state.counters[size == 1 ? "first" : "second"] = size;
                  },
                  ValueAxis<int>{"size", {1, 2}}),
              IsOk());
  const std::string path = testing::TempDir() + "/rows.csv";
  EXPECT_EQ(RunWith({"--benchmark_out=" + path, "--benchmark_out_format=csv"})
                .exit_status,
            0);
  const std::vector<std::string> lines =
      absl::StrSplit(ReadFile(path), '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines[0], AllOf(StartsWith("name,iterations,"),
                              HasSubstr("\"first\",\"second\"")));
  EXPECT_THAT(lines[1], HasSubstr("/size:1"));
  EXPECT_THAT(lines[2], HasSubstr("/size:2"));
}

TEST_F(ProductTest, PrintsThePlanAndRunsNothing) {
  RegisterThreeByTwo();
  testing::internal::CaptureStdout();
  const Outcome text = RunWith({"--memo_plan=text"});
  const std::string printed = testing::internal::GetCapturedStdout();
  EXPECT_EQ(text.exit_status, 0);
  EXPECT_EQ(load_count, 0);
  EXPECT_EQ(call_count, 0);
  EXPECT_THAT(printed, StartsWith("5 values, 5 loads planned"));
  EXPECT_THAT(printed, HasSubstr(Cell(2, 1)));
  testing::internal::CaptureStdout();
  RunWith({"--memo_plan=json", "--memo_budget=600B"});
  const std::string json = testing::internal::GetCapturedStdout();
  EXPECT_EQ(load_count, 0);
  EXPECT_THAT(json, StartsWith("{\n"));
  EXPECT_THAT(json, HasSubstr("\"budget_bytes\": 600"));
  EXPECT_EQ(RunWith({"--memo_plan=page"}).exit_status, 2);
}

TEST_F(ProductTest, WritesTheTraceAsJson) {
  RegisterThreeByTwo();
  const std::string path = testing::TempDir() + "/trace.json";
  EXPECT_EQ(RunWith({"--memo_trace_out=" + path}).exit_status, 0);
  EXPECT_THAT(ReadFile(path), HasSubstr("\"kind\": \"CELL_RAN\""));
}

TEST_F(ProductTest, HelpListsTheFlagsOfPlannedBenchmarks) {
  std::string program = "program";
  std::string help = "--help";
  char* argv[] = {&program[0], &help[0], nullptr};
  int argc = 2;
  testing::internal::CaptureStdout();
  const PlannedBenchmarks planned(&argc, argv);
  const std::string printed = testing::internal::GetCapturedStdout();
  for (const char* flag :
       {"--memo_budget=", "--memo_budget_counts=", "--memo_order=",
        "--memo_plan=", "--memo_trace_out=", "--memo_sizes=",
        "--memo_remember=", "--memo_product="}) {
    EXPECT_THAT(printed, HasSubstr(flag));
  }
  // The word stays for Google Benchmark, which prints its own flags.
  EXPECT_EQ(argc, 2);
}

template <typename T>
std::vector<int> ValuesSeen(const std::string& name, std::vector<T> values) {
  std::vector<int> seen;
  auto product = Product(
      name,
      [&](benchmark::State& state, const T& value) {
        RunNothing(state);
        seen.push_back(value);
      },
      ValueAxis<T>{"bits", std::move(values)});
  EXPECT_THAT(product, IsOk());
  EXPECT_EQ(RunWith({}).exit_status, 0);
  return seen;
}

TEST_F(ProductTest, IntegersOfEightBitsAreNumbersInNames) {
  EXPECT_THAT(ValuesSeen<uint8_t>(Unique("U"), {0, 10, 47, 255}),
              ElementsAre(0, 10, 47, 255));
  benchmark::ClearRegisteredBenchmarks();
  EXPECT_THAT(ValuesSeen<int8_t>(Unique("I"), {-128, 0, 127}),
              ElementsAre(-128, 0, 127));
}

TEST_F(ProductTest, ANameThatGoogleBenchmarkCannotTellApartIsRefused) {
  for (const std::string& bad : {std::string("a\0b", 3), std::string("a\nb")}) {
    const auto product = Product(
        Unique("BM"),
        [](benchmark::State& state, const std::string&) { RunNothing(state); },
        ValueAxis<std::string>{"value", {bad, "other"}});
    EXPECT_THAT(product.status(), StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(std::string(product.status().message()),
                HasSubstr(" in its name"));
  }
}

TEST_F(ProductTest, ACellThatIsCalledWithoutItsValuesFailsTheRun) {
  std::vector<std::string> seen;
  auto product = Product(
      Unique("BM"),
      [&](benchmark::State& state, const std::string& value) {
        RunNothing(state);
        seen.push_back(value);
      },
      ValueAxis<std::string>{"value", {"a", "a/iterations:1"}});
  ASSERT_THAT(product, IsOk());
  product->ForEach([](auto* cell) { cell->Iterations(1); });
  testing::internal::CaptureStderr();
  EXPECT_EQ(RunWith({}).exit_status, 1);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("was called where the plan has another one"));
  EXPECT_LT(seen.size(), 2u);
}

}  // namespace
}  // namespace footprint
