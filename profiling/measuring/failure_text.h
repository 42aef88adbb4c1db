// Shortens the standard error of a failed program to a text that is the same
// for the same failure on every machine.
//
//   FailureTextOptions options;
//   options.folders = {"/tmp/footprint.Xy12Ab"};
//   options.process_id = 4711;
//   std::string text = StableFailureText(end.standard_error_tail, options);
//
// Pure and thread-safe; takes a copy of the text. Memory and time: linear in
// the text.

#ifndef FOOTPRINT_PROFILING_MEASURING_FAILURE_TEXT_H_
#define FOOTPRINT_PROFILING_MEASURING_FAILURE_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

namespace footprint {

// The most bytes of text that a failure record keeps.
inline constexpr size_t kFailureTextBytes = 8192;

struct FailureTextOptions {
  // Absolute folders of this machine. Paths in them become relative.
  std::vector<std::string> folders;
  // This ID becomes "PID". An ID below 100, which could be any number, does so
  // only between "==" or after a word such as "pid" or "process".
  int process_id = 0;
};

// Returns at most the last kFailureTextBytes of `text`, from the beginning of a
// line if there is one. It removes `folders` and the load average that Google
// Benchmark prints. It replaces the process ID, addresses ("0x7ffd..." by
// "0xADDRESS") and times (ISO 8601, by "TIME"). Every byte that is not
// printable ASCII, tab or newline becomes '?'.
std::string StableFailureText(std::string text,
                              const FailureTextOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_MEASURING_FAILURE_TEXT_H_
