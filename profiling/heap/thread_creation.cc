#include "footprint/profiling/heap/thread_creation.h"

#include "footprint/profiling/heap/process_counters.h"
#include "footprint/profiling/heap/thread_registration.h"
#include "footprint/profiling/heap/thread_tree.h"

namespace footprint::profiling_internal {

ThreadRecord* BeginThread(void* (*function)(void*), void* argument) {
  RegisterThread();
  ProcessLock lock;
  ThreadCounters* counters = &thread_counters;
  if (counters->state != ThreadCounters::State::kRegistered) {
    process.has_unknown_threads = true;
    FindWhetherOneThread();
    return nullptr;
  }
  ++process.unjoined_thread_count;
  FindWhetherOneThread();
  ThreadRecord* const record = NewRecord();
  record->function = function;
  record->argument = argument;
  EndSegment(counters);
  AddChild(process.open_phases, &counters->record->node, &record->node);
  return record;
}

ThreadRecord* BeginDetachedThread() {
  RegisterThread();
  ProcessLock lock;
  process.has_unknown_threads = true;
  FindWhetherOneThread();
  return nullptr;
}

void* RunThread(void* given_record) {
  auto* const record = static_cast<ThreadRecord*>(given_record);
  void* (*const function)(void*) = record->function;
  void* const argument = record->argument;
  {
    ProcessLock lock;
    record->function = nullptr;
    if (record->is_given_up) {
      FreeRecord(record);
    } else {
      record->thread = pthread_self();
      record->has_number = true;
      thread_counters.record = record;
      thread_counters.record_number = record->number;
    }
  }
  return function(argument);
}

void EndCreation(ThreadRecord* record, int error, const pthread_t* thread) {
  ProcessLock lock;
  if (error != 0) {
    --process.unjoined_thread_count;
    FindWhetherOneThread();
    record->function = nullptr;
    MakeRoot(record);
    return;
  }
  // A thread that detached itself no longer has a record.
  const ThreadNode* child = thread_counters.record->node.last_child;
  while (child != nullptr && child != &record->node) {
    child = child->previous_sibling;
  }
  if (child == nullptr) return;
  record->thread = *thread;
  record->has_number = true;
  record->node.creator_activity = thread_counters.activity();
}

ThreadRecord* BeginJoin(pthread_t thread) {
  ProcessLock lock;
  ThreadRecord* const record = FindRecord(thread);
  if (record == nullptr) return nullptr;
  ThreadRecord* const joiner = OwnRecord(thread_counters);
  if (joiner == nullptr || record->node.creator != &joiner->node) {
    MakeRoot(record);
    return nullptr;
  }
  record->joiner_activity = thread_counters.activity();
  return record;
}

void EndJoin(ThreadRecord* record, bool succeeded) {
  if (!succeeded) return;
  ProcessLock lock;
  // The count is zero if the thread's creation was never seen.
  if (process.unjoined_thread_count > 0) --process.unjoined_thread_count;
  FindWhetherOneThread();
  if (record == nullptr) return;
  ThreadNode* const joiner = record->node.creator;
  if (joiner == nullptr) return;
  EndSegment(&thread_counters);
  // Blocks that the join itself freed were freed after the thread's end.
  const uint64_t activity = joiner->activity;
  joiner->activity = record->joiner_activity;
  JoinChild(process.open_phases, &record->node);
  joiner->activity = activity;
  DropRecord(record);
}

void ForgetThread(pthread_t thread) {
  ProcessLock lock;
  ThreadRecord* const record = FindRecord(thread);
  if (record != nullptr) MakeRoot(record);
}

}  // namespace footprint::profiling_internal
