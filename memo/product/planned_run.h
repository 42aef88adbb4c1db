// Plans for the instances that Google Benchmark lists, and carries out the
// plan.
//
//   PlannedRun run(DivideIntoStretches(names), &trace);
//   absl::Status planned = run.Plan(options, known_sizes);
//   if (planned.ok()) run.Run(&joining_reporter);
//
// Refers to the trace and to the registry's cells, which must outlive it. Not
// thread-safe: use one object, on the main thread. Memory: the names, the plan,
// and the planned values. Tested by planned_benchmarks_test, product_test and
// many_cells_test.

#ifndef FOOTPRINT_MEMO_PRODUCT_PLANNED_RUN_H_
#define FOOTPRINT_MEMO_PRODUCT_PLANNED_RUN_H_

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "footprint/memo/google_benchmark/joining_reporter.h"
#include "footprint/memo/product/planned_values.h"
#include "footprint/memo/product/product_flags.h"
#include "footprint/memo/product/product_registry.h"
#include "footprint/memo/product/trace_recorder.h"
#include "footprint/memo/schedule/memo_trace.pb.h"
#include "footprint/memo/schedule/memo_trace_file.h"
#include "footprint/memo/schedule/schedule.h"

namespace footprint::memo_internal {

// The instances of one name of a product, or neighbouring instances of other
// benchmarks.
struct Stretch {
  std::vector<std::string> instance_names;
  ProductCell* cell = nullptr;
};

// Divides the instances in their order. Instances of one name run with the
// first of them, since a filter cannot distinguish them.
std::vector<Stretch> DivideIntoStretches(
    const std::vector<std::string>& instance_names);

class PlannedRun {
 public:
  PlannedRun(std::vector<Stretch> stretches, MemoTrace* trace)
      : stretches_(std::move(stretches)),
        recorder_(trace),
        values_(&plan_, &recorder_) {}
  PlannedRun(const PlannedRun&) = delete;
  PlannedRun& operator=(const PlannedRun&) = delete;

  // Writes the plan into the trace. Returns the errors of PlanSchedule.
  absl::Status Plan(const ProductOptions& options,
                    const std::map<std::string, LoadedSize>& known_sizes);

  // Runs the plan. Call it once, after Plan.
  void Run(JoiningReporter* reporter);

  bool had_problem() const { return recorder_.had_problem(); }
  // Return how many instances ran, and how many calls of Google Benchmark ran
  // them.
  size_t ran_count() const { return ran_count_; }
  size_t call_count() const { return call_count_; }

 private:
  // Counts a product's instances in this run.
  struct Family {
    size_t size = 0;
    size_t next_index = 0;
  };

  Stretch& StretchAt(size_t step);
  size_t EndOfBatch(size_t begin);
  bool MayShareACall(size_t step);
  void RunBatch(size_t begin, size_t end, JoiningReporter* reporter);
  void RunInstances(const Stretch& stretch, JoiningReporter* reporter);
  std::vector<std::string> RunNames(std::vector<std::string> names,
                                    JoiningReporter* reporter);
  void RecordUnplannedCall(const std::string& cell_name);
  void RecordCount(const std::vector<std::string>& names, size_t count);
  void RevisePlan(size_t step);
  void BeginCell(size_t index);
  void EndCell(size_t index);
  InstanceState FindNextState(const Stretch& stretch);
  void RunTeardown(ProductCell& cell, const ScheduledStep& step);

  std::vector<Stretch> stretches_;
  std::map<std::string, Family> families_;
  ValuesPlan plan_;
  TraceRecorder recorder_;
  PlannedValues values_;
  // True if the cell that runs is set up.
  bool is_set_up_ = false;
  InstanceState state_;
  size_t ran_count_ = 0;
  size_t call_count_ = 0;
};

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_PRODUCT_PLANNED_RUN_H_
