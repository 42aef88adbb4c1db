// Lets a recorder replace the function that a new thread begins with.
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
  // Returns the function and argument that pthread_create uses instead.
  ThreadStart (*wrap)(ThreadStart start);
  // pthread_create calls this if the thread for a start that `wrap` returned
  // was not created.
  void (*forget)(ThreadStart start);
};

// Sets the wrapper of threads that are created from now on. `wrapper` must live
// as long as the process; null removes the wrapper.
void SetThreadWrapper(const ThreadWrapper* wrapper);
// Returns the wrapper, or null if there is none.
const ThreadWrapper* CurrentThreadWrapper();

}  // namespace footprint::profiling_internal

// Tested by //profiling/memprof:sampling_test.

#endif  // FOOTPRINT_PROFILING_HEAP_THREAD_START_H_
