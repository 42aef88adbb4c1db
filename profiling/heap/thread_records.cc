#include "footprint/profiling/heap/thread_records.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "footprint/profiling/heap/system_mmap.h"

namespace footprint::profiling_internal {
namespace {

// Maps memory for more records. The heap cannot provide it, because each of its
// calls comes here.
void MapRecords() ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock) {
  constexpr size_t kCount = 32;
  void* const mapped =
      SystemMmap(nullptr, kCount * sizeof(ThreadRecord), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    static constexpr char kMessage[] =
        "footprint: no memory for the record of a thread\n";
    if (write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1) < 0) std::abort();
    std::abort();
  }
  auto* const records = static_cast<ThreadRecord*>(mapped);
  for (size_t i = 0; i < kCount; ++i) {
    records[i].next = process.free_records;
    process.free_records = &records[i];
  }
}

}  // namespace

ThreadRecord* FindRecord(ThreadNode* node) {
  return reinterpret_cast<ThreadRecord*>(node);
}

ThreadRecord* NewRecord() {
  if (process.free_records == nullptr) MapRecords();
  ThreadRecord* const record = process.free_records;
  process.free_records = record->next;
  new (record) ThreadRecord();
  record->number = ++process.record_count;
  record->next = process.first_record;
  if (record->next != nullptr) record->next->previous = record;
  process.first_record = record;
  return record;
}

void FreeRecord(ThreadRecord* record) {
  record->number = 0;
  record->previous = nullptr;
  record->next = process.free_records;
  process.free_records = record;
}

void DropRecord(ThreadRecord* record) {
  (record->previous != nullptr ? record->previous->next
                               : process.first_record) = record->next;
  if (record->next != nullptr) record->next->previous = record->previous;
  if (record->function != nullptr) {
    // RunThread will still read the record.
    record->is_given_up = true;
  } else {
    FreeRecord(record);
  }
}

void DropEndedRoot(ThreadRecord* record) {
  for (int i = 0; i < kMaxOpenPhases; ++i) {
    Phase& phase = process.phases[i];
    if (!phase.open) continue;
    phase.ended_thread_peak_net_bytes += HighestNetBytes(i, record->node);
    if (IsActive(i, record->node)) ++phase.ended_root_count;
    phase.ended_roots_overlap |= Overlaps(i, record->node);
  }
  DropRecord(record);
}

void MakeRoot(ThreadRecord* record) {
  if (record->node.creator != nullptr) {
    DetachChild(process.open_phases, &record->node);
  }
  if (record->has_ended) {
    DropEndedRoot(record);
  } else if (record->counters == nullptr) {
    DropRecord(record);
  }
}

ThreadRecord* OwnRecord(const ThreadCounters& counters) {
  return counters.record != nullptr &&
                 counters.record->number == counters.record_number
             ? counters.record
             : nullptr;
}

ThreadRecord* FindRecord(pthread_t thread) {
  for (ThreadRecord* each = process.first_record; each != nullptr;
       each = each->next) {
    if (each->node.creator != nullptr && each->has_number &&
        pthread_equal(each->thread, thread)) {
      return each;
    }
  }
  return nullptr;
}

void UpdateNode(const ThreadCounters& counters, int64_t live_bytes,
                ThreadRecord* record) {
  record->node.live_bytes = live_bytes;
  record->node.activity = counters.activity();
}

void EndSegment(ThreadCounters* counters) {
  ThreadRecord* const record = counters->record;
  const int64_t live_bytes = counters->live_bytes();
  UpdateNode(*counters, live_bytes, record);
  RaiseHighest(process.open_phases,
               std::max(counters->peak_absolute_bytes.load(), live_bytes),
               &record->node);
  counters->peak_absolute_bytes.store(live_bytes);
  ForceLook(counters);
}

bool WasActive(const ThreadCounters& counters, int phase) {
  return counters.activity() !=
         counters.record->node.in_phase[phase].begin_activity;
}

}  // namespace footprint::profiling_internal
