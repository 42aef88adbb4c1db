// Parses the command line of memprof.
//
//   absl::StatusOr<MemprofOptions> options = ParseMemprofOptions(argc, argv);
//   if (!options.ok()) ...  // says which word is wrong, and what to write
//
// Options precede the program; all words after it are the program's. It asks
// the file system whether two outputs are the same file, and changes nothing.
// Thread-safe. Memory: the words.

#ifndef FOOTPRINT_PROFILING_MEMPROF_MEMPROF_OPTIONS_H_
#define FOOTPRINT_PROFILING_MEMPROF_MEMPROF_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "footprint/profiling/memprof/run_with_agent.h"
#include "footprint/profiling/reports/report_threshold.h"

namespace footprint {

extern const char kMemprofHelp[];

struct MemprofOptions {
  // The task: `run` unless one of the others is set.
  bool help = false;
  std::string from_path;
  std::string compare_before_path;
  std::string compare_after_path;
  AgentRun run;

  // If set, what the program holds is shown while it runs.
  bool is_live = false;
  // If set, the report is shown only if the program did not end by itself.
  bool is_quiet = false;
  // The limit to judge by; without it nothing is judged.
  std::optional<int64_t> limit_bytes;
  // If set, the program runs once more inside the recommended container limit.
  bool tries_container = false;
  // Files to write; not written if empty.
  std::string record_path;
  std::string json_path;
  std::string proto_path;
  std::string pprof_path;
  std::string speedscope_path;
  std::string csv_path;
  std::string page_path;
  std::string markdown_path;

  // The report shows memory that was allocated in stages from the first of
  // these on and before the second, and is still live at the end
  // (run_report.h); empty if not wanted.
  std::string left_from;
  std::string left_until;

  // Rows below these thresholds are left out of the text and, if `is_reduced`,
  // of every output.
  ReportThreshold memory_threshold;
  ReportThreshold cpu_threshold;
  bool is_reduced = false;
};

// Returns kInvalidArgument if a word is wrong or missing, or if an output would
// replace another one or a record that is read.
absl::StatusOr<MemprofOptions> ParseMemprofOptions(int argc,
                                                   const char* const* argv);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_MEMPROF_MEMPROF_OPTIONS_H_
