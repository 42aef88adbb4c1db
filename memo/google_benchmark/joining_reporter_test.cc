#include "footprint/memo/google_benchmark/joining_reporter.h"

#include <sstream>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint::memo_internal {
namespace {

using benchmark::BenchmarkReporter;
using testing::ElementsAre;
using testing::IsEmpty;

void BM_Small(benchmark::State& state) {
  for (auto _ : state) {
  }
}
BENCHMARK(BM_Small)->Arg(1)->Arg(2)->Iterations(1);

void BM_Large(benchmark::State& state) {
  for (auto _ : state) {
  }
}
BENCHMARK(BM_Large)->Iterations(1);

// Records its calls.
class KeepingReporter : public BenchmarkReporter {
 public:
  explicit KeepingReporter(bool goes_on) : goes_on_(goes_on) {
    SetOutputStream(&text_);
    SetErrorStream(&text_);
  }
  bool ReportContext(const Context& /*context*/) override {
    calls.push_back("context");
    return goes_on_;
  }
  void ReportRuns(const std::vector<Run>& reported) override {
    for (const Run& run : reported) {
      calls.push_back(run.run_name.str());
      family_indices.push_back(run.family_index);
    }
  }
  void Finalize() override { calls.push_back("end"); }

  std::vector<std::string> calls;
  std::vector<int64_t> family_indices;

 private:
  const bool goes_on_;
  std::ostringstream text_;
};

const char* const kSmall1 = "BM_Small/1/iterations:1";
const char* const kSmall2 = "BM_Small/2/iterations:1";
const char* const kLarge = "BM_Large/iterations:1";

TEST(JoiningReporterTest, SeveralRunsReadAsOneInBothReporters) {
  KeepingReporter display(true);
  KeepingReporter file(true);
  JoiningReporter joining(&display, &file, {kSmall1, kSmall2, kLarge});
  ASSERT_TRUE(joining.Begin(BenchmarkReporter::Context()));
  benchmark::RunSpecifiedBenchmarks(&joining, nullptr, "BM_Large");
  benchmark::RunSpecifiedBenchmarks(&joining, nullptr, "BM_Small/2");
  joining.End();
  EXPECT_THAT(display.calls, ElementsAre("context", kLarge, kSmall2, "end"));
  EXPECT_EQ(file.calls, display.calls);
  // The numbers are not 0 for each, as when Google Benchmark runs an instance
  // alone.
  EXPECT_THAT(display.family_indices, ElementsAre(2, 0));
}

TEST(JoiningReporterTest, AFileIsNotNeeded) {
  KeepingReporter display(true);
  JoiningReporter joining(&display, nullptr, {kLarge});
  ASSERT_TRUE(joining.Begin(BenchmarkReporter::Context()));
  benchmark::RunSpecifiedBenchmarks(&joining, nullptr, "BM_Large");
  joining.End();
  EXPECT_THAT(display.calls, ElementsAre("context", kLarge, "end"));
}

TEST(JoiningReporterTest, ADisplayThatDoesNotGoOnEndsIt) {
  KeepingReporter display(false);
  KeepingReporter file(true);
  JoiningReporter joining(&display, &file, {kLarge});
  EXPECT_FALSE(joining.Begin(BenchmarkReporter::Context()));
}

TEST(JoiningReporterTest, KnowsWhoseRowsItPassedOn) {
  KeepingReporter display(true);
  JoiningReporter joining(&display, nullptr, {kSmall1, kSmall2});
  std::vector<std::string> passed_on;
  joining.CallAfterRows(
      [&](const std::string& name) { passed_on.push_back(name); });
  benchmark::RunSpecifiedBenchmarks(&joining, nullptr, "BM_Small/1");
  EXPECT_TRUE(joining.HasRows(kSmall1));
  EXPECT_FALSE(joining.HasRows(kSmall2));
  joining.ForgetRows();
  joining.CallAfterRows(nullptr);
  benchmark::RunSpecifiedBenchmarks(&joining, nullptr, "BM_Small/2");
  EXPECT_FALSE(joining.HasRows(kSmall1));
  EXPECT_THAT(passed_on, ElementsAre(kSmall1));
}

}  // namespace
}  // namespace footprint::memo_internal
