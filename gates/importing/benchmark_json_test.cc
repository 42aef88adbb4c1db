#include "footprint/gates/importing/benchmark_json.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/importing/testdata_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

std::string Benchmarks(const std::string& list) {
  return absl::StrCat("{\"benchmarks\": [", list, "]}");
}

TEST(BenchmarkJsonTest, ARealFile) {
  const auto figures =
      ParseBenchmarkJson(TestdataFile("google_benchmark.json"));
  ASSERT_THAT(figures, IsOk());
  EXPECT_EQ(figures->tool, "google benchmark");
  EXPECT_EQ(figures->file_count, 1);
  ASSERT_EQ(figures->peaks.size(), 2u);
  EXPECT_EQ(figures->peaks[0].benchmark, "BM_Load/rows:1000/iterations:10");
  EXPECT_EQ(figures->peaks[0].bytes, 800000);
  EXPECT_EQ(figures->peaks[1].bytes, 1600000);
}

TEST(BenchmarkJsonTest, TheHighestRepetitionAndNoAggregate) {
  const auto figures = ParseBenchmarkJson(Benchmarks(
      R"({"name": "a", "max_bytes_used": 5}, {"name": "a", "max_bytes_used": 7},
         {"name": "a", "max_bytes_used": 6}, {"name": "time only"},
         {"name": "a_mean", "run_type": "aggregate", "max_bytes_used": 99})"));
  ASSERT_THAT(figures, IsOk());
  ASSERT_EQ(figures->peaks.size(), 1u);
  EXPECT_EQ(figures->peaks[0].bytes, 7);
}

// Comparing each name with those before it takes longer than this test may.
TEST(BenchmarkJsonTest, AFileOfManyBenchmarks) {
  constexpr int kBenchmarks = 300000;
  std::string list;
  for (int i = 0; i < kBenchmarks; ++i) {
    absl::StrAppend(&list, i == 0 ? "" : ",", R"({"name": "benchmark of )", i,
                    R"(", "max_bytes_used": 1})");
  }
  const auto figures = ParseBenchmarkJson(Benchmarks(list));
  ASSERT_THAT(figures, IsOk());
  EXPECT_EQ(figures->peaks.size(), size_t{kBenchmarks});
}

TEST(BenchmarkJsonTest, NoBytesAreACountToo) {
  const auto figures =
      ParseBenchmarkJson(Benchmarks(R"({"name": "a", "max_bytes_used": 0})"));
  ASSERT_THAT(figures, IsOk());
  EXPECT_EQ(figures->peaks[0].bytes, 0);
}

TEST(BenchmarkJsonTest, OtherJsonIsRefused) {
  const struct {
    std::string text;
    const char* part;
  } kCases[] = {
      {"{}", "without a list \"benchmarks\""},
      {"[]", "without a list \"benchmarks\""},
      {"{\"benchmarks\": 3}", "without a list \"benchmarks\""},
      {Benchmarks(""), "register a benchmark::MemoryManager"},
      {Benchmarks("3"), "without a name"},
      {Benchmarks("{\"max_bytes_used\": 1}"), "without a name"},
      {Benchmarks(R"({"name": "a"})"), "register a benchmark::MemoryManager"},
      {Benchmarks(R"({"name": "a", "max_bytes_used": -1})"), "no count"},
      {Benchmarks(R"({"name": "a", "max_bytes_used": 1.5})"), "no count"},
      {Benchmarks(R"({"name": "a", "max_bytes_used": "1"})"), "no count"},
      {Benchmarks(R"({"name": "a", "max_bytes_used": 9223372036854775807})"),
       "no count"},
      {Benchmarks(R"({"name": "a", "max_bytes_used": 18446744073709551615})"),
       "no count"},
      {Benchmarks(R"({"name": "a\u001b", "error_occurred": true,
                      "error_message": "no file"})"),
       "failed: a\\x1b: no file"},
      {std::string(64, '['), "is not whole JSON"},
      {std::string(65, '['), "too many levels"},
  };
  for (const auto& each : kCases) {
    EXPECT_THAT(ParseBenchmarkJson(each.text),
                StatusIs(testing::AnyOf(absl::StatusCode::kInvalidArgument,
                                        absl::StatusCode::kDataLoss),
                         HasSubstr(each.part)))
        << each.text;
  }
}

TEST(BenchmarkJsonTest, BracketsInTextsAreNoLevels) {
  const auto figures = ParseBenchmarkJson(
      Benchmarks(absl::StrCat(R"({"name": "a\"b\\", "label": "\")",
                              std::string(100, '['), R"(", "a": [[]],
                      "max_bytes_used": 5})")));
  ASSERT_THAT(figures, IsOk());
  EXPECT_EQ(figures->peaks[0].benchmark, "a\"b\\");
}

TEST(BenchmarkJsonTest, ACutFileIsRefused) {
  std::string whole = TestdataFile("google_benchmark.json");
  while (!whole.empty() && whole.back() == '\n') whole.pop_back();
  for (size_t size = 0; size < whole.size(); size += 3) {
    EXPECT_THAT(ParseBenchmarkJson(whole.substr(0, size)),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("cut short")));
  }
}

TEST(BenchmarkJsonTest, KnowsJson) {
  EXPECT_TRUE(LooksLikeJson(" \n{"));
  EXPECT_FALSE(LooksLikeJson("desc: {"));
}

}  // namespace
}  // namespace footprint
