// Filters for Google Benchmark that match given names and no others.
//
//   for (const std::vector<std::string>& part : DivideForFilters(names)) {
//     const size_t count = benchmark::RunSpecifiedBenchmarks(
//         reporter, nullptr, ExactFilter(part));
//     if (count != part.size()) ...  // Something did not run.
//   }
//
// Google Benchmark hands a filter to the machine's regular expressions, which
// refuse one of more than 100,000 states and try alternatives one by one. So
// what names have in common at their start is written once, and a long list is
// divided.
//
// Thread-safe: no state is kept. Memory: the text, and the names once more.
// Time: n log n in the names.

#ifndef FOOTPRINT_MEMO_GOOGLE_BENCHMARK_EXACT_FILTER_H_
#define FOOTPRINT_MEMO_GOOGLE_BENCHMARK_EXACT_FILTER_H_

#include <cstddef>
#include <string>
#include <vector>

namespace footprint::memo_internal {

// A filter that matches these names and no others. At least one name.
std::string ExactFilter(std::vector<std::string> names);

// Longer names end the process: its regular expressions are matched by
// recursion, a character at a time.
inline constexpr size_t kMostNameBytes = 4000;

// The same names in parts whose filters are not too large, in the same order,
// but those that are there twice with the first, since a filter matches both.
// Benchmarks of one family (the name up to its first slash), which Google
// Benchmark computes a complexity over, stay together where that can be.
std::vector<std::vector<std::string>> DivideForFilters(
    const std::vector<std::string>& names);

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_GOOGLE_BENCHMARK_EXACT_FILTER_H_
