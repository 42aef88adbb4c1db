#include "footprint/memo/product/planned_values.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/memo/memo_core.h"
#include "footprint/memo/product/planned_sizes.h"
#include "footprint/memo/run_catching.h"

namespace footprint::memo_internal {
namespace {

// Returns the product, or a number near the largest int64_t if it is larger.
int64_t Grow(int64_t bytes, double growth) {
  constexpr double kMost = 9e18;
  return static_cast<int64_t>(
      std::min(kMost, static_cast<double>(bytes) * growth));
}

// Returns how many handles each loaded memo has.
std::map<std::string, uint64_t> CountHandles() {
  std::map<std::string, uint64_t> counts;
  for (const MemoStatistics& loaded : ListLoadedMemos()) {
    counts[loaded.name] = loaded.handle_count;
  }
  return counts;
}

bool IsMeasured(const MemoStatistics& statistics) {
  return statistics.bytes_source == BytesSource::kMeasured ||
         statistics.bytes_source == BytesSource::kDoubtful;
}

}  // namespace

void PlannedValues::Begin() {
  for (const MemoStatistics& loaded : ListLoadedMemos()) {
    loaded_before_.insert(loaded.name);
  }
  loads_left_ = plan_->schedule.load_count;
  if (!plan_->request.budget_bytes.has_value()) return;
  int64_t loaded_bytes = 0;
  for (const PlannedMemo* memo : plan_->memos) {
    loaded_bytes += memo->statistics().live_bytes;
  }
  resident_.Begin(*plan_->request.budget_bytes, loaded_bytes);
}

absl::Status PlannedValues::Load(const ScheduledStep& step) {
  const auto refused = refused_cells_.find(step.cell);
  if (refused != refused_cells_.end()) return refused->second;
  const absl::Status loaded = LoadValues(step);
  loads_left_ -= static_cast<int64_t>(step.loads.size());
  EvictLoadedByFactories();
  return loaded;
}

absl::Status PlannedValues::Lend(const ProductCell& cell,
                                 const InstanceState& state,
                                 const ScheduledStep& step,
                                 const std::function<absl::Status()>& task) {
  for (PlannedMemo* memo : cell.memos) memo->Unpin();
  const absl::Status done = RunCatching("the teardown", task);
  for (PlannedMemo* memo : cell.memos) {
    if (!memo->PinAgain()) RecordEvictionByTask(*memo, state, step);
  }
  return done;
}

void PlannedValues::EvictAfter(const ScheduledStep& step) {
  for (int value : step.evictions) {
    Evict(plan_->memos[static_cast<size_t>(value)]);
  }
  EvictLoadedByFactories();
}

// Records that a teardown evicted a value. If a later cell needs the value,
// this costs a load, so a message says so once per value.
void PlannedValues::RecordEvictionByTask(const PlannedMemo& memo,
                                         const InstanceState& state,
                                         const ScheduledStep& step) {
  // An argument may occur twice.
  if (!recorder_->IsLive(memo.name())) return;
  const int64_t bytes = recorder_->EndLife(memo.name());
  MemoEvent* const event =
      recorder_->AddEvent(MemoEvent::EVICTED, memo.name(), bytes);
  event->set_detail(absl::StrCat("by the teardown of ", state.name));
  const bool is_last_use =
      std::any_of(step.evictions.begin(), step.evictions.end(), [&](int value) {
        return plan_->memos[static_cast<size_t>(value)] == &memo;
      });
  if (is_last_use || !warned_of_.insert(memo.name()).second) return;
  recorder_->Say(
      event, absl::StrCat("\"", memo.name(), "\": evicted by the teardown of ",
                          state.name,
                          ", though the plan keeps it for a later cell: it "
                          "is loaded again; without that call it stays, and "
                          "the runner evicts it after its last use"));
}

// Loads in the plan's order. After an earlier failure it also loads values that
// the plan expected to be loaded. It does not retry a failed load, nor load
// other values for a cell that cannot run.
absl::Status PlannedValues::LoadValues(const ScheduledStep& step) {
  std::vector<int> values = step.loads;
  const std::vector<int>& needed =
      plan_->request.cells[static_cast<size_t>(step.cell)].values;
  values.insert(values.end(), needed.begin(), needed.end());
  // Fails before any load if one of the values has failed earlier.
  for (int value : values) {
    const auto failed = failed_loads_.find(value);
    if (failed != failed_loads_.end()) return failed->second;
  }
  for (int value : values) {
    PlannedMemo* const memo = plan_->memos[static_cast<size_t>(value)];
    if (memo->is_pinned()) continue;
    const absl::Status has_room = MakeRoomFor(value, needed);
    if (!has_room.ok()) return has_room;
    const MemoStatistics before = memo->statistics();
    const std::map<std::string, uint64_t> handles_before = CountHandles();
    const absl::Status status = memo->Load();
    if (!status.ok()) {
      recorder_->trace().set_failed_load_count(
          recorder_->trace().failed_load_count() + 1);
      recorder_->AddEvent(MemoEvent::LOAD_FAILED, memo->name(), 0)
          ->set_detail(EscapeForProto(status.message()));
      recorder_->NoteProblem();
      failed_loads_[value] = status;
      return status;
    }
    const HeldSize held = HeldSince(handles_before, memo->name());
    RecordValue(plan_->request.values[static_cast<size_t>(value)], *memo,
                before, held);
    LearnSize(value, memo->statistics(), held);
    CheckResident(memo->name());
    Remember(memo->statistics().live_bytes);
  }
  return absl::OkStatus();
}

// Makes room if values took more than planned, so that the plan's loads no
// longer fit: evicts values that this cell does not need. Fails if the values
// that it needs exceed the budget by themselves.
absl::Status PlannedValues::MakeRoomFor(int value,
                                        const std::vector<int>& needed) {
  if (!plan_->request.budget_bytes.has_value()) return absl::OkStatus();
  const int64_t budget_bytes = *plan_->request.budget_bytes;
  const auto learned = learned_.find(value);
  const PlannedValue& planned =
      learned != learned_.end()
          ? learned->second
          : plan_->request.values[static_cast<size_t>(value)];
  // Small differences of size do not count.
  const int64_t most_bytes = budget_bytes + budget_bytes / 50 -
                             std::max(planned.bytes, planned.load_peak_bytes);
  for (size_t i = 0;
       i < plan_->memos.size() && recorder_->LiveBytes() > most_bytes; ++i) {
    const bool is_needed = std::find(needed.begin(), needed.end(),
                                     static_cast<int>(i)) != needed.end();
    if (!is_needed) Evict(plan_->memos[i]);
  }
  if (learned_.empty() || recorder_->LiveBytes() <= most_bytes) {
    return absl::OkStatus();
  }
  const absl::Status status = absl::ResourceExhaustedError(absl::StrCat(
      "\"", planned.name, "\" takes ",
      FormatBytes(std::max(planned.bytes, planned.load_peak_bytes)), " beside ",
      FormatBytes(recorder_->LiveBytes()),
      " of the cell's other values, more than the budget of ",
      FormatBytes(budget_bytes), "; raise --memo_budget="));
  recorder_->RecordProblem(MemoEvent::NOT_RUN, planned.name, status);
  return status;
}

void PlannedValues::LearnSize(int value, const MemoStatistics& statistics,
                              const HeldSize& held) {
  if (statistics.bytes_source == BytesSource::kUnknown) return;
  const PlannedValue& planned =
      plan_->request.values[static_cast<size_t>(value)];
  PlannedValue& learned = learned_.try_emplace(value, planned).first->second;
  const int64_t held_bytes = plan_->counts_resident && held.resident_bytes > 0
                                 ? held.resident_bytes
                                 : held.bytes;
  const int64_t passing_bytes =
      ComputePassingBytes(statistics.load_peak_bytes - held.bytes_in_load_peak,
                          statistics.live_bytes);
  const int64_t bytes =
      ComputeLoadedBytes(statistics, plan_->counts_resident) + held_bytes;
  learned.bytes = std::max(learned.bytes, bytes);
  if (passing_bytes > 0) {
    learned.load_peak_bytes =
        std::max(learned.load_peak_bytes, learned.bytes + passing_bytes);
  }
  is_surprised_ |= bytes > planned.bytes && IsFarFrom(bytes, planned.bytes);
}

bool PlannedValues::TakeSurprise() {
  const bool is_surprised = is_surprised_;
  is_surprised_ = false;
  return is_surprised;
}

void PlannedValues::LearnSizes(std::vector<PlannedValue>* values) const {
  // Computes the factor by which guessed sizes were too small.
  double growth = 1;
  for (const auto& [value, learned] : learned_) {
    const PlannedValue& planned = (*values)[static_cast<size_t>(value)];
    if (planned.source != SizeSource::kGuessed || planned.bytes == 0) continue;
    growth = std::max(growth, static_cast<double>(learned.bytes) /
                                  static_cast<double>(planned.bytes));
  }
  for (size_t i = 0; i < values->size(); ++i) {
    const auto learned = learned_.find(static_cast<int>(i));
    PlannedValue& value = (*values)[i];
    if (learned != learned_.end()) {
      value.bytes = learned->second.bytes;
      value.load_peak_bytes = learned->second.load_peak_bytes;
      value.source = SizeSource::kMeasured;
    } else if (value.source == SizeSource::kGuessed) {
      value.bytes = Grow(value.bytes, growth);
      value.load_peak_bytes = Grow(value.load_peak_bytes, growth);
    }
  }
}

void PlannedValues::RefuseCell(int cell, const absl::Status& status) {
  refused_cells_[cell] = status;
  recorder_->RecordProblem(MemoEvent::NOT_RUN,
                           plan_->request.cells[static_cast<size_t>(cell)].name,
                           status);
}

void PlannedValues::EvictAllBut(const std::vector<PlannedCell>& cells) {
  std::set<int> needed;
  for (const PlannedCell& cell : cells) {
    needed.insert(cell.values.begin(), cell.values.end());
  }
  for (size_t i = 0; i < plan_->memos.size(); ++i) {
    if (needed.count(static_cast<int>(i)) == 0) Evict(plan_->memos[i]);
  }
}

void PlannedValues::CheckResident(const std::string& name) {
  const int64_t bytes = resident_.FindHighest();
  if (bytes == 0) return;
  recorder_->NoteProblem();
  recorder_->Say(
      recorder_->AddEvent(MemoEvent::BUDGET_EXCEEDED, name, bytes),
      absl::StrCat(
          "\"", name, "\": the process held ", FormatBytes(bytes),
          " of resident memory beyond what it had before the run, more than "
          "the "
          "budget of ",
          FormatBytes(*plan_->request.budget_bytes), "; of these ",
          FormatBytes(recorder_->LiveBytes()),
          " are planned values. Others are pages that are touched after the "
          "load, memory of a factory's threads, of a pool that values share, "
          "or "
          "of the benchmark: declare what a value takes, or raise "
          "--memo_budget="));
}

// Writes the sizes that the file does not have yet, so that they reach the next
// run even if this one is killed. Small loads are written together, since the
// file is read and written as a whole.
void PlannedValues::Remember(int64_t loaded_bytes) {
  if (plan_->remember_path.empty()) return;
  constexpr int64_t kWorthAFile = 1 << 20;
  unsaved_bytes_ += loaded_bytes;
  if (unsaved_bytes_ < kWorthAFile) return;
  MemoTrace unsaved;
  const MemoTrace& trace = recorder_->trace();
  for (int i = remembered_event_count_; i < trace.events_size(); ++i) {
    *unsaved.add_events() = trace.events(i);
  }
  remembered_event_count_ = trace.events_size();
  unsaved_bytes_ = 0;
  const absl::Status status =
      RememberSizes(LoadedSizes(unsaved), plan_->remember_path);
  if (status.ok()) return;
  recorder_->RecordProblem(MemoEvent::TASK_FAILED, plan_->remember_path,
                           status);
}

// Returns the bytes of memos of which the load of `name` got handles that its
// value keeps.
PlannedValues::HeldSize PlannedValues::HeldSince(
    const std::map<std::string, uint64_t>& handles_before,
    const std::string& name) const {
  HeldSize held;
  for (const MemoStatistics& loaded : ListLoadedMemos()) {
    const auto before = handles_before.find(loaded.name);
    const bool is_loaded_now = before == handles_before.end();
    const uint64_t count = is_loaded_now ? 0 : before->second;
    if (loaded.name == name || loaded.handle_count <= count) continue;
    held.bytes += loaded.live_bytes;
    held.resident_bytes +=
        plan_->counts_resident ? ComputeLoadedBytes(loaded, true) : 0;
    if (is_loaded_now) {
      held.bytes_in_load_peak += loaded.live_bytes - loaded.mapped_bytes;
    }
  }
  return held;
}

// Records a value that is alive from now on. A value that something else had
// loaded, such as another value's factory, counts as alive but not as a load.
void PlannedValues::RecordValue(const PlannedValue& planned,
                                const PlannedMemo& memo,
                                const MemoStatistics& before,
                                const HeldSize& held) {
  const MemoStatistics statistics = memo.statistics();
  const bool is_new = statistics.load_count != before.load_count;
  const bool is_known = statistics.bytes_source != BytesSource::kUnknown;
  // A value whose bytes are unknown counts with the plan's bytes.
  const int64_t bytes =
      is_known ? ComputeLoadedBytes(statistics, plan_->counts_resident)
               : planned.bytes;
  const int64_t before_bytes = recorder_->LiveBytes();
  loaded_by_factories_.erase(memo.name());
  recorder_->SetLive(memo.name(), bytes);
  if (is_new) {
    recorder_->trace().set_load_count(recorder_->trace().load_count() + 1);
  }
  MemoEvent* const event = recorder_->AddEvent(
      is_new ? MemoEvent::LOADED : MemoEvent::FOUND_LOADED, memo.name(), bytes);
  AddSizes(statistics, event);
  event->set_load_nanoseconds(statistics.load_nanoseconds -
                              before.load_nanoseconds);
  // If another load made the value, only that load saw what the value holds.
  const LoadedSize known = KnownSize(memo.name());
  const HeldSize kept =
      is_new ? held : HeldSize{known.held_bytes, known.held_resident_bytes, 0};
  event->set_held_bytes(kept.bytes);
  event->set_held_resident_bytes(kept.resident_bytes);
  if (is_new && event->load_peak_bytes() > 0) {
    // A later plan expects the peak to have all that the value holds.
    event->set_load_peak_bytes(event->load_peak_bytes() + held.bytes -
                               held.bytes_in_load_peak);
  }
  // A declaration cannot include the bytes that a value holds by handles.
  const bool plan_counts_held =
      known.held_bytes > 0 || planned.source != SizeSource::kDeclared;
  const int64_t held_bytes = plan_->counts_resident && kept.resident_bytes > 0
                                 ? kept.resident_bytes
                                 : kept.bytes;
  CompareWithPlan(planned, statistics,
                  bytes + (plan_counts_held ? held_bytes : 0));
  if (is_new) RecordLoadedByFactory();
  const int64_t passing_bytes =
      ComputePassingBytes(statistics.load_peak_bytes, statistics.live_bytes);
  RecordPeak(memo.name(), recorder_->LiveBytes(), "planned values take ");
  if (is_new && passing_bytes > 0) {
    RecordPeak(memo.name(), before_bytes + bytes + passing_bytes,
               "together with the memory of its load, planned values took ");
  }
}

LoadedSize PlannedValues::KnownSize(const std::string& name) const {
  const auto known = plan_->known_sizes.find(name);
  return known == plan_->known_sizes.end() ? LoadedSize() : known->second;
}

// Reports a size that differs from the plan. `bytes` includes what the value
// holds.
void PlannedValues::CompareWithPlan(const PlannedValue& planned,
                                    const MemoStatistics& statistics,
                                    int64_t bytes) {
  const bool is_known = statistics.bytes_source != BytesSource::kUnknown;
  const bool is_promised = planned.source == SizeSource::kDeclared ||
                           planned.source == SizeSource::kMeasured;
  if (!is_known || !is_promised || !IsFarFrom(bytes, planned.bytes)) {
    return;
  }
  recorder_->Say(
      recorder_->AddEvent(MemoEvent::SIZE_DIFFERS, planned.name, bytes),
      absl::StrCat("\"", planned.name, "\" takes ", FormatBytes(bytes),
                   ", not the ", FormatBytes(planned.bytes), " planned for; ",
                   planned.source == SizeSource::kDeclared ? "declare that"
                   : !plan_->remember_path.empty()
                       ? IsMeasured(statistics)
                             ? "the next run plans with that"
                             : "remove the file of --memo_remember= to "
                               "forget that"
                       : "measure anew with --memo_trace_out="));
}

void PlannedValues::AddSizes(const MemoStatistics& statistics,
                             MemoEvent* event) {
  event->set_is_measured(statistics.bytes_source == BytesSource::kMeasured);
  event->set_is_doubtful(statistics.bytes_source == BytesSource::kDoubtful);
  event->set_detail(statistics.doubt);
  event->set_load_peak_bytes(statistics.load_peak_bytes);
  event->set_resident_bytes(statistics.resident_bytes);
  if (plan_->counts_resident) event->set_allocated_bytes(statistics.live_bytes);
}

void PlannedValues::RecordPeak(const std::string& name, int64_t bytes,
                               const std::string& words) {
  recorder_->trace().set_peak_bytes(
      std::max(recorder_->trace().peak_bytes(), bytes));
  if (!plan_->request.budget_bytes.has_value() ||
      bytes <= *plan_->request.budget_bytes) {
    return;
  }
  recorder_->NoteProblem();
  recorder_->Say(
      recorder_->AddEvent(MemoEvent::BUDGET_EXCEEDED, name, bytes),
      absl::StrCat("\"", name, "\": ", words, FormatBytes(bytes),
                   ", more than the budget of ",
                   FormatBytes(*plan_->request.budget_bytes),
                   plan_->counts_resident
                       ? " resident"
                       : " allocated (--memo_budget_counts=resident counts "
                         "only what is resident)"));
}

// Records values that factories have loaded: they are alive, though they are
// not in the plan.
void PlannedValues::RecordLoadedByFactory() {
  for (const MemoStatistics& loaded : ListLoadedMemos()) {
    if (recorder_->IsLive(loaded.name) ||
        loaded_before_.count(loaded.name) > 0) {
      continue;
    }
    const int64_t bytes = ComputeLoadedBytes(loaded, plan_->counts_resident);
    loaded_by_factories_.insert(loaded.name);
    recorder_->SetLive(loaded.name, bytes);
    AddSizes(loaded, recorder_->AddEvent(MemoEvent::LOADED_BY_FACTORY,
                                         loaded.name, bytes));
  }
}

// Evicts values that factories have loaded, when no load remains. Under a
// budget that has no room for them beside the plan's peak, evicts them earlier,
// as soon as they are not pinned. The next factory then loads them again, and
// the peak of its load includes them.
void PlannedValues::EvictLoadedByFactories() {
  if (loads_left_ > 0) {
    int64_t bytes = plan_->schedule.peak_bytes;
    for (const std::string& name : loaded_by_factories_) {
      bytes += recorder_->FindBytes(name);
    }
    if (bytes <= plan_->request.budget_bytes.value_or(bytes)) return;
  }
  const std::set<std::string> names = loaded_by_factories_;
  for (const std::string& name : names) {
    // A value holds a handle to it.
    if (!EvictMemo(name).ok()) continue;
    loaded_by_factories_.erase(name);
    const int64_t bytes = recorder_->EndLife(name);
    recorder_->AddEvent(MemoEvent::EVICTED, name, bytes);
  }
}

// Evicts a value, unless its load failed.
void PlannedValues::Evict(PlannedMemo* memo) {
  if (!memo->is_pinned()) return;
  const absl::Status status = memo->Evict();
  if (!status.ok()) {
    recorder_->NoteProblem();
    recorder_->Say(
        recorder_->AddEvent(MemoEvent::EVICTION_FAILED, memo->name(), 0),
        absl::StrCat("not evicted: ", status.message()));
    return;
  }
  const int64_t bytes = recorder_->EndLife(memo->name());
  recorder_->AddEvent(MemoEvent::EVICTED, memo->name(), bytes);
}

}  // namespace footprint::memo_internal
