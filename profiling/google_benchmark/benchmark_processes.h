// Measures each benchmark of this program in a process of its own, so that no
// figure depends on what ran before. The program calls itself once per
// benchmark, with a filter, and merges the processes' output.
//
//   std::vector<std::string> names = ListBenchmarks(&complaints);
//   for (const BenchmarkGroup& group : GroupBenchmarks(names, sharing)) {
//     absl::StatusOr<bool> is_right = MeasureGroup(
//         CommandLine(), group, "profile.part", &profile, &failures);
//   }
//
// Each process begins like this one: in the folder in which it was started,
// and, if standard input is a file, at its original position. Input that this
// process read from a pipe or socket is gone, so /dev/null replaces that.
//
// Only the filter differs between the processes. The name of the output file is
// the same for all, since its length may reach the heap.
//
// It must be called on main's thread. Memory: names and profiles. Time: some
// milliseconds per process.

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
// instances that share its process, or to "" if it shares no process. It is for
// benchmarks that are meant to find what others left, such as shared values.
using ProcessSharing = std::function<std::string(const std::string& name)>;

// Benchmarks that one process measures.
struct BenchmarkGroup {
  std::vector<std::string> names;
  // The argument of ProcessSharing; if it is empty, a filter selects the only
  // name.
  std::string argument;
};

// Returns the instances that the command line selects, in Google Benchmark's
// order, and stores its complaint if there are none. Returns none, with a
// complaint, if this release lists them in an unknown form. Call it after
// benchmark::Initialize. It leaves Google Benchmark switched to listing.
std::vector<std::string> ListBenchmarks(std::string* complaints);

// Returns `text` with each byte that is not UTF-8 written as \xNN, because
// fields of a profile are UTF-8.
std::string AsUtf8(absl::string_view text);

// Returns whether standard input is a pipe or socket, which cannot be read
// twice.
bool InputIsStream();

// Records that the benchmarks of this process begin. If the process ends
// without a profile after this, a benchmark ended it, so that exit status 2 no
// longer means a wrong command line. Call it in the process that
// CommandLineOfGroup describes.
void SayBegun(const std::string& profile_path);

// Returns the groups in the order of their first names; equal names are one
// group.
std::vector<BenchmarkGroup> GroupBenchmarks(
    const std::vector<std::string>& names, const ProcessSharing& sharing);

// Returns the words by which this program was called, with argv[0].
std::vector<std::string> CommandLine();

// Returns the command line of the process that measures `group` into
// `profile_path`.
std::vector<std::string> CommandLineOfGroup(
    const std::vector<std::string>& command_line, const BenchmarkGroup& group,
    const std::string& profile_path);

// Runs the process and appends its benchmarks and notes to `profile`. Stores in
// `failures` why names of the group have no measurement. `profile_path` is the
// caller's own file, which the caller removes. Returns false if the process
// found its command line or link wrong (exit status 2 before a benchmark
// began), as the other processes would, too. Returns kInternal if
// `profile_path` cannot be written, or no process could be started or waited
// for.
absl::StatusOr<bool> MeasureGroup(const std::vector<std::string>& command_line,
                                  const BenchmarkGroup& group,
                                  const std::string& profile_path,
                                  MemoryProfile* profile,
                                  std::vector<std::string>* failures);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_GOOGLE_BENCHMARK_BENCHMARK_PROCESSES_H_
