// A process of its own for each benchmark of this program, so that no figure
// depends on what ran before it: the program calls itself once a benchmark,
// with a filter, and puts together what the processes write.
//
//   std::vector<std::string> names = ListBenchmarks(&complaints);
//   for (const BenchmarkGroup& group : GroupBenchmarks(names, sharing)) {
//     MeasureGroup(CommandLine(), group, "profile.part", &profile, &failures);
//   }
//
// Each process begins as this one did: in the folder in which it was started,
// and with standard input from where it stood, if that is a file. Input that
// this one read from a pipe or socket is gone, so /dev/null replaces those.
//
// Only the filter differs between the processes: the name of the file is the
// same for all, since its length may reach the heap.
//
// Not thread-safe: for main's thread. Memory: names and profiles. Time: of a
// process, some milliseconds.

#ifndef FOOTPRINT_PROFILING_GOOGLE_BENCHMARK_BENCHMARK_PROCESSES_H_
#define FOOTPRINT_PROFILING_GOOGLE_BENCHMARK_BENCHMARK_PROCESSES_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// Maps the name of an instance to the argument with which this program runs all
// that share its process, and to "" for one that shares none; for benchmarks
// that are meant to find what others left, such as values that they share.
using ProcessSharing = std::function<std::string(const std::string& name)>;

// Benchmarks that one process measures.
struct BenchmarkGroup {
  std::vector<std::string> names;
  // The argument of ProcessSharing; empty: a filter selects the only name.
  std::string argument;
};

// The instances that the command line selects, in Google Benchmark's order, and
// its complaint where there are none. After benchmark::Initialize; leaves
// Google Benchmark switched to listing.
std::vector<std::string> ListBenchmarks(std::string* complaints);

// `text` with each byte that is no UTF-8 written as \xNN: fields of a profile
// are UTF-8.
std::string AsUtf8(absl::string_view text);

// Returns whether standard input is a pipe or socket, which cannot be read
// twice.
bool InputIsStream();

// Called in the process that CommandLineOfGroup describes, when its benchmarks
// begin: from then on it is they who end it.
void SayBegun(const std::string& profile_path);

// Returns the groups in the order of their first names; equal names are one
// group.
std::vector<BenchmarkGroup> GroupBenchmarks(
    const std::vector<std::string>& names, const ProcessSharing& sharing);

// Returns how this program was called, argv[0] included.
std::vector<std::string> CommandLine();

// The command line of the process that measures `group` into `profile_path`.
std::vector<std::string> CommandLineOfGroup(
    const std::vector<std::string>& command_line, const BenchmarkGroup& group,
    const std::string& profile_path);

// Runs the process and moves its benchmarks and notes to the end of
// `profile`; says in `failures` why names of the group have no measurement.
// `profile_path` is the caller's own file, which it removes. False if the
// process found its command line or link wrong (exit status 2 before a
// benchmark began), as others would. kInternal: no process could be started.
absl::StatusOr<bool> MeasureGroup(const std::vector<std::string>& command_line,
                                  const BenchmarkGroup& group,
                                  const std::string& profile_path,
                                  MemoryProfile* profile,
                                  std::vector<std::string>* failures);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_GOOGLE_BENCHMARK_BENCHMARK_PROCESSES_H_
