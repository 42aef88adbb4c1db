// Tests whether reports of many call sites take time in proportion to the
// sites.
//
//   bazel run -c opt //profiling/reports:large_run_reports
//
// Makes each report of runs of 100,000 and 1,000,000 sites, and prints the
// processor time of each. Exits with 1 if ten times the sites took more than 20
// times as long (caches that are too small explain less), or 15 s.

#include <ctime>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/profiling/example_runs/example_runs.h"
#include "footprint/profiling/reports/json_report.h"
#include "footprint/profiling/reports/memory_profile_report.h"
#include "footprint/profiling/reports/pprof_report.h"
#include "footprint/profiling/reports/text_report.h"
#include "footprint/profiling/runs/reduced_run.h"

namespace footprint {
namespace {

constexpr int kFewSites = 100'000;
constexpr int kManySites = 1'000'000;
constexpr double kMostRatio = 20;
constexpr double kMostSeconds = 15;

struct Report {
  const char* name;
  // Makes the report and returns its size in bytes.
  std::function<size_t(const MeasuredRun& run)> make;
};

size_t SizeOfReduced(const MeasuredRun& run) {
  RunThresholds thresholds;
  thresholds.memory_percent = 0.1;
  return ReducedRun(run, thresholds).ByteSizeLong();
}

std::vector<Report> Reports() {
  return {
      {"text",
       [](const MeasuredRun& run) { return TextReport(run, {}).size(); }},
      {"comparison",
       [](const MeasuredRun& run) { return CompareText(run, run).size(); }},
      {"JSON", [](const MeasuredRun& run) { return JsonReport(run).size(); }},
      {"pprof",
       [](const MeasuredRun& run) { return PprofReport(run)->size(); }},
      {"memory profile",
       [](const MeasuredRun& run) {
         return MemoryProfileReport(run).ByteSizeLong();
       }},
      {"reduced run", SizeOfReduced},
  };
}

double SecondsFor(const Report& report, const MeasuredRun& run, size_t* bytes) {
  const std::clock_t begin = std::clock();
  *bytes = report.make(run);
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

int Run() {
  const MeasuredRun few = LargeRun(kFewSites, /*seed=*/1);
  const MeasuredRun many = LargeRun(kManySites, /*seed=*/1);
  std::cout << "| report | 100,000 sites | 1,000,000 sites | bytes |\n"
            << "|---|---|---|---|\n";
  bool is_linear = true;
  for (const Report& report : Reports()) {
    size_t bytes = 0;
    const double few_seconds = SecondsFor(report, few, &bytes);
    const double many_seconds = SecondsFor(report, many, &bytes);
    std::cout << absl::StrFormat("| %s | %.3f s | %.3f s | ", report.name,
                                 few_seconds, many_seconds)
              << FormatCount(static_cast<int64_t>(bytes)) << " |" << std::endl;
    is_linear = is_linear && many_seconds <= kMostSeconds &&
                many_seconds <= kMostRatio * few_seconds + 0.1;
  }
  return is_linear ? 0 : 1;
}

}  // namespace
}  // namespace footprint

int main() { return footprint::Run(); }
