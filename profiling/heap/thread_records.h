// The process's record of a thread, from its creation until it is joined; not
// in the thread's storage, which goes before that.
//
//   ThreadRecord* const record = NewRecord();
//   ...
//   DropRecord(record);
//
// Records lie in memory from the kernel, since every call of the heap comes
// here; they are used again and never given back. Records are owned by the list
// of the process, from NewRecord to FreeRecord or DropRecord. Thread-safety: as
// annotated.

#ifndef FOOTPRINT_PROFILING_HEAP_THREAD_RECORDS_H_
#define FOOTPRINT_PROFILING_HEAP_THREAD_RECORDS_H_

#include <pthread.h>

#include <cstdint>

#include "footprint/profiling/heap/process_counters.h"
#include "footprint/profiling/heap/thread_tree.h"

namespace footprint::profiling_internal {

struct ThreadRecord {
  ThreadNode node ABSL_GUARDED_BY(process.lock);
  // Null before the thread's first call and after its last.
  ThreadCounters* counters ABSL_GUARDED_BY(process.lock) = nullptr;
  bool has_ended ABSL_GUARDED_BY(process.lock) = false;
  bool has_number ABSL_GUARDED_BY(process.lock) = false;  // `thread` is set
  pthread_t thread ABSL_GUARDED_BY(process.lock) = {};
  // The function that the thread is to run, until it begins; a record that is
  // given up before that goes when it begins.
  void* (*function)(void*) = nullptr;
  void* argument = nullptr;
  bool is_given_up ABSL_GUARDED_BY(process.lock) = false;
  // The creator's activity at the start of the join, which does not end before
  // the thread does.
  uint64_t joiner_activity ABSL_GUARDED_BY(process.lock) = 0;
  // Tells one use of this memory from the next.
  uint64_t number ABSL_GUARDED_BY(process.lock) = 0;
  ThreadRecord* next ABSL_GUARDED_BY(process.lock) = nullptr;
  ThreadRecord* previous ABSL_GUARDED_BY(process.lock) = nullptr;
};

ThreadRecord* FindRecord(ThreadNode* node);

// Ends the process with a message where the kernel has no memory.
ThreadRecord* NewRecord() ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);
void FreeRecord(ThreadRecord* record)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// Drops the record of a thread without a creator, children and counters.
void DropRecord(ThreadRecord* record)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// Adds a root that ended to the figures of every phase that is still open, and
// drops it.
void DropEndedRoot(ThreadRecord* record)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// Nobody who is known joins it.
void MakeRoot(ThreadRecord* record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// The counters' own record, if it still is.
ThreadRecord* OwnRecord(const ThreadCounters& counters)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// The youngest thread of that number: the number of one that ended may be used
// anew. Null if there is none that its creator may join.
ThreadRecord* FindRecord(pthread_t thread)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// Tells the record what the thread has done so far.
void UpdateNode(const ThreadCounters& counters, int64_t live_bytes,
                ThreadRecord* record)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// Ends a segment of the calling thread's course, and begins the next.
void EndSegment(ThreadCounters* counters)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// Returns whether the thread called in the phase.
bool WasActive(const ThreadCounters& counters, int phase)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

}  // namespace footprint::profiling_internal

// Tested by thread_creation_test.

#endif  // FOOTPRINT_PROFILING_HEAP_THREAD_RECORDS_H_
