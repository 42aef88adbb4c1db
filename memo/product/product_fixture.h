// A fixture that tests of products share: it records rows, runs with flags, and
// registers three models by two data sets.
//
//   TEST_F(ProductTest, RunsAll) {
//     RegisterThreeByTwo();
//     EXPECT_EQ(RunWith({"--memo_budget=600B"}).count, 6u);
//   }
//
// Not thread-safe, since Google Benchmark's flags and registry are global.
// Memory: names and errors of the rows.

#ifndef FOOTPRINT_MEMO_PRODUCT_PRODUCT_FIXTURE_H_
#define FOOTPRINT_MEMO_PRODUCT_PRODUCT_FIXTURE_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
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

struct Model {
  int id = 0;
};
struct Data {
  int id = 0;
};

// Records the names and errors of rows, and counts the calls of each function.
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
      errors[run.benchmark_name()] = DescribeError(run, 0);
      family_numbers.emplace_back(run.family_index,
                                  run.per_family_instance_index);
    }
  }
  void Finalize() override { ++finalize_count; }

  int context_count = 0;
  int finalize_count = 0;
  size_t name_field_width = 0;
  std::vector<std::string> names;
  std::map<std::string, std::string> errors;
  // `family_index` and `per_family_instance_index`, in the order of `names`.
  std::vector<std::pair<int64_t, int64_t>> family_numbers;

 private:
  template <typename AnyRun>
  static auto DescribeError(const AnyRun& run, int)
      -> decltype(run.error_occurred, std::string()) {
    return run.error_occurred ? run.error_message : "";
  }
  template <typename AnyRun>
  static auto DescribeError(const AnyRun& run, long)
      -> decltype(run.skipped, std::string()) {
    return run.skip_message;
  }
};

// Returns the bytes of a file; "" if it cannot be read.
inline std::string ReadFile(const std::string& path) {
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

// Runs the registered benchmarks with these flags.
inline Outcome RunWith(std::vector<std::string> flags) {
  flags.insert(flags.begin(), "product_test");
  // Google Benchmark keeps its flags after a run, so these are reset.
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

// Clears the registered benchmarks, and names memos and cells after the test.
class ProductTest : public testing::Test {
 protected:
  void SetUp() override { benchmark::ClearRegisteredBenchmarks(); }

  // Returns the name with the test's name in front.
  std::string Unique(const std::string& name) {
    return absl::StrCat(
        testing::UnitTest::GetInstance()->current_test_info()->name(), "_",
        name);
  }

  // Returns an axis of `count` memos with `bytes` declared bytes each. They
  // count their loads and live values.
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

  // Registers three models by two data sets, and counts the calls.
  ProductBenchmarks<Model, Data> RegisterThreeByTwo() {
    auto product = Product(
        Unique("BM"),
        [this](benchmark::State& state, const Model& model, const Data&) {
          ++call_count;
          for (auto _ : state) {
            int id = model.id;
            benchmark::DoNotOptimize(id);
          }
        },
        MakeAxis<Model>("model", 3, 400), MakeAxis<Data>("data", 2, 200));
    EXPECT_THAT(product, IsOk());
    return *product;
  }

  // Returns the name of a cell of RegisterThreeByTwo.
  std::string Cell(int model, int data) {
    return absl::StrCat(Unique("BM"), "/model:", Unique("model"), model,
                        "/data:", Unique("data"), data);
  }

  int load_count = 0;
  int live = 0;
  int most_live = 0;
  int failing_id = -1;
  std::atomic<int> call_count{0};
};

}  // namespace footprint

#endif  // FOOTPRINT_MEMO_PRODUCT_PRODUCT_FIXTURE_H_
