#include "footprint/memo/schedule/memo_trace_file.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/file_lock.h"
#include "footprint/base/files/sealed_proto_file.h"
#include "footprint/base/files/whole_file.h"

namespace footprint {
namespace {

constexpr SealedProtoFormat kFormat = {"memo trace", kMemoTraceSchemaVersion,
                                       "write it again with --memo_trace_out="};

}  // namespace

MemoPlan DescribePlan(const ScheduleRequest& request,
                      const Schedule& schedule) {
  MemoPlan plan;
  const auto name_of = [&](int value) {
    return request.values[static_cast<size_t>(value)].name;
  };
  for (const PlannedValue& value : request.values) {
    MemoPlanValue* described = plan.add_values();
    described->set_name(value.name);
    described->set_bytes(value.bytes);
    described->set_is_measured(value.source == SizeSource::kMeasured);
    described->set_is_unknown(value.source == SizeSource::kUnknown);
    described->set_is_guessed(value.source == SizeSource::kGuessed);
    described->set_load_peak_bytes(value.load_peak_bytes);
    described->set_load_cost(value.load_cost);
    plan.set_guessed_size_count(plan.guessed_size_count() +
                                (value.source == SizeSource::kGuessed ? 1 : 0));
  }
  for (const ScheduledStep& step : schedule.steps) {
    MemoPlanStep* described = plan.add_steps();
    described->set_cell(request.cells[static_cast<size_t>(step.cell)].name);
    for (int value : step.loads) described->add_loads(name_of(value));
    for (int value : step.evictions) described->add_evictions(name_of(value));
  }
  if (request.budget_bytes.has_value()) {
    plan.set_budget_bytes(*request.budget_bytes);
  }
  plan.set_may_reorder(request.may_reorder);
  plan.set_is_reordered(schedule.is_reordered);
  plan.set_method(ScheduleMethodName(schedule.method));
  plan.set_is_optimal(schedule.is_optimal);
  plan.set_load_count(schedule.load_count);
  plan.set_load_cost(schedule.load_cost);
  plan.set_least_load_cost(schedule.least_load_cost);
  plan.set_peak_bytes(schedule.peak_bytes);
  plan.set_unknown_size_count(schedule.unknown_size_count);
  plan.set_smallest_budget_bytes(schedule.smallest_budget_bytes);
  plan.set_peak_count(PeakCount(schedule));
  return plan;
}

std::map<std::string, LoadedSize> LoadedSizes(const MemoTrace& trace) {
  std::map<std::string, LoadedSize> sizes;
  for (const MemoEvent& event : trace.events()) {
    const bool is_size = event.kind() == MemoEvent::LOADED ||
                         event.kind() == MemoEvent::FOUND_LOADED;
    const bool is_time = event.load_nanoseconds() > 0;
    if (!is_size || (event.bytes() <= 0 && !is_time)) continue;
    const auto [entry, is_new] = sizes.try_emplace(event.name());
    LoadedSize& size = entry->second;
    // The largest size and the shortest time of several loads count.
    if (is_new) size.source = SizeSource::kUnknown;
    if (is_time && (size.load_nanoseconds == 0 ||
                    event.load_nanoseconds() < size.load_nanoseconds)) {
      size.load_nanoseconds = event.load_nanoseconds();
    }
    if (event.bytes() <= 0) continue;
    size.resident_bytes = std::max(size.resident_bytes, event.resident_bytes());
    size.load_peak_bytes =
        std::max(size.load_peak_bytes, event.load_peak_bytes());
    size.held_bytes = std::max(size.held_bytes, event.held_bytes());
    size.held_resident_bytes =
        std::max(size.held_resident_bytes, event.held_resident_bytes());
    const int64_t bytes =
        event.allocated_bytes() > 0 ? event.allocated_bytes() : event.bytes();
    if (bytes < size.bytes) continue;
    size.bytes = bytes;
    size.source = event.is_measured()   ? SizeSource::kMeasured
                  : event.is_doubtful() ? SizeSource::kGuessed
                                        : SizeSource::kDeclared;
  }
  return sizes;
}

MemoTrace TraceOfSizes(const std::map<std::string, LoadedSize>& sizes) {
  MemoTrace trace;
  for (const auto& [name, size] : sizes) {
    MemoEvent* event = trace.add_events();
    event->set_kind(MemoEvent::LOADED);
    event->set_name(name);
    event->set_bytes(size.bytes);
    event->set_resident_bytes(size.resident_bytes);
    event->set_load_peak_bytes(size.load_peak_bytes);
    event->set_held_bytes(size.held_bytes);
    event->set_held_resident_bytes(size.held_resident_bytes);
    event->set_load_nanoseconds(size.load_nanoseconds);
    event->set_is_measured(size.source == SizeSource::kMeasured);
    event->set_is_doubtful(size.source == SizeSource::kGuessed);
  }
  return trace;
}

absl::StatusOr<MemoTrace> ReadMemoTraceFile(const std::string& path) {
  MemoTrace trace;
  const absl::Status status = ReadSealedProto(kFormat, path, &trace);
  if (!status.ok()) return status;
  return trace;
}

absl::Status WriteMemoTraceFile(const MemoTrace& trace,
                                const std::string& path) {
  return WriteSealedProto(kFormat, trace, path);
}

absl::StatusOr<std::map<std::string, LoadedSize>> ReadRememberedSizes(
    const std::string& path) {
  const absl::StatusOr<std::string> bytes = ReadWholeFile(path);
  if (absl::IsNotFound(bytes.status()) || (bytes.ok() && bytes->empty())) {
    return std::map<std::string, LoadedSize>();
  }
  const absl::StatusOr<MemoTrace> trace = ReadMemoTraceFile(path);
  if (!trace.ok()) return trace.status();
  return LoadedSizes(*trace);
}

absl::Status RememberSizes(const std::map<std::string, LoadedSize>& sizes,
                           const std::string& path) {
  const absl::StatusOr<FileLock> lock = FileLock::Acquire(path);
  if (!lock.ok()) return lock.status();
  absl::StatusOr<std::map<std::string, LoadedSize>> remembered =
      ReadRememberedSizes(path);
  if (!remembered.ok()) return remembered.status();
  for (const auto& [name, size] : sizes) {
    const auto [entry, is_new] = remembered->try_emplace(name);
    LoadedSize& known = entry->second;
    if (is_new) known.source = SizeSource::kUnknown;
    const LoadedSize before = known;
    // A declared or unknown size does not replace a measured one.
    if (size.source != SizeSource::kDeclared &&
        size.source != SizeSource::kUnknown) {
      known = size;
    }
    known.load_nanoseconds = size.load_nanoseconds > 0
                                 ? size.load_nanoseconds
                                 : before.load_nanoseconds;
    // Counts a value as unchanged if its size differs by at most a hundredth.
    const bool is_same =
        std::abs(size.bytes - before.bytes) <= before.bytes / 100;
    if (size.resident_bytes == 0 && is_same) {
      known.resident_bytes = before.resident_bytes;
    }
    if (size.held_resident_bytes == 0 && is_same &&
        size.held_bytes == before.held_bytes) {
      known.held_resident_bytes = before.held_resident_bytes;
    }
  }
  return WriteMemoTraceFile(TraceOfSizes(*remembered), path);
}

}  // namespace footprint
