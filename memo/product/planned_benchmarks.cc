#include "footprint/memo/product/planned_benchmarks.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/memory/available_memory.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/memo/load_meter.h"
#include "footprint/memo/memo_core.h"
#include "footprint/memo/product/exact_filter.h"
#include "footprint/memo/product/family_numbers.h"
#include "footprint/memo/product/planned_sizes.h"
#include "footprint/memo/product/product_registry.h"
#include "footprint/memo/product/rows_file.h"
#include "footprint/memo/run_catching.h"
#include "footprint/memo/schedule/load_costs.h"
#include "footprint/memo/schedule/memo_trace_file.h"
#include "footprint/memo/schedule/schedule_planner.h"
#include "footprint/memo/trace/plan_in_words.h"
#include "footprint/memo/trace/trace_text.h"

namespace footprint {
namespace {

using benchmark::BenchmarkReporter;
using memo_internal::PlannedMemo;
using memo_internal::ProductCell;
using memo_internal::ProductRegistry;

// One instance of a product, or neighbouring ones of other benchmarks.
struct Stretch {
  std::vector<std::string> instance_names;
  ProductCell* cell = nullptr;
};

// Passes on what several runs report as if they were one.
class JoiningReporter : public BenchmarkReporter {
 public:
  JoiningReporter(BenchmarkReporter* display, BenchmarkReporter* file,
                  const std::vector<std::string>& instance_names)
      : display_(display), file_(file), numbers_(instance_names) {
    SetOutputStream(&display->GetOutputStream());
    SetErrorStream(&display->GetErrorStream());
  }

  bool Begin(const Context& context) {
    const bool goes_on = display_->ReportContext(context);
    return (file_ == nullptr || file_->ReportContext(context)) && goes_on;
  }
  void End() {
    display_->Finalize();
    if (file_ != nullptr) file_->Finalize();
  }

  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& reported) override {
    std::vector<Run> runs = reported;
    for (Run& run : runs) {
      names_.insert(run.run_name.str());
      numbers_.Set(&run);
    }
    display_->ReportRuns(runs);
    if (file_ != nullptr) file_->ReportRuns(runs);
    if (after_rows_ && !runs.empty()) after_rows_(runs[0].run_name.str());
  }

  // Called with an instance's name after its rows were passed on; null:
  // nothing.
  void CallAfterRows(std::function<void(const std::string&)> after_rows) {
    after_rows_ = std::move(after_rows);
  }

  // Of an instance, since ForgetRows.
  bool HasRows(const std::string& name) const { return names_.count(name) > 0; }
  void ForgetRows() { names_.clear(); }

 private:
  BenchmarkReporter* const display_;
  BenchmarkReporter* const file_;
  memo_internal::FamilyNumbers numbers_;
  std::set<std::string> names_;
  std::function<void(const std::string&)> after_rows_;
};

// Only lends its streams while Google Benchmark lists instances.
class ListingReporter : public BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return false; }
  void ReportRuns(const std::vector<Run>& /*runs*/) override {}
};

// Whether Google Benchmark lists instances or runs them. Nor may it open a file
// for rows that the environment names: it would begin it anew for every cell.
void SwitchListing(bool is_on) {
  std::string program = BenchmarkReporter::Context::executable_name != nullptr
                            ? BenchmarkReporter::Context::executable_name
                            : "program";
  std::string flag =
      absl::StrCat("--benchmark_list_tests=", is_on ? "true" : "false");
  // The name is kept by address, so it goes in and out as it was.
  const char* const name = BenchmarkReporter::Context::executable_name;
  std::string no_file = "--benchmark_out=";
  char* arguments[] = {&program[0], &flag[0], &no_file[0], nullptr};
  int count = 3;
  benchmark::Initialize(&count, arguments);
  BenchmarkReporter::Context::executable_name = name;
}

// How many benchmarks `filter` leaves.
size_t CountBenchmarks(const std::string& filter) {
  std::ostringstream ignored;
  ListingReporter reporter;
  reporter.SetOutputStream(&ignored);
  reporter.SetErrorStream(&ignored);
  SwitchListing(true);
  const size_t count =
      benchmark::RunSpecifiedBenchmarks(&reporter, nullptr, filter);
  SwitchListing(false);
  return count;
}

// Of --benchmark_filter. For ".", Google Benchmark copies all that it has found
// at every benchmark that it finds; another expression that matches everything
// takes a time that is linear in them.
std::string FilterForListing() {
  const std::string filter = benchmark::GetBenchmarkFilter();
  const bool is_everything = filter.empty() || filter == "." || filter == "all";
  return is_everything ? "^" : filter;
}

// The instances that the filter leaves, in Google Benchmark's order.
std::vector<std::string> ListInstances(std::string* errors_text) {
  std::ostringstream listing;
  std::ostringstream errors;
  ListingReporter reporter;
  reporter.SetOutputStream(&listing);
  reporter.SetErrorStream(&errors);
  SwitchListing(true);
  benchmark::RunSpecifiedBenchmarks(&reporter, nullptr, FilterForListing());
  SwitchListing(false);
  *errors_text = errors.str();
  return absl::StrSplit(listing.str(), '\n', absl::SkipEmpty());
}

// Instances of one name run with the first of them, since a filter cannot tell
// them apart.
std::vector<Stretch> DivideIntoStretches(
    const std::vector<std::string>& instance_names) {
  std::vector<Stretch> stretches;
  std::map<std::string, size_t> stretch_of_name;
  for (const std::string& name : instance_names) {
    const auto same = stretch_of_name.find(name);
    if (same != stretch_of_name.end()) {
      stretches[same->second].instance_names.push_back(name);
      continue;
    }
    ProductCell* const cell = ProductRegistry::Get().FindCell(name);
    if (cell != nullptr || stretches.empty() ||
        stretches.back().cell != nullptr) {
      stretches.emplace_back();
      stretches.back().cell = cell;
    }
    stretches.back().instance_names.push_back(name);
    stretch_of_name[name] = stretches.size() - 1;
  }
  return stretches;
}

// The same request where cells may run in any order. Where sizes are unknown,
// each value counts as one.
ScheduleRequest InAnyOrder(ScheduleRequest request, bool has_unknown_sizes) {
  request.may_reorder = true;
  if (!has_unknown_sizes) return request;
  for (PlannedValue& value : request.values) {
    value.bytes = 1;
    value.load_peak_bytes = 0;
    value.source = SizeSource::kDeclared;
  }
  request.budget_bytes.reset();
  return request;
}

// What another order would need, if it needs less than the given one.
void DescribeOtherOrder(const ScheduleRequest& request,
                        const Schedule& schedule, MemoPlan* plan) {
  const bool has_unknown_sizes = schedule.unknown_size_count > 0;
  const bool is_best =
      !has_unknown_sizes &&
      schedule.peak_bytes == schedule.smallest_budget_bytes &&
      schedule.load_count == static_cast<int64_t>(request.values.size());
  if (request.may_reorder || is_best) return;
  const absl::StatusOr<Schedule> other =
      PlanSchedule(InAnyOrder(request, has_unknown_sizes));
  if (!other.ok()) return;
  const int64_t count = PeakCount(*other);
  const bool is_better =
      has_unknown_sizes
          ? count < PeakCount(schedule)
          : std::make_pair(other->load_cost, other->peak_bytes) <
                std::make_pair(schedule.load_cost, schedule.peak_bytes);
  if (!is_better) return;
  plan->set_other_order_peak_count(count);
  plan->set_other_order_load_count(other->load_count);
  if (!has_unknown_sizes) {
    plan->set_other_order_peak_bytes(other->peak_bytes);
  }
}

// Carries out a schedule.
class PlannedRun {
 public:
  PlannedRun(std::vector<Stretch> stretches, MemoTrace* trace)
      : stretches_(std::move(stretches)), trace_(trace) {}

  absl::Status Plan(const ProductOptions& options,
                    const std::map<std::string, LoadedSize>& known_sizes) {
    request_.budget_bytes = options.budget_bytes;
    request_.may_reorder = options.may_reorder;
    counts_resident_ = options.counts_resident;
    known_sizes_ = known_sizes;
    remembers_ = !options.remember_path.empty();
    std::map<PlannedMemo*, int> indices;
    std::vector<int64_t> load_nanoseconds;
    for (const Stretch& stretch : stretches_) {
      PlannedCell& cell = request_.cells.emplace_back();
      cell.name = absl::StrJoin(stretch.instance_names, ", ");
      if (stretch.cell == nullptr) continue;
      for (PlannedMemo* memo : stretch.cell->memos) {
        const auto [entry, is_new] =
            indices.try_emplace(memo, static_cast<int>(memos_.size()));
        if (is_new) {
          memos_.push_back(memo);
          request_.values.push_back(memo_internal::DescribeValue(
              memo->statistics(), known_sizes, counts_resident_));
          load_nanoseconds.push_back(memo_internal::LoadNanosecondsOf(
              memo->statistics(), known_sizes));
        }
        cell.values.push_back(entry->second);
      }
    }
    const bool costs_are_times =
        memo_internal::SetLoadCosts(load_nanoseconds, &request_.values);
    absl::StatusOr<Schedule> schedule = PlanSchedule(request_);
    if (!schedule.ok()) return schedule.status();
    schedule_ = *std::move(schedule);
    *trace_->mutable_plan() = DescribePlan(request_, schedule_);
    trace_->mutable_plan()->set_counts_resident_bytes(counts_resident_);
    trace_->mutable_plan()->set_costs_are_microseconds(costs_are_times);
    DescribeOtherOrder(request_, schedule_, trace_->mutable_plan());
    return absl::OkStatus();
  }

  void Run(JoiningReporter* reporter) {
    for (const MemoStatistics& loaded : ListLoadedMemos()) {
      loaded_before_.insert(loaded.name);
    }
    loads_left_ = schedule_.load_count;
    for (const Stretch& stretch : stretches_) {
      if (stretch.cell != nullptr) ++families_[stretch.cell->product].size;
    }
    for (size_t step = 0; step < schedule_.steps.size();) {
      const size_t end = EndOfBatch(step);
      if (StretchOf(step).cell == nullptr) {
        RunInstances(StretchOf(step), reporter);
      } else if (end == step + 1) {
        BeginCell(step);
        RunInstances(StretchOf(step), reporter);
        EndCell(step);
      } else {
        RunBatch(step, end, reporter);
      }
      step = end;
    }
  }

  bool had_problem() const { return had_problem_; }
  size_t ran_count() const { return ran_count_; }
  size_t call_count() const { return call_count_; }

 private:
  Stretch& StretchOf(size_t step) {
    return stretches_[static_cast<size_t>(schedule_.steps[step].cell)];
  }

  // Product cells that stand in Google Benchmark's own order can run in one
  // call of it. It matches all its list in each call, and holds something for
  // each instance that a call runs: few instances have a call each, many share
  // kMostCalls.
  size_t EndOfBatch(size_t begin) {
    constexpr size_t kMostCalls = 32;
    const size_t most_cells =
        std::max<size_t>(1, stretches_.size() / kMostCalls);
    size_t end = begin + 1;
    if (!MayShareACall(begin)) return end;
    while (end < schedule_.steps.size() && end - begin < most_cells &&
           MayShareACall(end) &&
           schedule_.steps[end - 1].cell < schedule_.steps[end].cell) {
      ++end;
    }
    return end;
  }

  bool MayShareACall(size_t step) {
    const Stretch& stretch = StretchOf(step);
    return stretch.cell != nullptr && stretch.instance_names.size() == 1;
  }

  // What an instance's rows end is its cell: the next one's values are loaded
  // while Google Benchmark waits for the reporter, and measures nothing.
  void RunBatch(size_t begin, size_t end, JoiningReporter* reporter) {
    size_t current = begin;
    const auto go_on = [&] {
      EndCell(current);
      if (++current < end) BeginCell(current);
    };
    reporter->CallAfterRows([&](const std::string& name) {
      if (current == end || name != StretchOf(current).instance_names[0]) {
        return;
      }
      go_on();
    });
    BeginCell(begin);
    while (current < end) {
      std::vector<std::string> names;
      for (size_t step = current; step < end; ++step) {
        names.push_back(StretchOf(step).instance_names[0]);
      }
      names = memo_internal::DivideForFilters(names).front();
      const size_t end_of_call = current + names.size();
      RunNames(std::move(names), reporter);
      // It has no rows, and never will.
      if (current < end_of_call) go_on();
    }
    reporter->CallAfterRows(nullptr);
  }

  void RunInstances(const Stretch& stretch, JoiningReporter* reporter) {
    for (std::vector<std::string> names :
         memo_internal::DivideForFilters(stretch.instance_names)) {
      while (!names.empty()) names = RunNames(std::move(names), reporter);
    }
  }

  // Returns what is left to run after one that threw.
  std::vector<std::string> RunNames(std::vector<std::string> names,
                                    JoiningReporter* reporter) {
    reporter->ForgetRows();
    ++call_count_;
    size_t count = 0;
    const absl::Status status =
        memo_internal::RunCatching("the benchmark", [&] {
          count = benchmark::RunSpecifiedBenchmarks(
              reporter, nullptr, memo_internal::ExactFilter(names));
          return absl::OkStatus();
        });
    if (status.ok()) {
      ran_count_ += count;
      if (count != names.size()) RecordCount(names, count);
      return {};
    }
    const size_t asked_count = names.size();
    names.erase(std::remove_if(names.begin(), names.end(),
                               [&](const std::string& name) {
                                 return reporter->HasRows(name);
                               }),
                names.end());
    ran_count_ += asked_count - names.size();
    // They run in their order, except those that are not there.
    const auto thrower =
        std::find_if(names.begin(), names.end(), [](const std::string& name) {
          return CountBenchmarks(memo_internal::ExactFilter({name})) > 0;
        });
    const std::string name =
        thrower != names.end() ? *thrower : "a benchmark of a name that ran";
    RecordProblem(MemoEvent::TASK_FAILED, name, status);
    names.erase(std::remove(names.begin(), names.end(), name), names.end());
    return names;
  }

  // Google Benchmark only returns how many it found.
  void RecordCount(const std::vector<std::string>& names, size_t count) {
    had_problem_ = true;
    const std::string which = absl::StrCat(" of those from \"", names.front(),
                                           "\" to \"", names.back(), "\"");
    Say(AddEvent(MemoEvent::NOT_RUN, names.front(), 0),
        count < names.size()
            ? absl::StrCat(names.size() - count, " of ", names.size(),
                           " benchmarks did not run,", which,
                           ": there are none of such names; does one have a "
                           "line break in its name?")
            : absl::StrCat(count, " benchmarks ran where ", names.size(),
                           " were asked for,", which,
                           ": give each a name of its own"));
  }

  // Loads what the cell needs, and sets it up.
  void BeginCell(size_t index) {
    const ScheduledStep& step = schedule_.steps[index];
    ProductCell& cell = *StretchOf(index).cell;
    state_ = NextStateOf(StretchOf(index));
    cell.error = LoadValues(step);
    loads_left_ -= static_cast<int64_t>(step.loads.size());
    EvictLoadedByFactories();
    is_set_up_ = cell.error.ok();
    if (cell.error.ok() && cell.setup != nullptr) {
      cell.error = memo_internal::RunCatching(
          "the setup", [&] { return cell.setup(state_); });
      is_set_up_ = cell.error.ok();
      if (!is_set_up_) {
        RecordProblem(MemoEvent::TASK_FAILED, cell.name, cell.error);
      }
    }
    cell.is_planned = true;
  }

  // Tears the cell down, and evicts what is not needed again.
  void EndCell(size_t index) {
    const ScheduledStep& step = schedule_.steps[index];
    const Stretch& stretch = StretchOf(index);
    ProductCell& cell = *stretch.cell;
    cell.is_planned = false;
    AddEvent(MemoEvent::CELL_RAN, stretch.instance_names[0], 0);
    const absl::Status thrown = memo_internal::TakeThrown(&cell);
    if (!thrown.ok()) {
      RecordProblem(MemoEvent::TASK_FAILED, cell.name, thrown);
    }
    if (is_set_up_ && cell.teardown != nullptr) {
      RunTeardown(cell, state_, step);
    }
    for (int value : step.evictions) Evict(memos_[static_cast<size_t>(value)]);
    EvictLoadedByFactories();
  }

  InstanceState NextStateOf(const Stretch& stretch) {
    Family& family = families_[stretch.cell->product];
    InstanceState state;
    state.name = stretch.instance_names[0];
    state.family = stretch.cell->product;
    state.family_index = family.next_index++;
    state.family_size = family.size;
    return state;
  }

  // Unpinned meanwhile, since the task may evict what it is given.
  void RunTeardown(ProductCell& cell, const InstanceState& state,
                   const ScheduledStep& step) {
    for (PlannedMemo* memo : cell.memos) memo->Unpin();
    cell.error = memo_internal::RunCatching(
        "the teardown", [&] { return cell.teardown(state); });
    for (PlannedMemo* memo : cell.memos) {
      if (!memo->PinAgain()) RecordEvictionByTask(*memo, state, step);
    }
    if (!cell.error.ok()) {
      RecordProblem(MemoEvent::TASK_FAILED, cell.name, cell.error);
    }
  }

  // An eviction before the last use costs a load, as the user has it.
  void RecordEvictionByTask(const PlannedMemo& memo, const InstanceState& state,
                            const ScheduledStep& step) {
    const auto live = live_bytes_.find(memo.name());
    if (live == live_bytes_.end()) return;  // An argument twice.
    const int64_t bytes = live->second;
    live_bytes_.erase(live);
    MemoEvent* const event = AddEvent(MemoEvent::EVICTED, memo.name(), bytes);
    event->set_detail(absl::StrCat("by the teardown of ", state.name));
    const bool is_last_use = std::any_of(
        step.evictions.begin(), step.evictions.end(),
        [&](int value) { return memos_[static_cast<size_t>(value)] == &memo; });
    if (is_last_use || !warned_of_.insert(memo.name()).second) return;
    Say(event, absl::StrCat("\"", memo.name(),
                            "\": evicted by the teardown of ", state.name,
                            ", though the plan keeps it for a later cell: it "
                            "is loaded again; without that call it stays, and "
                            "the runner evicts it after its last use"));
  }

  // In the plan's order; after an earlier failure, also what the plan took for
  // loaded. What could not be loaded once is not tried again, nor is anything
  // else loaded for a cell that cannot run.
  absl::Status LoadValues(const ScheduledStep& step) {
    std::vector<int> values = step.loads;
    const std::vector<int>& needed =
        request_.cells[static_cast<size_t>(step.cell)].values;
    values.insert(values.end(), needed.begin(), needed.end());
    for (int value : values) {
      const auto failed = failed_loads_.find(value);
      if (failed != failed_loads_.end()) return failed->second;
    }
    for (int value : values) {
      PlannedMemo* const memo = memos_[static_cast<size_t>(value)];
      if (memo->is_pinned()) continue;
      const MemoStatistics before = memo->statistics();
      const std::map<std::string, uint64_t> handles_before = CountHandles();
      const absl::Status status = memo->Load();
      if (!status.ok()) {
        trace_->set_failed_load_count(trace_->failed_load_count() + 1);
        AddEvent(MemoEvent::LOAD_FAILED, memo->name(), 0)
            ->set_detail(std::string(status.message()));
        had_problem_ = true;
        failed_loads_[value] = status;
        return status;
      }
      RecordValue(request_.values[static_cast<size_t>(value)], *memo, before,
                  HeldSince(handles_before, memo->name()));
    }
    return absl::OkStatus();
  }

  static std::map<std::string, uint64_t> CountHandles() {
    std::map<std::string, uint64_t> counts;
    for (const MemoStatistics& loaded : ListLoadedMemos()) {
      counts[loaded.name] = loaded.handle_count;
    }
    return counts;
  }

  // What the load of `name` has got handles of, and its value has kept.
  LoadedSize HeldSince(const std::map<std::string, uint64_t>& handles_before,
                       const std::string& name) const {
    LoadedSize held;
    for (const MemoStatistics& loaded : ListLoadedMemos()) {
      const auto before = handles_before.find(loaded.name);
      const uint64_t count =
          before == handles_before.end() ? 0 : before->second;
      if (loaded.name == name || loaded.handle_count <= count) continue;
      held.held_bytes += loaded.live_bytes;
      held.held_resident_bytes +=
          counts_resident_ ? memo_internal::LoadedBytesOf(loaded, true) : 0;
    }
    return held;
  }

  // A value that is alive from now on. One that somebody else had loaded, such
  // as the factory of another value, counts, too, but is no load of the plan.
  void RecordValue(const PlannedValue& planned, const PlannedMemo& memo,
                   const MemoStatistics& before, const LoadedSize& held) {
    const MemoStatistics statistics = memo.statistics();
    const bool is_new = statistics.load_count != before.load_count;
    const bool is_known = statistics.bytes_source != BytesSource::kUnknown;
    // What nobody could count takes what the plan says.
    const int64_t bytes =
        is_known ? memo_internal::LoadedBytesOf(statistics, counts_resident_)
                 : planned.bytes;
    const int64_t before_bytes = LiveBytes();
    loaded_by_factories_.erase(memo.name());
    live_bytes_[memo.name()] = bytes;
    if (is_new) trace_->set_load_count(trace_->load_count() + 1);
    MemoEvent* const event =
        AddEvent(is_new ? MemoEvent::LOADED : MemoEvent::FOUND_LOADED,
                 memo.name(), bytes);
    AddSizes(statistics, event);
    event->set_load_nanoseconds(statistics.load_nanoseconds -
                                before.load_nanoseconds);
    // Whoever loaded it saw what it took.
    const LoadedSize known = KnownSize(memo.name());
    const LoadedSize& kept = is_new ? held : known;
    event->set_held_bytes(kept.held_bytes);
    event->set_held_resident_bytes(kept.held_resident_bytes);
    // What it holds cannot be declared.
    const bool plan_counts_held =
        known.held_bytes > 0 || planned.source != SizeSource::kDeclared;
    const int64_t held_bytes = counts_resident_ && kept.held_resident_bytes > 0
                                   ? kept.held_resident_bytes
                                   : kept.held_bytes;
    CompareWithPlan(planned, statistics,
                    bytes + (plan_counts_held ? held_bytes : 0));
    if (is_new) RecordLoadedByFactory();
    const int64_t passing_bytes = memo_internal::PassingBytesOf(
        statistics.load_peak_bytes, statistics.live_bytes);
    RecordPeak(memo.name(), LiveBytes(), "planned values take ");
    if (is_new && passing_bytes > 0) {
      RecordPeak(memo.name(), before_bytes + bytes + passing_bytes,
                 "with what its load needed besides, planned values took ");
    }
  }

  LoadedSize KnownSize(const std::string& name) const {
    const auto known = known_sizes_.find(name);
    return known == known_sizes_.end() ? LoadedSize() : known->second;
  }

  // `bytes` with what the value holds.
  void CompareWithPlan(const PlannedValue& planned,
                       const MemoStatistics& statistics, int64_t bytes) {
    const bool is_known = statistics.bytes_source != BytesSource::kUnknown;
    const bool is_promised = planned.source == SizeSource::kDeclared ||
                             planned.source == SizeSource::kMeasured;
    if (!is_known || !is_promised ||
        !memo_internal::IsFarFrom(bytes, planned.bytes)) {
      return;
    }
    Say(AddEvent(MemoEvent::SIZE_DIFFERS, planned.name, bytes),
        absl::StrCat("\"", planned.name, "\" takes ", FormatBytes(bytes),
                     ", not the ", FormatBytes(planned.bytes), " planned for; ",
                     planned.source == SizeSource::kDeclared ? "declare that"
                     : remembers_
                         ? IsMeasured(statistics)
                               ? "the next run plans with that"
                               : "remove the file of --memo_remember= to "
                                 "forget that"
                         : "measure anew with --memo_trace_out="));
  }

  static bool IsMeasured(const MemoStatistics& statistics) {
    return statistics.bytes_source == BytesSource::kMeasured ||
           statistics.bytes_source == BytesSource::kDoubtful;
  }

  void AddSizes(const MemoStatistics& statistics, MemoEvent* event) {
    event->set_is_measured(statistics.bytes_source == BytesSource::kMeasured);
    event->set_is_doubtful(statistics.bytes_source == BytesSource::kDoubtful);
    event->set_detail(statistics.doubt);
    event->set_load_peak_bytes(statistics.load_peak_bytes);
    event->set_resident_bytes(statistics.resident_bytes);
    if (counts_resident_) event->set_allocated_bytes(statistics.live_bytes);
  }

  void RecordPeak(const std::string& name, int64_t bytes,
                  const std::string& words) {
    trace_->set_peak_bytes(std::max(trace_->peak_bytes(), bytes));
    if (!request_.budget_bytes.has_value() || bytes <= *request_.budget_bytes) {
      return;
    }
    had_problem_ = true;
    Say(AddEvent(MemoEvent::BUDGET_EXCEEDED, name, bytes),
        absl::StrCat("\"", name, "\": ", words, FormatBytes(bytes),
                     ", more than the budget of ",
                     FormatBytes(*request_.budget_bytes),
                     counts_resident_
                         ? " resident"
                         : " allocated (--memo_budget_counts=resident counts "
                           "only what is resident)"));
  }

  // What factories have loaded besides is alive, though no plan knew of it.
  void RecordLoadedByFactory() {
    for (const MemoStatistics& loaded : ListLoadedMemos()) {
      if (live_bytes_.count(loaded.name) > 0 ||
          loaded_before_.count(loaded.name) > 0) {
        continue;
      }
      const int64_t bytes =
          memo_internal::LoadedBytesOf(loaded, counts_resident_);
      loaded_by_factories_.insert(loaded.name);
      live_bytes_[loaded.name] = bytes;
      AddSizes(loaded,
               AddEvent(MemoEvent::LOADED_BY_FACTORY, loaded.name, bytes));
    }
  }

  // Under a budget as soon as they are not pinned: they are loaded again for
  // the next factory, whose need while it loads has room for them. Else when
  // nothing is left to load.
  void EvictLoadedByFactories() {
    if (!request_.budget_bytes.has_value() && loads_left_ > 0) return;
    const std::set<std::string> names = loaded_by_factories_;
    for (const std::string& name : names) {
      if (!EvictMemo(name).ok()) continue;  // A value holds it.
      loaded_by_factories_.erase(name);
      const int64_t bytes = live_bytes_[name];
      live_bytes_.erase(name);
      AddEvent(MemoEvent::EVICTED, name, bytes);
    }
  }

  // What could not be loaded needs no eviction.
  void Evict(PlannedMemo* memo) {
    if (!memo->is_pinned()) return;
    const absl::Status status = memo->Evict();
    if (!status.ok()) {
      had_problem_ = true;
      Say(AddEvent(MemoEvent::EVICTION_FAILED, memo->name(), 0),
          absl::StrCat("not evicted: ", status.message()));
      return;
    }
    const int64_t bytes = live_bytes_[memo->name()];
    live_bytes_.erase(memo->name());
    AddEvent(MemoEvent::EVICTED, memo->name(), bytes);
  }

  void RecordProblem(MemoEvent::Kind kind, const std::string& name,
                     const absl::Status& status) {
    had_problem_ = true;
    Say(AddEvent(kind, name, 0), absl::StrCat(name, ": ", status.message()));
  }

  MemoEvent* AddEvent(MemoEvent::Kind kind, const std::string& name,
                      int64_t bytes) {
    MemoEvent* event = trace_->add_events();
    event->set_kind(kind);
    event->set_name(name);
    event->set_bytes(bytes);
    event->set_live_bytes(LiveBytes());
    return event;
  }

  void Say(MemoEvent* event, const std::string& text) {
    event->set_detail(text);
    std::cerr << "memo: " << text << "\n";
  }

  int64_t LiveBytes() const {
    int64_t sum = 0;
    for (const auto& [name, bytes] : live_bytes_) sum += bytes;
    return sum;
  }

  // Of a product: its instances in this run.
  struct Family {
    size_t size = 0;
    size_t next_index = 0;
  };

  std::vector<Stretch> stretches_;
  MemoTrace* const trace_;
  std::map<std::string, Family> families_;
  // Values, by name, that a teardown has evicted before their last use.
  std::set<std::string> warned_of_;
  std::vector<PlannedMemo*> memos_;
  std::map<std::string, LoadedSize> known_sizes_;
  ScheduleRequest request_;
  Schedule schedule_;
  // Of the values that are alive.
  std::map<std::string, int64_t> live_bytes_;
  std::map<int, absl::Status> failed_loads_;
  // By name: what was there before the run, and what factories have loaded.
  std::set<std::string> loaded_before_;
  std::set<std::string> loaded_by_factories_;
  int64_t loads_left_ = 0;
  // Of the cell that runs.
  bool is_set_up_ = false;
  InstanceState state_;
  bool counts_resident_ = false;
  bool remembers_ = false;
  size_t ran_count_ = 0;
  size_t call_count_ = 0;
  bool had_problem_ = false;
};

using Sizes = std::map<std::string, LoadedSize>;

absl::StatusOr<Sizes> ReadSizes(const std::string& path) {
  if (path.empty()) return Sizes();
  absl::StatusOr<MemoTrace> trace = ReadMemoTraceFile(path);
  if (!trace.ok()) return trace.status();
  return LoadedSizes(*trace);
}

// `first`, except where they are unknown, or in doubt and `second` are not.
Sizes BetterSizes(Sizes first, const Sizes& second) {
  const auto rank = [](const LoadedSize& size) {
    return size.source == SizeSource::kUnknown   ? 0
           : size.source == SizeSource::kGuessed ? 1
                                                 : 2;
  };
  for (const auto& [name, size] : second) {
    const auto [entry, is_new] = first.try_emplace(name, size);
    LoadedSize& better = entry->second;
    const int64_t nanoseconds = better.load_nanoseconds;
    if (rank(better) < rank(size)) better = size;
    better.load_nanoseconds =
        nanoseconds > 0 ? nanoseconds : size.load_nanoseconds;
  }
  return first;
}

// Nothing, an error, or the budget that the machine allows.
absl::Status ResolveBudget(ProductOptions* options) {
  if (!options->budget_is_auto) return absl::OkStatus();
  const absl::StatusOr<AvailableMemory> memory = ReadAvailableMemory();
  if (!memory.ok()) {
    return absl::Status(
        memory.status().code(),
        absl::StrCat("--memo_budget=auto: ", memory.status().message()));
  }
  // The benchmarks themselves need some.
  options->budget_bytes = memory->bytes - memory->bytes / 8;
  std::cerr << "memo: budget " << FormatBytes(*options->budget_bytes)
            << ", seven eighths of what " << memory->limited_by
            << " has left\n";
  return absl::OkStatus();
}

// While it lives, resident bytes are counted, if that is asked for.
class ResidentBytesCount {
 public:
  explicit ResidentBytesCount(bool is_counted) {
    memo_internal::CountResidentBytes(is_counted);
  }
  ResidentBytesCount(const ResidentBytesCount&) = delete;
  ResidentBytesCount& operator=(const ResidentBytesCount&) = delete;
  ~ResidentBytesCount() { memo_internal::CountResidentBytes(false); }
};

// What is to be planned, by name. FailedPrecondition, NotFound: why nothing is.
absl::StatusOr<std::vector<std::string>> InstancesToRun(
    const ProductOptions& options) {
  if (options.interleaves_randomly) {
    return absl::FailedPreconditionError(
        "random interleaving takes turns among all benchmarks, so that every "
        "value would stay alive to the end; run planned benchmarks without "
        "--benchmark_enable_random_interleaving");
  }
  std::string errors;
  std::vector<std::string> instance_names = ListInstances(&errors);
  if (instance_names.empty()) {
    return absl::NotFoundError(absl::StrCat(
        "the filter matches no benchmark; --benchmark_list_tests without a "
        "filter lists all",
        errors.empty() ? "" : "\n", absl::StripAsciiWhitespace(errors)));
  }
  return instance_names;
}

// Those of `names` that are cells of `product`, or all if it is empty.
absl::StatusOr<std::vector<std::string>> CellsOfProduct(
    const std::string& product, std::vector<std::string> names) {
  if (product.empty()) return names;
  names.erase(std::remove_if(names.begin(), names.end(),
                             [&product](const std::string& name) {
                               const ProductCell* const cell =
                                   ProductRegistry::Get().FindCell(name);
                               return cell == nullptr ||
                                      cell->product != product;
                             }),
              names.end());
  if (!names.empty()) return names;
  return absl::NotFoundError(
      absl::StrCat("--memo_product=", product,
                   ": the filter leaves no cell of such a product; "
                   "--benchmark_list_tests without a filter lists all"));
}

absl::Status CheckNames(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (name.size() <= memo_internal::kMostNameBytes) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "the benchmark \"", name.substr(0, 100), "...\" has a name of ",
        name.size(), " characters, and regular expressions manage ",
        memo_internal::kMostNameBytes, "; give it a shorter one"));
  }
  return absl::OkStatus();
}

BenchmarkReporter::Context ContextFor(
    const std::vector<std::string>& instance_names) {
  BenchmarkReporter::Context context;
  // As Google Benchmark has it: room for the longest name.
  context.name_field_width = 10;
  for (const std::string& name : instance_names) {
    context.name_field_width = std::max(context.name_field_width, name.size());
  }
  return context;
}

}  // namespace

PlannedBenchmarks::PlannedBenchmarks(int* argc, char** argv)
    : options_(TakeProductFlags(argc, argv)), status_(options_.status()) {
  // Google Benchmark prints its own flags and ends the program.
  if (!options_.ok() || !options_->asks_for_help) return;
  std::cout << "Flags of planned benchmarks:\n"
            << kProductFlagsHelp << std::flush;
}

absl::StatusOr<size_t> PlannedBenchmarks::RunPlanned(
    BenchmarkReporter* reporter) {
  if (!options_.ok()) return options_.status();
  ProductOptions options = *options_;
  absl::StatusOr<std::vector<std::string>> instance_names =
      InstancesToRun(options);
  if (instance_names.ok()) {
    instance_names =
        CellsOfProduct(options.product, *std::move(instance_names));
  }
  if (!instance_names.ok()) return instance_names.status();
  const absl::Status names_checked = CheckNames(*instance_names);
  if (!names_checked.ok()) return names_checked;
  for (const std::string& path : {options.trace_path, options.remember_path}) {
    if (path.empty()) continue;
    const absl::Status can_write = CheckReplaceable(path);
    if (!can_write.ok()) return can_write;
  }
  absl::StatusOr<Sizes> remembered = Sizes();
  if (!options.remember_path.empty()) {
    remembered = ReadRememberedSizes(options.remember_path);
  }
  if (!remembered.ok()) return remembered.status();
  absl::StatusOr<Sizes> known_sizes = ReadSizes(options.sizes_path);
  if (!known_sizes.ok()) return known_sizes.status();
  known_sizes = BetterSizes(*std::move(known_sizes), *remembered);
  const absl::Status resolved = ResolveBudget(&options);
  if (!resolved.ok()) return resolved;
  const ResidentBytesCount count(options.counts_resident);
  PlannedRun run(DivideIntoStretches(*instance_names), &trace_);
  const absl::Status planned = run.Plan(options, *known_sizes);
  if (!planned.ok()) return planned;
  if (!options.plan_format.empty()) {
    std::cout << (options.plan_format == "json" ? PlanJson(trace_.plan())
                                                : PlanText(trace_.plan()))
              << std::flush;
    return 0;
  }
  const std::string words = PlanInWords(trace_.plan());
  if (!words.empty()) std::cerr << "memo: " << words << "\n";

  memo_internal::RowsFile rows;
  const absl::Status opened =
      rows.Open(options.benchmark_out_path, options.benchmark_out_format);
  if (!opened.ok()) return opened;
  JoiningReporter joining(reporter, rows.reporter(), *instance_names);
  if (joining.Begin(ContextFor(*instance_names))) {
    run.Run(&joining);
    joining.End();
  }
  had_problem_ = run.had_problem();
  call_count_ = run.call_count();
  // What ran has run, whatever becomes of the files.
  NoteProblem(rows.Flush()
                  ? absl::OkStatus()
                  : absl::InternalError(absl::StrCat(
                        options.benchmark_out_path, ": could not be written")));
  if (!options.trace_path.empty()) {
    NoteProblem(WriteTrace(trace_, options.trace_path));
  }
  if (!options.remember_path.empty()) {
    NoteProblem(RememberSizes(LoadedSizes(trace_), options.remember_path));
  }
  return run.ran_count();
}

void PlannedBenchmarks::NoteProblem(const absl::Status& status) {
  if (status.ok()) return;
  had_problem_ = true;
  std::cerr << "memo: " << status.message() << "\n";
}

size_t PlannedBenchmarks::Run(BenchmarkReporter* reporter) {
  if (reporter == nullptr) reporter = benchmark::CreateDefaultDisplayReporter();
  if (options_.ok() && options_->lists_tests) {
    return benchmark::RunSpecifiedBenchmarks(reporter);
  }
  trace_.Clear();
  absl::StatusOr<size_t> count = RunPlanned(reporter);
  status_ = count.status();
  if (count.ok()) return *count;
  std::cerr << "memo: " << status_.message() << "\n";
  return 0;
}

std::function<size_t(BenchmarkReporter*)> PlannedBenchmarks::runner() {
  return [this](BenchmarkReporter* reporter) { return Run(reporter); };
}

std::function<std::string(const std::string&)> PlannedBenchmarks::sharing()
    const {
  return [this](const std::string& instance_name) -> std::string {
    if (options_.ok() &&
        !(options_->trace_path.empty() && options_->remember_path.empty())) {
      return "--memory_one_process";
    }
    const ProductCell* const cell =
        ProductRegistry::Get().FindCell(instance_name);
    return cell == nullptr ? ""
                           : absl::StrCat("--memo_product=", cell->product);
  };
}

std::vector<Remark> PlannedBenchmarks::notes() const {
  const std::string words = PlanInWords(trace_.plan());
  if (words.empty()) return {};
  Remark remark;
  remark.set_about(options_.ok() && !options_->product.empty()
                       ? absl::StrCat("memo plan of ", options_->product)
                       : "memo plan");
  remark.set_text(words);
  return {remark};
}

int PlannedBenchmarks::ExitStatus(int status) const {
  if (!status_.ok()) return 2;
  return had_problem_ ? 1 : status;
}

int RunPlannedBenchmarks(int argc, char** argv,
                         absl::FunctionRef<absl::Status()> register_all) {
  PlannedBenchmarks planned(&argc, argv);
  benchmark::Initialize(&argc, argv);
  if (planned.status().ok() &&
      benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  const absl::Status registered = register_all();
  if (!registered.ok()) {
    std::cerr << "memo: " << registered.message() << "\n";
    return 2;
  }
  planned.Run(nullptr);
  return planned.ExitStatus();
}

}  // namespace footprint
