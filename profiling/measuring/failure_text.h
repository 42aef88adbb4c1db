// The end of a failed program's standard error, such that the same failure
// gives the same text on every machine.
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
  // Absolute folders of this machine. A path in one is named relative to it.
  std::vector<std::string> folders;
  // Replaced by "PID" from 100 up: smaller numbers mean something else more
  // often.
  int process_id = 0;
};

// `text` with `folders` removed, process id, addresses ("0x7ffd..." as
// "0xADDRESS") and points in time (ISO 8601, as "TIME") replaced, the load
// average that Google Benchmark prints left out, and every byte that is no
// printable ASCII, tab or newline shown as '?'. A longer text is cut to its
// last kFailureTextBytes, from the beginning of a line on if there is one.
std::string StableFailureText(std::string text,
                              const FailureTextOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_MEASURING_FAILURE_TEXT_H_
