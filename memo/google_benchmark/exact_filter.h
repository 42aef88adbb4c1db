// Makes filters for Google Benchmark that match given names and no others.
//
//   for (const std::vector<std::string>& part : DivideForFilters(names)) {
//     const size_t count = benchmark::RunSpecifiedBenchmarks(
//         reporter, nullptr, ExactFilter(part));
//     if (count != part.size()) ...  // Something did not run.
//   }
//
// Google Benchmark passes a filter to POSIX's regular expressions or, in
// Debian's build, to libstdc++'s, which refuse more than 100,000 states, try
// alternatives one by one and recurse once per character. So a filter contains
// the common beginning of names once, and a long list is divided.
//
// Thread-safe, since it keeps no state. Memory: the text, and a copy of the
// names. Time: n log n in the names.

#ifndef FOOTPRINT_MEMO_GOOGLE_BENCHMARK_EXACT_FILTER_H_
#define FOOTPRINT_MEMO_GOOGLE_BENCHMARK_EXACT_FILTER_H_

#include <cstddef>
#include <string>
#include <vector>

namespace footprint::memo_internal {

// Returns a filter that matches these names and no others. Takes at least one
// name.
std::string ExactFilter(std::vector<std::string> names);

// The limit of a name's length. Callers check it: a longer name may end the
// process, since the matching of regular expressions recurses once per
// character.
inline constexpr size_t kMostNameBytes = 4000;

// Divides the names, of which there must be at least one, into parts whose
// filters are not too large, in the same order. A repeated name moves to its
// first occurrence, since a filter matches both. Benchmarks of one family (the
// name up to its first slash) stay together if possible, since Google Benchmark
// computes a complexity over them.
std::vector<std::vector<std::string>> DivideForFilters(
    const std::vector<std::string>& names);

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_GOOGLE_BENCHMARK_EXACT_FILTER_H_
