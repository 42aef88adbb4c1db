#include "footprint/memo/google_benchmark/rows_file.h"

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_split.h"
#include "benchmark/benchmark.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint::memo_internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

using Row = benchmark::BenchmarkReporter::Run;

Row MakeRow(const std::string& name) {
  Row run;
  run.run_name.function_name = name;
  run.iterations = 1;
  return run;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file),
                     std::istreambuf_iterator<char>());
}

TEST(RowsFileTest, WithoutAPathThereIsNoFile) {
  RowsFile rows;
  ASSERT_THAT(rows.Open("", "json"), IsOk());
  EXPECT_EQ(rows.reporter(), nullptr);
  EXPECT_TRUE(rows.Flush());
}

TEST(RowsFileTest, WhatCannotBeOpenedIsNamed) {
  RowsFile rows;
  const absl::Status status = rows.Open("/no/such/folder/rows.csv", "csv");
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("/no/such/folder/rows.csv"));
}

TEST(RowsFileTest, CsvHasAColumnForEachCounterOfAnyRow) {
  const std::string path = testing::TempDir() + "/rows.csv";
  RowsFile rows;
  ASSERT_THAT(rows.Open(path, "csv"), IsOk());
  EXPECT_TRUE(
      rows.reporter()->ReportContext(benchmark::BenchmarkReporter::Context()));
  Row first = MakeRow("BM_First");
  first.counters["words"] = 3;
  Row second = MakeRow("BM_\"Second\"");
  second.counters["lines"] = 5;
  rows.reporter()->ReportRuns({first});
  rows.reporter()->ReportRuns({second});
  rows.reporter()->Finalize();
  EXPECT_TRUE(rows.Flush());
  const std::vector<std::string> lines =
      absl::StrSplit(ReadFile(path), '\n', absl::SkipEmpty());
  EXPECT_THAT(lines, ElementsAre(AllOf(StartsWith("name,iterations,"),
                                       HasSubstr("\"lines\",\"words\"")),
                                 AllOf(StartsWith("\"BM_First\",1,"),
                                       testing::EndsWith(",,3")),
                                 AllOf(StartsWith("\"BM_\"\"Second\"\"\",1,"),
                                       testing::EndsWith(",5,"))));
}

TEST(RowsFileTest, JsonIsWrittenToTheFile) {
  const std::string path = testing::TempDir() + "/rows.json";
  RowsFile rows;
  ASSERT_THAT(rows.Open(path, "json"), IsOk());
  ASSERT_NE(rows.reporter(), nullptr);
  EXPECT_TRUE(
      rows.reporter()->ReportContext(benchmark::BenchmarkReporter::Context()));
  rows.reporter()->ReportRuns({MakeRow("BM_First")});
  rows.reporter()->Finalize();
  EXPECT_TRUE(rows.Flush());
  EXPECT_THAT(ReadFile(path),
              AllOf(StartsWith("{"), HasSubstr("\"name\": \"BM_First\"")));
}

// Google Benchmark writes a console's head to the error stream; the file has
// it too.
TEST(RowsFileTest, TheMachineStandsInTheFileToo) {
  const std::string path = testing::TempDir() + "/rows.txt";
  RowsFile rows;
  ASSERT_THAT(rows.Open(path, "console"), IsOk());
  EXPECT_TRUE(
      rows.reporter()->ReportContext(benchmark::BenchmarkReporter::Context()));
  EXPECT_TRUE(rows.Flush());
  EXPECT_THAT(ReadFile(path), HasSubstr("CPU"));
}

TEST(RowsFileTest, KnowsItsFormats) {
  for (const char* format : {"json", "console", "csv"}) {
    EXPECT_TRUE(IsRowsFormat(format));
  }
  EXPECT_FALSE(IsRowsFormat("xml"));
  EXPECT_FALSE(IsRowsFormat(""));
}

}  // namespace
}  // namespace footprint::memo_internal
