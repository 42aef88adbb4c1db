// Passes the reports of several runs of Google Benchmark on as if they were one
// run.
//
//   JoiningReporter joining(display, file, instance_names);
//   if (joining.Begin(context)) {
//     for (...) benchmark::RunSpecifiedBenchmarks(&joining, nullptr, filter);
//     joining.End();
//   }
//
// Refers to both reporters, which must outlive it. Thread-compatible. Memory:
// the instances' names.

#ifndef FOOTPRINT_MEMO_GOOGLE_BENCHMARK_JOINING_REPORTER_H_
#define FOOTPRINT_MEMO_GOOGLE_BENCHMARK_JOINING_REPORTER_H_

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "benchmark/benchmark.h"
#include "footprint/memo/google_benchmark/family_numbers.h"

namespace footprint::memo_internal {

class JoiningReporter : public benchmark::BenchmarkReporter {
 public:
  // `file` may be null. `instance_names` are those that Google Benchmark lists.
  JoiningReporter(BenchmarkReporter* display, BenchmarkReporter* file,
                  const std::vector<std::string>& instance_names);

  // Returns false if a reporter refuses to continue.
  bool Begin(const Context& context);
  // Calls Finalize of both reporters.
  void End();

  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& reported) override;

  // Sets a function that is called with an instance's name after its rows are
  // passed on. Null means that no function is called.
  void CallAfterRows(std::function<void(const std::string&)> after_rows) {
    after_rows_ = std::move(after_rows);
  }

  // Returns whether the instance has reported rows since ForgetRows.
  bool HasRows(const std::string& name) const { return names_.count(name) > 0; }
  void ForgetRows() { names_.clear(); }

 private:
  BenchmarkReporter* const display_;
  BenchmarkReporter* const file_;
  FamilyNumbers numbers_;
  std::set<std::string> names_;
  std::function<void(const std::string&)> after_rows_;
};

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_GOOGLE_BENCHMARK_JOINING_REPORTER_H_
