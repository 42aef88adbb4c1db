// Records the order of threads by their creations and joins, for
// thread_entry_points.cc. See thread_tree.h.
//
// The process's table owns the records. A caller that got one from BeginThread
// must call EndCreation. EndJoin must follow BeginJoin even if that returned
// null, because it also counts the threads. Memory: the records', from the
// kernel (thread_records.h). Thread-safety: any thread may call these
// functions.

#ifndef FOOTPRINT_PROFILING_HEAP_THREAD_CREATION_H_
#define FOOTPRINT_PROFILING_HEAP_THREAD_CREATION_H_

#include <pthread.h>

#include "footprint/profiling/heap/thread_records.h"

namespace footprint::profiling_internal {

// These functions wrap pthread_create for a thread that can be joined:
//   ThreadRecord* record = BeginThread(function, argument);
//   error = real_pthread_create(&thread, attributes, RunThread, record);
//   EndCreation(record, error, &thread);
// BeginThread returns null if the thread must be created without a record.
ThreadRecord* BeginThread(void* (*function)(void*), void* argument);
void* RunThread(void* record);
void EndCreation(ThreadRecord* record, int error, const pthread_t* thread);

// Records the creation of a thread that cannot be joined. Call it before the
// creation. Returns null.
ThreadRecord* BeginDetachedThread();

// BeginJoin and EndJoin wrap a call that may join `thread`. ForgetThread
// precedes a call that detaches it.
ThreadRecord* BeginJoin(pthread_t thread);
void EndJoin(ThreadRecord* record, bool succeeded);
void ForgetThread(pthread_t thread);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_HEAP_THREAD_CREATION_H_
