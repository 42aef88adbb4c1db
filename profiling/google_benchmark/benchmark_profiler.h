// The memory pass of a benchmark program. It measures what each benchmark's
// loop needs, and has phases for what is set up before it and left after it.
//
//   int main(int argc, char** argv) {
//     return footprint::ProfileBenchmarks(argc, argv,
//                                         footprint::RunWithGoogleBenchmark);
//   }
//
// Most programs link `//profiling:benchmark_main` instead of writing this main.
// With --memory_profile_out=FILE or --memory_samples_out=FILE each benchmark
// runs once, in a process of its own (benchmark_processes.h), for one iteration
// or as many as it sets with Iterations(n), but never for a count that depends
// on time, whatever MinTime() says. With Repetitions(n), and after a warm-up,
// the first run counts, and "teardown" reaches to the loop of the second. The
// figures are those of the loop. The phases are "setup" before the loop,
// "loop", and "teardown" after it. A benchmark that fails, in any repetition,
// crashes or exits is named in the profile beside the others' figures; so is
// one whose name is not UTF-8 or is also another's. Without the flags the
// program is an ordinary benchmark program that also shows memory. If standard
// error is not a terminal, its last line there says how many benchmarks ran
// (benchmark_count.h).
//
// With --memory_one_process all benchmarks run in this process, one after the
// other, and each finds what the one before left. Use it for a debugger, and
// for a main that reads a pipe, which would be empty in the other processes.
//
// Absolute peaks leave out Google Benchmark's description of the host, which
// has another length on another host.
//
// Linking against this library replaces State's functions StartKeepRunning and
// FinishKeepRunning (--wrap) to find the loop, and clock_gettime, whose clocks
// run ahead at the end of a measured loop, so that one run is enough. The last
// thread to reach one of these functions begins or ends the loop, while the
// others wait at Google Benchmark's own barrier; see
// docs/decisions/0003-memory-pass-of-a-benchmark.md.
//
// `run`, `notes` and `sharing` are called before ProfileBenchmarks returns, and
// none is kept. Not thread-safe; call it once, from main. Memory: the profile,
// outside the phases.

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
// returns how many there were. It is a function object, so that a planner may
// order the runs.
using BenchmarkRunner =
    std::function<size_t(benchmark::BenchmarkReporter* reporter)>;

// Returns remarks of the profile on how the program worked. It is called after
// the run, and must return the same in every process.
using NoteSource = std::function<std::vector<Remark>()>;

// Runs the benchmarks in Google Benchmark's own order.
size_t RunWithGoogleBenchmark(benchmark::BenchmarkReporter* reporter);

// Does all that main does. Returns the exit status: 0; 1 if no benchmark was
// selected; 2 if the command line or the link is wrong. With
// --memory_profile_out or --memory_samples_out, also 1 if a benchmark failed, a
// file could not be written, or a process could not be started. Messages go to
// standard error.
//
// With one of these flags, `run` and `notes` are called in the process of each
// benchmark. The first process then only calls `sharing` and passes on the
// command line as the system keeps it. With --memory_one_process, this process
// calls `run` and `notes`, and `sharing` is not called.
int ProfileBenchmarks(int argc, char** argv, const BenchmarkRunner& run,
                      const NoteSource& notes = nullptr,
                      const ProcessSharing& sharing = nullptr);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_GOOGLE_BENCHMARK_BENCHMARK_PROFILER_H_
