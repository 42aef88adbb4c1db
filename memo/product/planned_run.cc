#include "footprint/memo/product/planned_run.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/memo/google_benchmark/exact_filter.h"
#include "footprint/memo/google_benchmark/instance_list.h"
#include "footprint/memo/product/planned_sizes.h"
#include "footprint/memo/product/revised_steps.h"
#include "footprint/memo/run_catching.h"
#include "footprint/memo/schedule/load_costs.h"
#include "footprint/memo/schedule/schedule_planner.h"

namespace footprint::memo_internal {
namespace {

// Returns the request with cells in any order. If sizes are unknown, each value
// counts as one byte, and there is no budget.
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

// Plans like PlanSchedule. If cells may be reordered and sizes are unknown,
// takes the order with the fewest values alive.
absl::StatusOr<Schedule> PlanCells(const ScheduleRequest& request) {
  absl::StatusOr<Schedule> schedule = PlanSchedule(request);
  if (!schedule.ok() || !request.may_reorder ||
      schedule->unknown_size_count == 0) {
    return schedule;
  }
  absl::StatusOr<Schedule> other = PlanSchedule(InAnyOrder(request, true));
  if (!other.ok() || PeakCount(*other) >= PeakCount(*schedule)) return schedule;
  other->unknown_size_count = schedule->unknown_size_count;
  other->peak_bytes = PeakBytes(request, *other);
  other->smallest_budget_bytes = schedule->smallest_budget_bytes;
  return other;
}

// Adds the need of another order to the plan, if it is less than that of the
// given order.
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

}  // namespace

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

absl::Status PlannedRun::Plan(
    const ProductOptions& options,
    const std::map<std::string, LoadedSize>& known_sizes) {
  plan_.request.budget_bytes = options.budget_bytes;
  plan_.request.may_reorder = options.may_reorder;
  plan_.counts_resident = options.counts_resident;
  plan_.known_sizes = known_sizes;
  plan_.remember_path = options.remember_path;
  // Turns each stretch into a cell, and each memo into a value.
  std::map<PlannedMemo*, int> indices;
  std::vector<int64_t> load_nanoseconds;
  for (const Stretch& stretch : stretches_) {
    PlannedCell& cell = plan_.request.cells.emplace_back();
    cell.name = absl::StrJoin(stretch.instance_names, ", ");
    if (stretch.cell == nullptr) continue;
    for (PlannedMemo* memo : stretch.cell->memos) {
      const auto [entry, is_new] =
          indices.try_emplace(memo, static_cast<int>(plan_.memos.size()));
      if (is_new) {
        plan_.memos.push_back(memo);
        plan_.request.values.push_back(DescribeValue(
            memo->statistics(), known_sizes, plan_.counts_resident));
        load_nanoseconds.push_back(
            ComputeLoadNanoseconds(memo->statistics(), known_sizes));
      }
      cell.values.push_back(entry->second);
    }
  }
  const bool costs_are_times =
      SetLoadCosts(load_nanoseconds, &plan_.request.values);
  // Plans, and describes the plan.
  absl::StatusOr<Schedule> schedule = PlanCells(plan_.request);
  if (!schedule.ok()) return schedule.status();
  plan_.schedule = *std::move(schedule);
  MemoPlan* const described = recorder_.trace().mutable_plan();
  *described = DescribePlan(plan_.request, plan_.schedule);
  described->set_counts_resident_bytes(plan_.counts_resident);
  described->set_costs_are_microseconds(costs_are_times);
  DescribeOtherOrder(plan_.request, plan_.schedule, described);
  return absl::OkStatus();
}

void PlannedRun::Run(JoiningReporter* reporter) {
  ProductRegistry::Get().TakeUnplannedCalls();
  values_.Begin();
  for (const Stretch& stretch : stretches_) {
    if (stretch.cell != nullptr) ++families_[stretch.cell->product].size;
  }
  for (size_t step = 0; step < plan_.schedule.steps.size();) {
    const size_t end = EndOfBatch(step);
    if (StretchAt(step).cell == nullptr) {
      RunInstances(StretchAt(step), reporter);
    } else if (end == step + 1) {
      BeginCell(step);
      RunInstances(StretchAt(step), reporter);
      EndCell(step);
    } else {
      RunBatch(step, end, reporter);
    }
    step = end;
    RevisePlan(step);
  }
  for (const std::string& name : ProductRegistry::Get().TakeUnplannedCalls()) {
    RecordUnplannedCall(name);
  }
}

// Makes a new plan for the cells from `step` on, if values took more than
// planned.
void PlannedRun::RevisePlan(size_t step) {
  if (!plan_.request.budget_bytes.has_value() || !values_.TakeSurprise() ||
      step >= plan_.schedule.steps.size()) {
    return;
  }
  values_.LearnSizes(&plan_.request.values);
  const RevisedSteps revised = ReviseSteps(plan_.request, plan_.schedule, step);
  if (!revised.status.ok()) {
    recorder_.RecordProblem(MemoEvent::PLAN_REVISED, "the plan",
                            revised.status);
    return;
  }
  for (const auto& [cell, status] : revised.refused) {
    values_.RefuseCell(cell, status);
  }
  plan_.schedule.peak_bytes = revised.peak_bytes;
  plan_.schedule.steps.resize(step);
  plan_.schedule.steps.insert(plan_.schedule.steps.end(), revised.steps.begin(),
                              revised.steps.end());
  values_.EvictAllBut(revised.cells);
  recorder_.Say(recorder_.AddEvent(MemoEvent::PLAN_REVISED, "", 0),
                absl::StrCat("values took more than planned, so the ",
                             revised.cells.size(),
                             " cells that are left have a new plan: ",
                             revised.load_count, " loads"));
}

// Records that Google Benchmark called a cell whose values are not loaded,
// because the name of another cell's instance matches it.
void PlannedRun::RecordUnplannedCall(const std::string& cell_name) {
  recorder_.NoteProblem();
  recorder_.Say(
      recorder_.AddEvent(MemoEvent::NOT_RUN, cell_name, 0),
      absl::StrCat(
          "the cell \"", cell_name,
          "\" was called where the plan has another one: a name of a memo or "
          "value ends like the names that Google Benchmark makes, as "
          "\"/iterations:1\"; give it another name"));
}

Stretch& PlannedRun::StretchAt(size_t step) {
  return stretches_[static_cast<size_t>(plan_.schedule.steps[step].cell)];
}

// Returns the end of the batch of steps that run in one call. Product cells in
// the order of Google Benchmark's list can share a call. A call matches the
// whole list and keeps data for each instance that it runs. So few instances
// have a call each, and many share kMostCalls calls.
size_t PlannedRun::EndOfBatch(size_t begin) {
  constexpr size_t kMostCalls = 32;
  const size_t most_cells = std::max<size_t>(1, stretches_.size() / kMostCalls);
  size_t end = begin + 1;
  if (!MayShareACall(begin)) return end;
  while (end < plan_.schedule.steps.size() && end - begin < most_cells &&
         MayShareACall(end) &&
         plan_.schedule.steps[end - 1].cell < plan_.schedule.steps[end].cell) {
    ++end;
  }
  return end;
}

bool PlannedRun::MayShareACall(size_t step) {
  const Stretch& stretch = StretchAt(step);
  return stretch.cell != nullptr && stretch.instance_names.size() == 1;
}

// Runs cells in shared calls. A cell ends when its instance's rows arrive: the
// next cell's values are loaded while Google Benchmark waits for the reporter
// and measures nothing.
void PlannedRun::RunBatch(size_t begin, size_t end, JoiningReporter* reporter) {
  size_t current = begin;
  const auto go_on = [&] {
    EndCell(current);
    if (++current < end) BeginCell(current);
  };
  reporter->CallAfterRows([&](const std::string& name) {
    if (current == end || name != StretchAt(current).instance_names[0]) {
      return;
    }
    go_on();
  });
  BeginCell(begin);
  while (current < end) {
    std::vector<std::string> names;
    for (size_t step = current; step < end; ++step) {
      names.push_back(StretchAt(step).instance_names[0]);
    }
    names = DivideForFilters(names).front();
    const size_t end_of_call = current + names.size();
    RunNames(std::move(names), reporter);
    // The cell has no rows and gets none, for example because it threw.
    if (current < end_of_call) go_on();
  }
  reporter->CallAfterRows(nullptr);
}

void PlannedRun::RunInstances(const Stretch& stretch,
                              JoiningReporter* reporter) {
  for (std::vector<std::string> names :
       DivideForFilters(stretch.instance_names)) {
    while (!names.empty()) names = RunNames(std::move(names), reporter);
  }
}

// Runs the instances up to one that throws. Returns the names that are left.
std::vector<std::string> PlannedRun::RunNames(std::vector<std::string> names,
                                              JoiningReporter* reporter) {
  reporter->ForgetRows();
  ++call_count_;
  size_t count = 0;
  const absl::Status status = RunCatching("the benchmark", [&] {
    count = benchmark::RunSpecifiedBenchmarks(reporter, nullptr,
                                              ExactFilter(names));
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
  // The instances run in order, so the first one that exists is the one that
  // threw.
  const auto thrower =
      std::find_if(names.begin(), names.end(), [](const std::string& name) {
        return CountInstances(ExactFilter({name})) > 0;
      });
  const std::string name =
      thrower != names.end() ? *thrower : "a benchmark of a name that ran";
  recorder_.RecordProblem(MemoEvent::TASK_FAILED, name, status);
  names.erase(std::remove(names.begin(), names.end(), name), names.end());
  return names;
}

// Records that Google Benchmark ran another number of instances than it was
// asked for. It does not tell which.
void PlannedRun::RecordCount(const std::vector<std::string>& names,
                             size_t count) {
  recorder_.NoteProblem();
  const std::string which = absl::StrCat(" of those from \"", names.front(),
                                         "\" to \"", names.back(), "\"");
  recorder_.Say(
      recorder_.AddEvent(MemoEvent::NOT_RUN, names.front(), 0),
      count < names.size()
          ? absl::StrCat(names.size() - count, " of ", names.size(),
                         " benchmarks did not run,", which,
                         ": no benchmark has such a name; does one have a "
                         "line break in its name?")
          : absl::StrCat(count, " benchmarks ran where ", names.size(),
                         " were asked for,", which,
                         ": give each a name of its own"));
}

// Loads the cell's values, and sets it up.
void PlannedRun::BeginCell(size_t index) {
  const ScheduledStep& step = plan_.schedule.steps[index];
  ProductCell& cell = *StretchAt(index).cell;
  state_ = FindNextState(StretchAt(index));
  cell.error = values_.Load(step);
  is_set_up_ = cell.error.ok();
  if (cell.error.ok() && cell.setup != nullptr) {
    cell.error = RunCatching("the setup", [&] { return cell.setup(state_); });
    is_set_up_ = cell.error.ok();
    if (!is_set_up_) {
      recorder_.RecordProblem(MemoEvent::TASK_FAILED, cell.name, cell.error);
    }
  }
  cell.is_planned = true;
}

// Tears the cell down, and evicts the values that no later cell needs.
void PlannedRun::EndCell(size_t index) {
  const ScheduledStep& step = plan_.schedule.steps[index];
  const Stretch& stretch = StretchAt(index);
  ProductCell& cell = *stretch.cell;
  cell.is_planned = false;
  recorder_.AddEvent(MemoEvent::CELL_RAN, stretch.instance_names[0], 0);
  const absl::Status thrown = TakeThrown(&cell);
  if (!thrown.ok()) {
    recorder_.RecordProblem(MemoEvent::TASK_FAILED, cell.name, thrown);
  }
  if (is_set_up_ && cell.teardown != nullptr) RunTeardown(cell, step);
  values_.CheckResident(stretch.instance_names[0]);
  values_.EvictAfter(step);
}

InstanceState PlannedRun::FindNextState(const Stretch& stretch) {
  Family& family = families_[stretch.cell->product];
  InstanceState state;
  state.name = stretch.instance_names[0];
  state.family = stretch.cell->product;
  state.family_index = family.next_index++;
  state.family_size = family.size;
  return state;
}

void PlannedRun::RunTeardown(ProductCell& cell, const ScheduledStep& step) {
  cell.error =
      values_.Lend(cell, state_, step, [&] { return cell.teardown(state_); });
  if (!cell.error.ok()) {
    recorder_.RecordProblem(MemoEvent::TASK_FAILED, cell.name, cell.error);
  }
}

}  // namespace footprint::memo_internal
