// The calling thread's number in the records of this process image: 1 for the
// first thread that asks, 2 for the next.
//
//   site.thread = ThreadNumber();
//
// A number is valid until the thread ends, and no other thread gets it.
// Thread-safe; works inside malloc. Memory: four bytes a thread.

#ifndef FOOTPRINT_PROFILING_SITES_THREAD_NUMBER_H_
#define FOOTPRINT_PROFILING_SITES_THREAD_NUMBER_H_

#include <cstdint>

namespace footprint::profiling_internal {

uint32_t ThreadNumber();

// Starts again from 1. Call it in the child of a fork, which has one thread.
void RestartThreadNumbers();

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_SITES_THREAD_NUMBER_H_
