// The file of --benchmark_out=, with the rows of the whole run.
//
//   RowsFile rows;
//   absl::Status opened = rows.Open("rows.csv", "csv");
//   ... a run that reports to rows.reporter() ...
//   bool is_written = rows.Flush();
//
// "json" and "console" are the formats of Google Benchmark. "csv" has no lines
// of context before its headings, and a column for each counter of any row; the
// field of a row without that counter is empty. Its rows are written at the
// end.
//
// Owns the file and the reporter, which must not be used after it is destroyed.
// Not thread-safe. Memory: for "csv", all rows.

#ifndef FOOTPRINT_MEMO_GOOGLE_BENCHMARK_ROWS_FILE_H_
#define FOOTPRINT_MEMO_GOOGLE_BENCHMARK_ROWS_FILE_H_

#include <fstream>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "benchmark/benchmark.h"

namespace footprint::memo_internal {

// Returns whether the format is one of the three.
bool IsRowsFormat(absl::string_view format);

class RowsFile {
 public:
  // Opens the file. Returns NotFound if that fails, for whatever reason. With
  // an empty path there is no file. IsRowsFormat must accept the format.
  absl::Status Open(const std::string& path, const std::string& format);

  // Returns null if there is no file.
  benchmark::BenchmarkReporter* reporter() { return reporter_.get(); }

  // Flushes the file, after the reporter's Finalize. Returns false if not
  // everything could be written.
  bool Flush() {
    return reporter_ == nullptr || static_cast<bool>(file_.flush());
  }

 private:
  std::ofstream file_;
  std::unique_ptr<benchmark::BenchmarkReporter> reporter_;
};

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_GOOGLE_BENCHMARK_ROWS_FILE_H_
