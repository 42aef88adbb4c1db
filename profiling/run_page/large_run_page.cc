// Makes the pages of runs with a million call sites and of a record of 100 MB,
// and prints what that takes. Exits with 1 if it takes more than 300 KB, 2 s of
// processor time or 256 MiB above the run itself.

#include <ctime>
#include <iostream>
#include <string>

#include "footprint/base/text/format_bytes.h"
#include "footprint/profiling/example_runs/example_runs.h"
#include "footprint/profiling/heap/heap_accounting.h"
#include "footprint/profiling/run_page/comparison_page.h"
#include "footprint/profiling/run_page/run_page.h"

namespace footprint {
namespace {

constexpr int64_t kMostHeapBytes = int64_t{256} << 20;
constexpr double kMostSeconds = 2;

template <typename MakePage>
bool Measure(const char* name, MakePage make_page) {
  const HeapPhase phase = BeginHeapPhase();
  const std::clock_t begin = std::clock();
  const std::string html = make_page();
  const double seconds =
      static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  const int64_t peak_bytes = EndHeapPhase(phase).peak_live_net_bytes;
  std::cout << name << ": " << FormatCount(static_cast<int64_t>(html.size()))
            << " bytes, " << seconds << " s, " << FormatBytes(peak_bytes)
            << " at most\n";
  return html.size() <= kMostPageBytes && seconds <= kMostSeconds &&
         peak_bytes <= kMostHeapBytes;
}

bool MeasureRun(int site_count) {
  const MeasuredRun run = LargeRun(site_count, /*seed=*/1);
  std::cout << FormatCount(site_count) << " call sites, a record of "
            << FormatCount(static_cast<int64_t>(run.ByteSizeLong()))
            << " bytes\n";
  return Measure("  page", [&] { return RunPage(run); });
}

bool MeasureComparison(int site_count) {
  const MeasuredRun before = LargeRun(site_count, /*seed=*/2);
  const MeasuredRun after = LargeRun(site_count, /*seed=*/3);
  std::cout << "two runs of " << FormatCount(site_count) << " call sites\n";
  return Measure("  comparison", [&] { return ComparisonPage(before, after); });
}

int Run() {
  bool is_small = MeasureRun(1'000'000);
  is_small = MeasureRun(2'400'000) && is_small;
  is_small = MeasureComparison(1'000'000) && is_small;
  return is_small ? 0 : 1;
}

}  // namespace
}  // namespace footprint

int main() { return footprint::Run(); }
