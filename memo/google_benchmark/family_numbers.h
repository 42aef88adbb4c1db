// Gives the rows of benchmarks that run one by one the numbers of a single run.
//
//   FamilyNumbers numbers(instance_names);  // as Google Benchmark lists them
//   numbers.Set(&run);                      // for every row
//
// Google Benchmark counts families from 0 in each run, so each instance that
// runs alone would be number 0. Here `family_index` is the place of the
// family's first instance in the list, and `per_family_instance_index` is how
// many places later the row's instance is. No two families share a number, and
// sorting rows by both numbers gives the order of the list, in whatever order
// they ran. Rows that belong to no listed instance, such as those of a
// complexity, have their family's number.
//
// Thread-compatible. Memory: copies of the names.

#ifndef FOOTPRINT_MEMO_GOOGLE_BENCHMARK_FAMILY_NUMBERS_H_
#define FOOTPRINT_MEMO_GOOGLE_BENCHMARK_FAMILY_NUMBERS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"

namespace footprint::memo_internal {

class FamilyNumbers {
 public:
  explicit FamilyNumbers(const std::vector<std::string>& instance_names);

  // Sets `family_index` and `per_family_instance_index` of a row.
  void Set(benchmark::BenchmarkReporter::Run* run);

 private:
  int64_t NumberOfFamily(const std::string& family,
                         const std::string& instance);

  // The places in the list, by name.
  std::map<std::string, int64_t> places_;
  std::map<std::string, int64_t> numbers_;
  std::set<int64_t> given_;
};

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_GOOGLE_BENCHMARK_FAMILY_NUMBERS_H_
