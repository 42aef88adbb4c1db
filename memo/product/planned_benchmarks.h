// Runs products (product.h), and any other benchmarks, by a plan.
//
//   int main(int argc, char** argv) {
//     footprint::PlannedBenchmarks planned(&argc, argv);
//     benchmark::Initialize(&argc, argv);
//     if (absl::Status status = RegisterProducts(); !status.ok()) ...
//     planned.Run(nullptr);
//     return planned.ExitStatus();
//   }
//
// or, to measure memory, with `planned.runner()` given to
// footprint::ProfileBenchmarks (//profiling:benchmark_profiler), and
// `notes()` besides, so that the gate's report shows the plan, and
// `sharing()`, so that a product's values are loaded once.
//
// Asks Google Benchmark which instances the filter leaves, plans for these
// (schedule_planner.h), says the plan on standard error, and runs instance
// after instance: evict, load, set up, run with all its repetitions, tear down.
// Loads lie outside of every timer and of every memory manager's region. An
// instance whose value cannot be loaded shows the error in its row, as does one
// whose function throws; the others run. A load that failed is not tried again.
// A benchmark that is no product has no row if it throws, and those beside it
// run; one that throws with Threads() of more than 1 ends the process, since
// Google Benchmark runs it on threads that nobody can catch for.
//
// A value that only factories load counts as alive. It is evicted when nothing
// is left to load, and after each load under a budget that has no room for it
// beside the plan's peak.
//
// Under a budget the resident set of the process and its high-water mark are
// compared with it after each load and each cell (resident_check.h). At the
// first value that takes more than planned, what is left to run has a new plan
// (revised_steps.h); a cell that cannot fit any more has an error in its row.
//
// Works with filter, repetitions, threads, warm-up, memory managers and
// --benchmark_out (JSON, CSV or console). Rows have the numbers of families of
// one run (family_numbers.h). Refuses random interleaving, which would
// keep all values alive. Benchmarks that are no product run where they stand.
// Google Benchmark matches its whole list in each call. Neighbouring cells of a
// list of more than 63 share calls, so that the time grows with the list, and
// not with its square, unless a reordered plan goes back and forth in it.
//
// Not thread-safe: one, on main's thread. Memory: the plan, the trace, and the
// planned values.

#ifndef FOOTPRINT_MEMO_PRODUCT_PLANNED_BENCHMARKS_H_
#define FOOTPRINT_MEMO_PRODUCT_PLANNED_BENCHMARKS_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmark/benchmark.h"
#include "footprint/memo/product/product_flags.h"
#include "footprint/memo/schedule/memo_trace.pb.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

class PlannedBenchmarks {
 public:
  // Takes its flags (product_flags.h) from the command line; before
  // benchmark::Initialize, which does not know them.
  PlannedBenchmarks(int* argc, char** argv);

  // Runs with `reporter`; null: with Google Benchmark's own. Returns how many
  // instances ran, 0 if the plan was refused.
  size_t Run(benchmark::BenchmarkReporter* reporter);

  // Run as a value, which refers to this object.
  std::function<size_t(benchmark::BenchmarkReporter*)> runner();

  // Returns, for ProfileBenchmarks, which gives each benchmark a process of its
  // own, which of them share one: the cells of a product do, and with
  // --memo_trace_out=, whose file holds one plan, all benchmarks do. Refers to
  // this object.
  std::function<std::string(const std::string& instance_name)> sharing() const;

  // Returns why nothing ran: the command line, a filter that matches nothing, a
  // name of more than 4,000 characters, random interleaving, or what
  // PlanSchedule refuses.
  const absl::Status& status() const { return status_; }

  // 2 if the plan was refused; 1 if a value, a task, a function that threw or
  // an eviction failed, a
  // benchmark that the filter leaves did not run, a file could not be written,
  // or the budget was exceeded, by planned values or by more than 2 % and 4 MiB
  // of resident memory; otherwise `status`, that of a function which called the
  // runner.
  int ExitStatus(int status = 0) const;

  // The plan in a line, for ProfileBenchmarks to put into the profile; empty
  // before Run, and where nothing was planned.
  std::vector<Remark> notes() const;

  // Returns how often the last Run had Google Benchmark match its list to run
  // something.
  size_t call_count() const { return call_count_; }

  // The plan and what happened.
  const MemoTrace& trace() const { return trace_; }

 private:
  absl::StatusOr<size_t> RunPlanned(benchmark::BenchmarkReporter* reporter);
  void WriteTraceFiles(const ProductOptions& options);
  // Says an error and remembers that there was one.
  void NoteProblem(const absl::Status& status);

  absl::StatusOr<ProductOptions> options_;
  absl::Status status_;
  MemoTrace trace_;
  bool had_problem_ = false;
  size_t call_count_ = 0;
};

// A program's main: takes the flags, calls `register_all` for its products and
// runs them. Returns the exit status: 2 if registering failed or the command
// line has a word that nobody knows, which is said on standard error; else
// PlannedBenchmarks::ExitStatus.
int RunPlannedBenchmarks(int argc, char** argv,
                         absl::FunctionRef<absl::Status()> register_all);

}  // namespace footprint

#endif  // FOOTPRINT_MEMO_PRODUCT_PLANNED_BENCHMARKS_H_
