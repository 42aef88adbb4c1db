// The order of threads, as their creations and joins tell it; for
// thread_entry_points.cc. See thread_tree.h.
//
// A record is owned by the process's table; who holds one between Begin... and
// End... must call the latter. Memory: the record's, of the kernel
// (thread_records.h). Thread-safety: any thread may call these functions.

#ifndef FOOTPRINT_PROFILING_HEAP_THREAD_CREATION_H_
#define FOOTPRINT_PROFILING_HEAP_THREAD_CREATION_H_

#include <pthread.h>

#include "footprint/profiling/heap/thread_records.h"

namespace footprint::profiling_internal {

// Around pthread_create, of a thread that can be joined:
//   ThreadRecord* record = BeginThread(function, argument);
//   error = real_pthread_create(&thread, attributes, RunThread, record);
//   EndCreation(record, error, &thread);
// Null: the thread is to be created without.
ThreadRecord* BeginThread(void* (*function)(void*), void* argument);
void* RunThread(void* record);
void EndCreation(ThreadRecord* record, int error, const pthread_t* thread);

// Called before the creation of a thread that cannot be joined. Returns null.
ThreadRecord* BeginDetachedThread();

// Around a call that may join `thread`; and before one that detaches it.
ThreadRecord* BeginJoin(pthread_t thread);
void EndJoin(ThreadRecord* record, bool succeeded);
void ForgetThread(pthread_t thread);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_HEAP_THREAD_CREATION_H_
