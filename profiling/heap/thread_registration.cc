#include "footprint/profiling/heap/thread_registration.h"

#include <pthread.h>

#include <algorithm>

#include "footprint/base/memory/allocator.h"
#include "footprint/base/memory/membarrier.h"
#include "footprint/base/threads/fork_handlers.h"
#include "footprint/profiling/heap/sample_schedule.h"
#include "footprint/profiling/heap/thread_records.h"
#include "footprint/profiling/heap/thread_tree.h"

namespace footprint::profiling_internal {
namespace {

using State = ThreadCounters::State;

void AddThread(ThreadCounters* counters)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock) {
  counters->peak_absolute_bytes.store(0);
  counters->threshold_bytes.store(0);
  if (OwnRecord(*counters) == nullptr) {
    // Unless it is the first thread, the C library or the system created it.
    if (process.thread_count > 0) process.has_unknown_threads = true;
    counters->record = NewRecord();
    counters->record_number = counters->record->number;
  }
  counters->record->counters = counters;
  counters->next = process.first_thread;
  process.first_thread = counters;
  ++process.thread_count;
  counters->state = State::kRegistered;
  if (ChooseThreadFreeFunction != nullptr) ChooseThreadFreeFunction(counters);
  FindWhetherOneThread();
  // This also counts what the thread did before it was registered.
  RaiseThreshold(counters, counters->live_bytes());
}

void RemoveThread(ThreadCounters* counters)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock) {
  ThreadCounters** link = &process.first_thread;
  while (*link != counters) link = &(*link)->next;
  *link = counters->next;
  process.sum_of_thresholds -= counters->threshold_bytes.load();
  for (int i = 0; i < kMaxOpenPhases; ++i) {
    if (!process.phases[i].open) continue;
    if (WasActive(*counters, i)) ++process.phases[i].ended_active_thread_count;
  }
  EndSegment(counters);
  ThreadRecord* const record = counters->record;
  record->counters = nullptr;
  record->has_ended = true;
  while (record->node.first_child != nullptr) {
    MakeRoot(FindRecord(record->node.first_child));
  }
  if (record->node.creator == nullptr) DropEndedRoot(record);
  process.ended.Add(*counters);
  counters->state = State::kEnded;
  if (ChooseThreadFreeFunction != nullptr) ChooseThreadFreeFunction(counters);
  // Makes every later call of this thread reach CountAfterEnd.
  counters->threshold_bytes.store(INT64_MIN);
  ForceLook(counters);
  counters->summed_live_bytes = counters->live_bytes();
  --process.thread_count;
  FindWhetherOneThread();
}

// The callbacks of pthread.

// Removes a thread at its end. CountAfterEnd counts destructors that run later.
void AtThreadEnd(void* /*counters*/) {
  ProcessLock lock;
  RemoveThread(&thread_counters);
}

void BeforeFork() ABSL_EXCLUSIVE_LOCK_FUNCTION(process.lock) { LockProcess(); }

void AfterForkInParent() ABSL_UNLOCK_FUNCTION(process.lock) {
  ++process.forked_process_count;
  UnlockProcess();
}

// Removes all other threads, since only the thread that forked lives on.
// Threads that the child starts reuse the storage of the others' counters.
void AfterForkInChild() ABSL_UNLOCK_FUNCTION(process.lock) {
  for (ThreadCounters* each = process.first_thread; each != nullptr;) {
    ThreadCounters* const next = each->next;
    if (each != &thread_counters) RemoveThread(each);
    each = next;
  }
  for (ThreadRecord* each = process.first_record; each != nullptr;) {
    ThreadRecord* const next = each->next;
    if (each != OwnRecord(thread_counters)) MakeRoot(each);
    each = next;
  }
  process.unjoined_thread_count = 0;
  process.has_unknown_threads = false;
  FindWhetherOneThread();
  UnlockProcess();
}

// Registers the handlers in a constructor rather than in the first allocation,
// because registering may itself allocate. It comes before the constructor of
// mapping_entry_points.cc, whose lock must be taken first: a fork calls the
// handlers that were registered last first.
__attribute__((constructor(101))) void WatchForks() {
  AddForkHandlers(
      {&process.lock, BeforeFork, AfterForkInParent, AfterForkInChild});
}

}  // namespace

bool FindAllocatorsCounters() {
  ThreadCounters* const counters = &thread_counters;
  if (counters->allocated_bytes != &kNoBytes) return true;
  const ThreadHeapCounters of_allocator = FindCountersOfEntryPoints != nullptr
                                              ? FindCountersOfEntryPoints()
                                              : FindThreadHeapCounters();
  if (of_allocator.allocated_bytes == nullptr) return false;
  counters->allocated_bytes = of_allocator.allocated_bytes;
  counters->deallocated_bytes = of_allocator.deallocated_bytes;
  counters->summed_allocated_from = of_allocator.allocated_bytes;
  counters->summed_deallocated_from = of_allocator.deallocated_bytes;
  return true;
}

void RegisterThread() {
  ThreadCounters* counters = &thread_counters;
  if (counters->state != State::kNew) return;
  if (!FindAllocatorsCounters()) return;
  ProcessLock lock;
  if (!process.in_use) {
    process.in_use = true;
    process.can_synchronise = RegisterMembarrier();
    pthread_key_create(&process.thread_end_key, AtThreadEnd);
    SetOpen(kProcessPhase, true);
  }
  pthread_setspecific(process.thread_end_key, counters);
  AddThread(counters);
  counters->peak_absolute_bytes.store(
      std::max<int64_t>(counters->live_bytes(), 0));
  if (counters->sample_at_bytes == UINT64_MAX) ScheduleFirstSample(counters);
}

void CountAfterEnd(ThreadCounters* counters, bool is_allocation) {
  const int64_t live_bytes = counters->live_bytes();
  const int64_t change_bytes = live_bytes - counters->summed_live_bytes;
  counters->summed_live_bytes = live_bytes;
  process.ended.live_bytes += change_bytes;
  if (is_allocation) {
    process.ended.allocated_bytes += change_bytes;
    ++process.ended.allocation_count;
  }
  ThreadRecord* const record = OwnRecord(*counters);
  if (record != nullptr) UpdateNode(*counters, live_bytes, record);
  for (int i = 0; i < kMaxOpenPhases && change_bytes > 0; ++i) {
    if (!process.phases[i].open) continue;
    (record != nullptr ? record->node.in_phase[i].highest_net_bytes
                       : process.phases[i].ended_thread_peak_net_bytes) +=
        change_bytes;
  }
  const int64_t sum_bytes = SumLiveBytes(nullptr, 0);
  RaisePeak(sum_bytes);
  ShareHeadroom(sum_bytes);
}

}  // namespace footprint::profiling_internal
