#include "footprint/memo/product/product_flags.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::Not;

struct Taken {
  absl::StatusOr<ProductOptions> options;
  std::vector<std::string> left;
};

Taken TakeFrom(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "program");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(&argument[0]);
  int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  Taken taken = {TakeProductFlags(&argc, argv.data()), {}};
  EXPECT_EQ(argv[static_cast<size_t>(argc)], nullptr);
  for (int i = 1; i < argc; ++i) {
    taken.left.push_back(argv[static_cast<size_t>(i)]);
  }
  return taken;
}

TEST(ProductFlagsTest, TakesItsOwnAndLeavesTheRest) {
  const Taken taken =
      TakeFrom({"--benchmark_filter=x", "--memo_budget=1KiB",
                "--memo_order=reorder", "--memo_trace_out=t", "--memo_sizes=s",
                "--memo_product=p", "--benchmark_out=o",
                "--benchmark_out_format=console", "--", "--memo_budget=2KiB"});
  ASSERT_THAT(taken.options, IsOk());
  EXPECT_EQ(taken.options->budget_bytes, 1024);
  EXPECT_TRUE(taken.options->may_reorder);
  EXPECT_EQ(taken.options->trace_path, "t");
  EXPECT_EQ(taken.options->sizes_path, "s");
  EXPECT_EQ(taken.options->product, "p");
  EXPECT_EQ(taken.options->benchmark_out_path, "o");
  EXPECT_EQ(taken.options->benchmark_out_format, "console");
  EXPECT_EQ(taken.left, std::vector<std::string>({"--benchmark_filter=x", "--",
                                                  "--memo_budget=2KiB"}));
}

TEST(ProductFlagsTest, NothingIsAskedForByDefault) {
  const Taken taken = TakeFrom({});
  ASSERT_THAT(taken.options, IsOk());
  EXPECT_FALSE(taken.options->budget_bytes.has_value());
  EXPECT_FALSE(taken.options->may_reorder);
  EXPECT_FALSE(taken.options->lists_tests);
  EXPECT_FALSE(taken.options->interleaves_randomly);
  EXPECT_EQ(taken.options->benchmark_out_format, "json");
}

TEST(ProductFlagsTest, ABudgetMayBeAutoAndCountEitherBytes) {
  const auto options_of = [](std::vector<std::string> flags) {
    return TakeFrom(std::move(flags)).options;
  };
  EXPECT_TRUE(options_of({"--memo_budget=auto"})->budget_is_auto);
  EXPECT_TRUE(options_of({"--memo_budget=auto"})->counts_resident);
  EXPECT_FALSE(options_of({"--memo_budget=1KiB"})->counts_resident);
  EXPECT_TRUE(
      options_of({"--memo_budget=1KiB", "--memo_budget_counts=resident"})
          ->counts_resident);
  EXPECT_FALSE(
      options_of({"--memo_budget_counts=allocated", "--memo_budget=auto"})
          ->counts_resident);
  // The last flag counts.
  EXPECT_FALSE(
      options_of({"--memo_budget=auto", "--memo_budget=1KiB"})->budget_is_auto);
  EXPECT_FALSE(options_of({"--memo_budget=1KiB", "--memo_budget=auto"})
                   ->budget_bytes.has_value());
  EXPECT_EQ(options_of({"--memo_remember=x"})->remember_path, "x");
  EXPECT_THAT(options_of({"--memo_budget_counts=virtual"}), Not(IsOk()));
  EXPECT_THAT(options_of({"--memo_remember="}), Not(IsOk()));
}

TEST(ProductFlagsTest, SeesGoogleBenchmarksSwitches) {
  for (const char* value : {"", "=true", "=1", "=yes", "=on", "=y"}) {
    const std::string flag = "--benchmark_enable_random_interleaving";
    EXPECT_TRUE(TakeFrom({flag + value}).options->interleaves_randomly)
        << value;
    EXPECT_TRUE(TakeFrom({std::string("--benchmark_list_tests") + value})
                    .options->lists_tests);
  }
  for (const char* value : {"=false", "=0", "=no", "=off", "=F", "=n", "2"}) {
    const std::string flag = "--benchmark_enable_random_interleaving";
    EXPECT_FALSE(TakeFrom({flag + value}).options->interleaves_randomly)
        << value;
  }
  setenv("BENCHMARK_LIST_TESTS", "1", 1);
  EXPECT_TRUE(TakeFrom({}).options->lists_tests);
  EXPECT_FALSE(TakeFrom({"--benchmark_list_tests=false"}).options->lists_tests);
  unsetenv("BENCHMARK_LIST_TESTS");
}

TEST(ProductFlagsTest, TakesTheFileOfRowsFromTheEnvironmentToo) {
  setenv("BENCHMARK_OUT", "rows", 1);
  setenv("BENCHMARK_OUT_FORMAT", "console", 1);
  EXPECT_EQ(TakeFrom({}).options->benchmark_out_path, "rows");
  EXPECT_EQ(TakeFrom({}).options->benchmark_out_format, "console");
  // The command line has priority, as in Google Benchmark.
  EXPECT_EQ(TakeFrom({"--benchmark_out="}).options->benchmark_out_path, "");
  EXPECT_EQ(
      TakeFrom({"--benchmark_out_format=json"}).options->benchmark_out_format,
      "json");
  setenv("BENCHMARK_OUT_FORMAT", "csv", 1);
  EXPECT_EQ(TakeFrom({}).options->benchmark_out_format, "csv");
  setenv("BENCHMARK_OUT_FORMAT", "xml", 1);
  EXPECT_THAT(TakeFrom({}).options, Not(IsOk()));
  unsetenv("BENCHMARK_OUT_FORMAT");
  unsetenv("BENCHMARK_OUT");
}

TEST(ProductFlagsTest, SeesThatHelpIsAskedForAndLeavesItToOthers) {
  const Taken taken = TakeFrom({"--help", "--memo_plan=json"});
  EXPECT_TRUE(taken.options->asks_for_help);
  EXPECT_EQ(taken.options->plan_format, "json");
  EXPECT_FALSE(TakeFrom({"--", "--help"}).options->asks_for_help);
}

TEST(ProductFlagsTest, RefusesWhatItCannotMean) {
  for (const char* argument :
       {"--memo_budget=", "--memo_budget=1mib", "--memo_budget",
        "--memo_order=best", "--memo_order=", "--memo_bugdet=1MiB",
        "--benchmark_out_format=xml", "--memo_plan=page",
        "--memo_plan=", "--memo_trace_out=", "--memo_sizes="}) {
    const Taken taken = TakeFrom({argument});
    EXPECT_THAT(taken.options, StatusIs(absl::StatusCode::kInvalidArgument))
        << argument;
  }
}

}  // namespace
}  // namespace footprint
