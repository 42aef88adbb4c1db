// Lists the instances of Google Benchmark without running them.
//
//   std::string errors;
//   std::vector<std::string> names = ListInstances(&errors);
//   size_t count = CountInstances("^BM_Predict/");
//
// Not thread-safe: Google Benchmark's flags are global. Both functions leave
// --benchmark_list_tests off and --benchmark_out empty. Memory: copies of the
// names.

#ifndef FOOTPRINT_MEMO_GOOGLE_BENCHMARK_INSTANCE_LIST_H_
#define FOOTPRINT_MEMO_GOOGLE_BENCHMARK_INSTANCE_LIST_H_

#include <cstddef>
#include <string>
#include <vector>

namespace footprint::memo_internal {

// Returns the instances that match --benchmark_filter, in Google Benchmark's
// order. Sets `errors_text` to what Google Benchmark says about the filter.
std::vector<std::string> ListInstances(std::string* errors_text);

// Returns how many instances match `filter`.
size_t CountInstances(const std::string& filter);

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_GOOGLE_BENCHMARK_INSTANCE_LIST_H_
