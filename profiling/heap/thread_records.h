// The process's record of a thread, from its creation until it is joined. The
// record is not in the thread's storage, which is freed earlier.
//
//   ThreadRecord* const record = NewRecord();
//   ...
//   DropRecord(record);
//
// Records lie in memory from the kernel, since every heap call comes through
// here. Their memory is reused and never returned. The process's list owns the
// records from NewRecord to FreeRecord or DropRecord. Thread-safety: as
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
  // The function that the thread is to run; null once it began. A record that
  // is dropped before that is freed when the thread begins.
  void* (*function)(void*) = nullptr;
  void* argument = nullptr;
  bool is_given_up ABSL_GUARDED_BY(process.lock) = false;
  // The creator's activity at the start of the join; the join does not end
  // before the thread does.
  uint64_t joiner_activity ABSL_GUARDED_BY(process.lock) = 0;
  // Distinguishes one use of this memory from the next.
  uint64_t number ABSL_GUARDED_BY(process.lock) = 0;
  ThreadRecord* next ABSL_GUARDED_BY(process.lock) = nullptr;
  ThreadRecord* previous ABSL_GUARDED_BY(process.lock) = nullptr;
};

// Returns the record that contains `node`.
ThreadRecord* FindRecord(ThreadNode* node);

// Returns a new record in the process's list. Aborts with a message if the
// kernel has no memory.
ThreadRecord* NewRecord() ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);
// Puts a record, which must be in no list, among the free records.
void FreeRecord(ThreadRecord* record)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// Removes from the list the record of a thread without creator, children and
// counters.
void DropRecord(ThreadRecord* record)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// Adds a root that ended to the figures of every phase that is still open, and
// drops it.
void DropEndedRoot(ThreadRecord* record)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// Makes the thread a root: no thread will join it as far as is known.
void MakeRoot(ThreadRecord* record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// Returns the record of the thread with these counters; null if the record's
// memory has been reused.
ThreadRecord* OwnRecord(const ThreadCounters& counters)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// Returns the youngest thread with this number that its creator may still join,
// or null. The number of an ended thread may be reused.
ThreadRecord* FindRecord(pthread_t thread)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// Stores the thread's live bytes and activity in the record's node.
void UpdateNode(const ThreadCounters& counters, int64_t live_bytes,
                ThreadRecord* record)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// Ends a segment of the calling thread's course and begins the next one.
void EndSegment(ThreadCounters* counters)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// Returns whether the thread allocated, freed or mapped in the phase.
bool WasActive(const ThreadCounters& counters, int phase)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

}  // namespace footprint::profiling_internal

// Tested by thread_creation_test.

#endif  // FOOTPRINT_PROFILING_HEAP_THREAD_RECORDS_H_
