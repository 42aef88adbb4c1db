// The memory pass of a benchmark program: what each benchmark's loop needs,
// with what is set up before it and left after it as phases of their own.
//
//   int main(int argc, char** argv) {
//     return footprint::ProfileBenchmarks(argc, argv,
//                                         footprint::RunWithGoogleBenchmark);
//   }
//
// Most programs link `//profiling:benchmark_main` instead of writing this main.
// With --memory_profile_out=FILE each benchmark runs in a process of its own
// (benchmark_processes.h), once, for one iteration or as many as it asks for
// with Iterations(n), never for a count that time decides, whatever MinTime()
// says; of Repetitions(n), and after a warm-up, the first run counts, and
// "teardown" reaches to the loop of the second. Its figures are those of the
// loop. Phases: "setup" is what comes before the loop,
// "loop", and "teardown" what comes after. A benchmark that fails, in any
// repetition, crashes or exits is named in the profile beside what the others
// measured; so is one whose name is not UTF-8 or is also another's. Without the
// flag the program is an ordinary benchmark program that also shows memory, and
// whose last line on standard error, if that is no terminal, says how many
// benchmarks ran (benchmark_count.h).
//
// With --memory_one_process all benchmarks run in this process, one after the
// other, and each finds what the one before left: for a debugger, and for a
// main that reads a pipe, which the others' processes would find empty.
//
// Absolute peaks leave out what Google Benchmark keeps to describe the host,
// which another host would make longer or shorter.
//
// How the loop is found: linking against this library replaces State's
// functions StartKeepRunning and FinishKeepRunning (--wrap). The last thread to
// arrive at either begins and ends the loop, while the others wait at Google
// Benchmark's own barrier; see
// docs/decisions/0003-memory-pass-of-a-benchmark.md.
//
// `run`, `notes` and `sharing` are called before ProfileBenchmarks returns,
// which keeps nothing of them. Not thread-safe; to be called once, from main.
// Memory: the profile, outside the phases.

#ifndef FOOTPRINT_PROFILING_GOOGLE_BENCHMARK_BENCHMARK_PROFILER_H_
#define FOOTPRINT_PROFILING_GOOGLE_BENCHMARK_BENCHMARK_PROFILER_H_

#include <cstddef>
#include <functional>
#include <vector>

#include "benchmark/benchmark.h"
#include "footprint/profiling/google_benchmark/benchmark_processes.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// Runs the selected benchmarks with `reporter` (null: the default one) and
// returns how many there were. A value, so that a planner may order the runs.
using BenchmarkRunner =
    std::function<size_t(benchmark::BenchmarkReporter* reporter)>;

// Remarks of the profile on how the program worked, asked for after the run;
// the same in every process.
using NoteSource = std::function<std::vector<Remark>()>;

// Google Benchmark's own order.
size_t RunWithGoogleBenchmark(benchmark::BenchmarkReporter* reporter);

// The whole of main. Returns the exit status: 0; 1 if a benchmark failed, none
// was selected, or a file could not be written; 2 if the command line or the
// link is wrong. Messages go to standard error.
//
// `run` and `notes` are called in the process of each benchmark; the process
// that was started first only asks `sharing` and passes the command line on, as
// the system keeps it.
int ProfileBenchmarks(int argc, char** argv, const BenchmarkRunner& run,
                      const NoteSource& notes = nullptr,
                      const ProcessSharing& sharing = nullptr);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_GOOGLE_BENCHMARK_BENCHMARK_PROFILER_H_
