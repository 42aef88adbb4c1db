// The command line of memprof, understood.
//
//   absl::StatusOr<MemprofOptions> options = ParseMemprofOptions(argc, argv);
//   if (!options.ok()) ...  // says which word is wrong, and what to write
//
// Options stand before the program; all that follows is the program's. Pure;
// thread-safe. Memory: the words.

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

  std::optional<int64_t> limit_bytes;
  // The program runs once more inside the container limit.
  bool tries_container = false;
  // Files to write; empty: not.
  std::string record_path;
  std::string json_path;
  std::string proto_path;
  std::string pprof_path;
  std::string speedscope_path;
  std::string csv_path;
  std::string page_path;
  std::string markdown_path;

  // The report shows memory that was allocated between these two stages and is
  // left; empty: not asked for.
  std::string left_from;
  std::string left_until;

  // The thresholds below which the text says nothing; where `is_reduced`,
  // nothing does.
  ReportThreshold memory_threshold;
  ReportThreshold cpu_threshold;
  bool is_reduced = false;
};

// kInvalidArgument.
absl::StatusOr<MemprofOptions> ParseMemprofOptions(int argc,
                                                   const char* const* argv);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_MEMPROF_MEMPROF_OPTIONS_H_
