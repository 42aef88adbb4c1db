// Asks Google Benchmark which instances there are, without running them.
//
//   std::string errors;
//   std::vector<std::string> names = ListInstances(&errors);
//   size_t count = CountInstances("^BM_Predict/");
//
// Not thread-safe: Google Benchmark's flags are global, and are as they were
// afterwards. Memory: copies of the names.

#ifndef FOOTPRINT_MEMO_GOOGLE_BENCHMARK_INSTANCE_LIST_H_
#define FOOTPRINT_MEMO_GOOGLE_BENCHMARK_INSTANCE_LIST_H_

#include <cstddef>
#include <string>
#include <vector>

namespace footprint::memo_internal {

// The instances that --benchmark_filter leaves, in Google Benchmark's order.
// `errors_text` gets what Google Benchmark says of the filter.
std::vector<std::string> ListInstances(std::string* errors_text);

// Returns how many instances `filter` leaves.
size_t CountInstances(const std::string& filter);

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_GOOGLE_BENCHMARK_INSTANCE_LIST_H_
