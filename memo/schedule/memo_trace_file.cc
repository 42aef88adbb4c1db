#include "footprint/memo/schedule/memo_trace_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/whole_file.h"

namespace footprint {

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
    if (!is_size || event.bytes() <= 0) continue;
    LoadedSize& size = sizes[event.name()];
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
    event->set_is_measured(size.source == SizeSource::kMeasured);
    event->set_is_doubtful(size.source == SizeSource::kGuessed);
  }
  return trace;
}

absl::StatusOr<MemoTrace> ReadMemoTraceFile(const std::string& path) {
  const absl::StatusOr<std::string> bytes = ReadWholeFile(path);
  if (!bytes.ok()) {
    return absl::Status(
        bytes.status().code(),
        absl::StrCat(bytes.status().message(),
                     "; --memo_trace_out= writes a memo trace"));
  }
  MemoTrace trace;
  if (bytes->empty()) {
    return absl::DataLossError(
        absl::StrCat(path, ": empty; write it again with --memo_trace_out="));
  }
  if (!trace.ParseFromString(*bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path,
                     ": no memo trace, or cut short; write it again with "
                     "--memo_trace_out="));
  }
  if (trace.schema_version() > kMemoTraceSchemaVersion) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, ": of schema ", trace.schema_version(), ", this program knows ",
        kMemoTraceSchemaVersion, "; write it again with this program"));
  }
  if (trace.schema_version() < 1) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": no memo trace"));
  }
  if (!trace.complete()) {
    return absl::DataLossError(absl::StrCat(
        path, ": cut short; write it again with --memo_trace_out="));
  }
  return trace;
}

absl::Status WriteMemoTraceFile(MemoTrace trace, const std::string& path) {
  trace.set_schema_version(kMemoTraceSchemaVersion);
  trace.set_complete(true);
  return ReplaceFile(path, trace.SerializeAsString(), ToDisk::kAtLeisure);
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

namespace {

// While it lives, no other process, or thread, has the lock on the file of this
// path. The file is made if it is missing. Where it cannot be locked, as on
// some network's file systems, nothing is.
class FileLock {
 public:
  explicit FileLock(const std::string& path) {
    while (true) {
      file_ = open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0666);
      if (file_ < 0) return;
      int result = 0;
      do {
        result = flock(file_, LOCK_EX);
      } while (result != 0 && errno == EINTR);
      if (result != 0 || IsStillAt(path)) return;
      close(file_);  // It was replaced meanwhile.
    }
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock() {
    if (file_ >= 0) close(file_);
  }

 private:
  bool IsStillAt(const std::string& path) const {
    struct stat locked;
    struct stat there;
    return fstat(file_, &locked) == 0 && stat(path.c_str(), &there) == 0 &&
           locked.st_dev == there.st_dev && locked.st_ino == there.st_ino;
  }

  int file_ = -1;
};

}  // namespace

absl::Status RememberSizes(const std::map<std::string, LoadedSize>& sizes,
                           const std::string& path) {
  const FileLock lock(path);
  absl::StatusOr<std::map<std::string, LoadedSize>> remembered =
      ReadRememberedSizes(path);
  if (!remembered.ok()) return remembered.status();
  for (const auto& [name, size] : sizes) {
    if (size.source == SizeSource::kDeclared) continue;
    LoadedSize& known = (*remembered)[name];
    const LoadedSize before = known;
    known = size;
    // An allocator rounds, by a hundredth at most.
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
