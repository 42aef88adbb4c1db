// Runs products (product.h), and any other benchmarks, according to a plan.
//
//   int main(int argc, char** argv) {
//     footprint::PlannedBenchmarks planned(&argc, argv);
//     benchmark::Initialize(&argc, argv);
//     if (absl::Status status = RegisterProducts(); !status.ok()) ...
//     planned.Run(nullptr);
//     return planned.ExitStatus();
//   }
//
// To measure memory, pass `planned.runner()` to footprint::ProfileBenchmarks
// (//profiling:benchmark_profiler), with `notes()`, so that the gate's report
// shows the plan, and with `sharing()`, so that a product's values are loaded
// once.
//
// Run asks Google Benchmark which instances match the filter, plans for these
// (schedule_planner.h), prints the plan on standard error, and runs the
// instances one by one: evict, load, set up, run with all repetitions, tear
// down. Loads are outside every timer and every memory manager's region. If a
// value cannot be loaded or a function throws, the instance's row shows the
// error, and the other instances run. A failed load is not tried again. If a
// benchmark that is not part of a product throws, it has no row, and the other
// benchmarks run. If it has Threads() of more than 1, it ends the process,
// since Google Benchmark runs it on threads whose exceptions nobody can catch.
//
// A value that only factories load counts as alive. It is evicted when the plan
// has no load left. Under a budget that has no room for it beside the plan's
// peak, it is evicted after each load.
//
// Under a budget, the resident set of the process and its high-water mark are
// compared with the budget after each load and each cell (resident_check.h).
// When a value first takes more than planned, the remaining cells get a new
// plan (revised_steps.h); the row of a cell that no longer fits shows an error.
//
// Works with filter, repetitions, threads, warm-up, memory managers and
// --benchmark_out (JSON, CSV or console). Rows have the family numbers of a
// single run (family_numbers.h). Random interleaving is refused, since it would
// keep all values alive. Benchmarks that are not part of a product keep their
// place in the order. Google Benchmark matches its whole list in each call. In
// a list of more than 63, neighbouring cells share calls, so that the time
// grows with the list and not with its square, unless a reordered plan goes
// back and forth in it.
//
// Not thread-safe: use one object, on the main thread. Memory: the plan, the
// trace, and the planned values.

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
  // Takes its flags (product_flags.h) from the command line; status() says
  // whether they are right. With --help, prints them on standard output. Call
  // it before benchmark::Initialize, which does not know them.
  PlannedBenchmarks(int* argc, char** argv);

  // Runs the benchmarks with `reporter`, or with Google Benchmark's own if it
  // is null. Returns how many instances ran: 0 if status() is then an error,
  // and if --memo_plan only prints the plan. With --benchmark_list_tests only
  // lists the benchmarks, and returns their number.
  size_t Run(benchmark::BenchmarkReporter* reporter);

  // Returns Run as a function object, which refers to this object.
  std::function<size_t(benchmark::BenchmarkReporter*)> runner();

  // Returns the argument of ProfileBenchmarks that says which benchmarks share
  // a process; without it each has a process of its own. The cells of a product
  // share one. With --memo_trace_out= or --memo_remember=, whose file belongs
  // to one run, all benchmarks share one. Refers to this object.
  std::function<std::string(const std::string& instance_name)> sharing() const;

  // Returns ok, or why nothing ran: InvalidArgument for a wrong command line or
  // a name of more than 4,000 characters, NotFound if the filter or
  // --memo_product leaves no benchmark, FailedPrecondition for random
  // interleaving, or the error of a file that cannot be read or written, of an
  // automatic budget that cannot be found, or of PlanSchedule.
  const absl::Status& status() const { return status_; }

  // Returns 2 if status() is an error. Returns 1 if a value could not be loaded
  // or evicted, a task failed, a function threw, a benchmark that matches the
  // filter did not run, a file could not be written, or the budget was
  // exceeded, by planned values or by more than 2 % and 4 MiB of resident
  // memory. Otherwise returns `status`, the result of a function that called
  // the runner.
  int ExitStatus(int status = 0) const;

  // Returns the plan in one line, which ProfileBenchmarks adds to the profile.
  // Empty before Run, and if nothing was planned.
  std::vector<Remark> notes() const;

  // Returns how many calls of Google Benchmark the last Run made to run
  // instances. Each call matches the whole list.
  size_t call_count() const { return call_count_; }

  // Returns the plan of the last Run, and what happened. It lives as long as
  // this object.
  const MemoTrace& trace() const { return trace_; }

 private:
  absl::StatusOr<size_t> RunPlanned(benchmark::BenchmarkReporter* reporter);
  void WriteTraceFiles(const ProductOptions& options);
  // Prints an error and remembers that there was one.
  void NoteProblem(const absl::Status& status);

  absl::StatusOr<ProductOptions> options_;
  absl::Status status_;
  MemoTrace trace_;
  bool had_problem_ = false;
  size_t call_count_ = 0;
};

// The main function of a program: takes the flags, calls `register_all`, which
// registers the program's products, and runs them. Returns the exit status: 2
// if registering failed, or if the command line has an unknown word, which
// standard error then names; otherwise PlannedBenchmarks::ExitStatus.
int RunPlannedBenchmarks(int argc, char** argv,
                         absl::FunctionRef<absl::Status()> register_all);

}  // namespace footprint

#endif  // FOOTPRINT_MEMO_PRODUCT_PLANNED_BENCHMARKS_H_
