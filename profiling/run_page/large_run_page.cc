// Makes the page of a run with a million call sites, and says what that takes:
// at most 300 KB, 2 s and 256 MiB besides the run itself, else it exits 1.

#include <chrono>
#include <iostream>
#include <string>

#include "footprint/base/text/format_bytes.h"
#include "footprint/profiling/heap/heap_accounting.h"
#include "footprint/profiling/run_page/comparison_page.h"
#include "footprint/profiling/run_page/example_runs.h"
#include "footprint/profiling/run_page/run_page.h"

namespace footprint {
namespace {

constexpr int kSiteCount = 1'000'000;
constexpr int64_t kMostHeapBytes = int64_t{256} << 20;
constexpr double kMostSeconds = 2;

template <typename MakePage>
bool Measure(const char* name, double most_seconds, MakePage make_page) {
  const HeapPhase phase = BeginHeapPhase();
  const auto begin = std::chrono::steady_clock::now();
  const std::string html = make_page();
  const std::chrono::duration<double> time =
      std::chrono::steady_clock::now() - begin;
  const int64_t peak_bytes = EndHeapPhase(phase).peak_live_net_bytes;
  std::cout << name << ": " << FormatCount(static_cast<int64_t>(html.size()))
            << " bytes, " << time.count() << " s, " << FormatBytes(peak_bytes)
            << " at most\n";
  return html.size() <= kMostPageBytes && time.count() <= most_seconds &&
         peak_bytes <= kMostHeapBytes;
}

int Run() {
  const MeasuredRun run = LargeRun(kSiteCount, /*seed=*/1);
  std::cout << FormatCount(kSiteCount) << " call sites; as a file "
            << FormatBytes(static_cast<int64_t>(run.ByteSizeLong())) << "\n";
  const bool is_page_small =
      Measure("page", kMostSeconds, [&] { return RunPage(run); });
  MeasuredRun later = LargeRun(kSiteCount / 2, /*seed=*/2);
  MeasuredRun earlier = LargeRun(kSiteCount / 2, /*seed=*/3);
  const bool is_comparison_small =
      Measure("comparison of two halves", kMostSeconds,
              [&] { return ComparisonPage(earlier, later); });
  return is_page_small && is_comparison_small ? 0 : 1;
}

}  // namespace
}  // namespace footprint

int main() { return footprint::Run(); }
