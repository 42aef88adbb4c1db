#include "footprint/profiling/recording/memory_phase.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

#include "footprint/base/threads/pthread_mutex.h"
#include "footprint/profiling/heap/heap_metrics.h"
#include "footprint/profiling/stages/footprint_stage.h"

namespace footprint {
namespace {

constexpr int kMaxRecords = 256;

// These are in static storage and under pthread's lock, because nothing here
// may allocate.
PthreadMutex lock;
bool recording ABSL_GUARDED_BY(lock) = false;
RecordedMemoryPhase records[kMaxRecords] ABSL_GUARDED_BY(lock);
int record_count ABSL_GUARDED_BY(lock) = 0;
int unrecorded_count ABSL_GUARDED_BY(lock) = 0;

// The innermost phase of this thread, and the one for threads that are in no
// phase.
thread_local int thread_record = -1;
std::atomic<int> process_record{-1};

int FindOrAddRecord(const char* name, int parent) {
  PthreadMutexLock guard(&lock);
  if (!recording) return -1;
  for (int i = 0; i < record_count; ++i) {
    if (records[i].parent == parent &&
        std::strcmp(records[i].name, name) == 0) {
      ++records[i].open_count;
      return i;
    }
  }
  if (record_count == kMaxRecords) {
    ++unrecorded_count;
    return -1;
  }
  records[record_count] = {name, parent, /*open_count=*/1, HeapPhaseBytes()};
  return record_count++;
}

void Accumulate(HeapPhaseBytes* sum, const HeapPhaseBytes& visit) {
  for (const HeapMetric& metric : kHeapMetrics) {
    int64_t& value = sum->*metric.member;
    value = CombineVisits(metric.statistic, value, visit.*metric.member);
  }
  sum->active_thread_count =
      std::max(sum->active_thread_count, visit.active_thread_count);
  sum->threads_may_overlap |= visit.threads_may_overlap;
}

}  // namespace

MemoryPhase::MemoryPhase(const char* name, Around around) : around_(around) {
  if (!HeapIsAccounted()) {
    stage_visit_ = footprint_stage_begin(name);
    return;
  }
  const bool is_of_thread =
      around_ == Around::kThisThread && thread_record >= 0;
  const int parent = is_of_thread ? thread_record : process_record.load();
  record_ = FindOrAddRecord(name, parent);
  if (record_ < 0) return;
  if (around_ == Around::kEveryThread) {
    outer_record_ = process_record.exchange(record_);
  } else {
    outer_record_ = thread_record;
    thread_record = record_;
  }
  heap_phase_ = BeginHeapPhase();
}

void MemoryPhase::End() {
  if (stage_visit_ != 0) footprint_stage_end_of(stage_visit_);
  stage_visit_ = 0;
  if (record_ < 0) return;
  const HeapPhaseBytes visit = EndHeapPhase(heap_phase_);
  if (around_ == Around::kEveryThread) {
    process_record.store(outer_record_);
  } else {
    thread_record = outer_record_;
  }
  PthreadMutexLock guard(&lock);
  Accumulate(&records[record_].bytes, visit);
  --records[record_].open_count;
  record_ = -1;
}

void RecordMemoryPhases() {
  PthreadMutexLock guard(&lock);
  recording = true;
  record_count = 0;
  unrecorded_count = 0;
}

void StopRecordingMemoryPhases() {
  PthreadMutexLock guard(&lock);
  recording = false;
}

std::vector<RecordedMemoryPhase> RecordedMemoryPhases() {
  PthreadMutexLock guard(&lock);
  return std::vector<RecordedMemoryPhase>(records, records + record_count);
}

std::string MemoryPhasesFault() {
  for (const RecordedMemoryPhase& phase : RecordedMemoryPhases()) {
    if (phase.open_count > 0) {
      return std::string("the phase \"") + phase.name +
             "\" is still open; end it before the measurement ends";
    }
  }
  const int count = UnrecordedPhaseCount();
  if (count == 0) return "";
  return std::to_string(count) +
         " beginnings of phases were not recorded, since there are more than " +
         std::to_string(kMaxRecords) + " different phases; use fewer names";
}

int UnrecordedPhaseCount() {
  PthreadMutexLock guard(&lock);
  return unrecorded_count;
}

}  // namespace footprint
