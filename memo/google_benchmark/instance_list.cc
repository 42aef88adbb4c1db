#include "footprint/memo/google_benchmark/instance_list.h"

#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "benchmark/benchmark.h"

namespace footprint::memo_internal {
namespace {

using benchmark::BenchmarkReporter;

// Provides its streams while Google Benchmark lists instances.
class ListingReporter : public BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return false; }
  void ReportRuns(const std::vector<Run>& /*runs*/) override {}
};

// Sets whether Google Benchmark lists instances or runs them. Clears the file
// for rows that the environment may name, since Google Benchmark would begin it
// anew for every cell.
void SwitchListing(bool is_on) {
  std::string program = BenchmarkReporter::Context::executable_name != nullptr
                            ? BenchmarkReporter::Context::executable_name
                            : "program";
  std::string flag =
      absl::StrCat("--benchmark_list_tests=", is_on ? "true" : "false");
  // Google Benchmark keeps the name's address, so the old address is restored.
  const char* const name = BenchmarkReporter::Context::executable_name;
  std::string no_file = "--benchmark_out=";
  char* arguments[] = {&program[0], &flag[0], &no_file[0], nullptr};
  int count = 3;
  benchmark::Initialize(&count, arguments);
  BenchmarkReporter::Context::executable_name = name;
}

// Returns the filter of --benchmark_filter in a form that lists fast. For ".",
// Google Benchmark copies its whole result at every benchmark that it finds;
// for another expression that matches everything the time is linear.
std::string FilterForListing() {
  const std::string filter = benchmark::GetBenchmarkFilter();
  const bool is_everything = filter.empty() || filter == "." || filter == "all";
  return is_everything ? "^" : filter;
}

}  // namespace

std::vector<std::string> ListInstances(std::string* errors_text) {
  std::ostringstream listing;
  std::ostringstream errors;
  ListingReporter reporter;
  reporter.SetOutputStream(&listing);
  reporter.SetErrorStream(&errors);
  SwitchListing(true);
  benchmark::RunSpecifiedBenchmarks(&reporter, nullptr, FilterForListing());
  SwitchListing(false);
  *errors_text = errors.str();
  return absl::StrSplit(listing.str(), '\n', absl::SkipEmpty());
}

size_t CountInstances(const std::string& filter) {
  std::ostringstream ignored;
  ListingReporter reporter;
  reporter.SetOutputStream(&ignored);
  reporter.SetErrorStream(&ignored);
  SwitchListing(true);
  const size_t count =
      benchmark::RunSpecifiedBenchmarks(&reporter, nullptr, filter);
  SwitchListing(false);
  return count;
}

}  // namespace footprint::memo_internal
