// Loads and evicts the values of a plan, and compares them with it.
//
//   PlannedValues values(&plan, &recorder);
//   values.Begin();
//   for (const ScheduledStep& step : plan.schedule.steps) {
//     absl::Status loaded = values.Load(step);
//     ...                                         // run the cell
//     values.EvictAfter(step);
//   }
//
// Refers to the plan and the recorder, which must outlive it; the registry owns
// the memos. Not thread-safe: use one object, on the main thread. Memory: the
// values, and their names. Tested by product_sizes_test and
// planned_benchmarks_test.

#ifndef FOOTPRINT_MEMO_PRODUCT_PLANNED_VALUES_H_
#define FOOTPRINT_MEMO_PRODUCT_PLANNED_VALUES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "footprint/memo/memo_core.h"
#include "footprint/memo/product/product_registry.h"
#include "footprint/memo/product/resident_check.h"
#include "footprint/memo/product/trace_recorder.h"
#include "footprint/memo/schedule/memo_trace_file.h"
#include "footprint/memo/schedule/schedule.h"

namespace footprint::memo_internal {

struct ValuesPlan {
  ScheduleRequest request;
  Schedule schedule;
  // The memos of request.values, in the same order.
  std::vector<PlannedMemo*> memos;
  // Sizes that earlier runs measured, by name.
  std::map<std::string, LoadedSize> known_sizes;
  bool counts_resident = false;
  // The file that passes the sizes of this run to the next one. Empty: no file.
  std::string remember_path;
};

class PlannedValues {
 public:
  PlannedValues(const ValuesPlan* plan, TraceRecorder* recorder)
      : plan_(plan), recorder_(recorder) {}
  PlannedValues(const PlannedValues&) = delete;
  PlannedValues& operator=(const PlannedValues&) = delete;

  // Call this before the first load: values that are loaded by then are not
  // counted as loads of factories.
  void Begin();

  // Loads all values that the step's cell needs. Returns the error of the first
  // load that failed, now or in an earlier step. For a cell that RefuseCell
  // named, loads nothing and returns its status. Returns ResourceExhausted if
  // values took more than planned and those of this cell exceed the budget by
  // themselves.
  absl::Status Load(const ScheduledStep& step);

  // Runs the cell's teardown, which may evict the values that it is given,
  // since they are not pinned while it runs. Pins those that remain, and
  // returns the status of RunCatching.
  absl::Status Lend(const ProductCell& cell, const InstanceState& state,
                    const ScheduledStep& step,
                    const std::function<absl::Status()>& task);

  // Evicts values that no later step needs.
  void EvictAfter(const ScheduledStep& step);

  // Prints a message if more memory than the budget allows was resident since
  // the last call (resident_check.h). `name` is the value that was loaded, or
  // the cell that ran.
  void CheckResident(const std::string& name);

  // Returns whether a value took more than planned since the last call.
  bool TakeSurprise();

  // Writes the measured sizes into `values`, which are those of the request. A
  // value that was not loaded yet, and whose size is a guess, is expected to be
  // larger than the guess by the largest factor of those that were loaded.
  void LearnSizes(std::vector<PlannedValue>* values) const;

  // Makes the cell show an error instead of a run.
  void RefuseCell(int cell, const absl::Status& status);

  // Evicts the values that none of `cells` needs.
  void EvictAllBut(const std::vector<PlannedCell>& cells);

 private:
  // The memory of other memos to which a value holds handles.
  struct HeldSize {
    int64_t bytes = 0;
    int64_t resident_bytes = 0;  // 0 if not counted
    // Heap bytes of the memos that the value's own load has loaded. The peak of
    // that load includes them, but neither mappings nor what was loaded before.
    int64_t bytes_in_load_peak = 0;
  };

  absl::Status LoadValues(const ScheduledStep& step);
  absl::Status MakeRoomFor(int value, const std::vector<int>& needed);
  void LearnSize(int value, const MemoStatistics& statistics,
                 const HeldSize& held);
  void Remember(int64_t loaded_bytes);
  HeldSize HeldSince(const std::map<std::string, uint64_t>& handles_before,
                     const std::string& name) const;
  void RecordValue(const PlannedValue& planned, const PlannedMemo& memo,
                   const MemoStatistics& before, const HeldSize& held);
  LoadedSize KnownSize(const std::string& name) const;
  void CompareWithPlan(const PlannedValue& planned,
                       const MemoStatistics& statistics, int64_t bytes);
  void AddSizes(const MemoStatistics& statistics, MemoEvent* event);
  void RecordPeak(const std::string& name, int64_t bytes,
                  const std::string& words);
  void RecordLoadedByFactory();
  void RecordEvictionByTask(const PlannedMemo& memo, const InstanceState& state,
                            const ScheduledStep& step);
  void EvictLoadedByFactories();
  void Evict(PlannedMemo* memo);

  const ValuesPlan* const plan_;
  TraceRecorder* const recorder_;
  std::map<int, absl::Status> failed_loads_;
  // The names of values that were loaded before the run, and of those that
  // factories have loaded.
  std::set<std::string> loaded_before_;
  std::set<std::string> loaded_by_factories_;
  // Names of values that a teardown has evicted before their last use.
  std::set<std::string> warned_of_;
  int64_t loads_left_ = 0;
  ResidentCheck resident_;
  // Sizes that the values had when they were loaded, by index.
  std::map<int, PlannedValue> learned_;
  bool is_surprised_ = false;
  std::map<int, absl::Status> refused_cells_;
  // The file of sizes has the events of the trace before this one.
  int remembered_event_count_ = 0;
  int64_t unsaved_bytes_ = 0;  // bytes of loads since then
};

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_PRODUCT_PLANNED_VALUES_H_
