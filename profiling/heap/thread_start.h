// The function that a thread begins with, and a recorder's way to come before
// it.
//
//   static const ThreadWrapper wrapper = {TimedThread, ForgetTimedThread};
//   SetThreadWrapper(&wrapper);
//
// Thread-safe. Memory: a pointer.

#ifndef FOOTPRINT_PROFILING_HEAP_THREAD_START_H_
#define FOOTPRINT_PROFILING_HEAP_THREAD_START_H_

namespace footprint::profiling_internal {

struct ThreadStart {
  void* (*function)(void*);
  void* argument;
};

struct ThreadWrapper {
  // The function and argument that pthread_create begins a thread with instead.
  ThreadStart (*wrap)(ThreadStart start);
  // The thread of a start that `wrap` returned was not created.
  void (*forget)(ThreadStart start);
};

// Sets the wrapper of threads that are created from now on. `wrapper` must live
// as long as the process; null: threads begin with what they are given.
void SetThreadWrapper(const ThreadWrapper* wrapper);
const ThreadWrapper* CurrentThreadWrapper();

}  // namespace footprint::profiling_internal

// Tested by //profiling/memprof:sampling_test.

#endif  // FOOTPRINT_PROFILING_HEAP_THREAD_START_H_
