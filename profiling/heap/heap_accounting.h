// Exact accounting of every heap allocation of this process.
//
// A binary is measured when it is linked with `malloc =
// "//profiling:exact_heap"`, which puts counting entry points in front of
// jemalloc. Most users want `MemoryPhase` (memory_phase.h), `benchmark_main` or
// `program_profile`; this header is what those are made of.
//
//   footprint::HeapRegion fit = footprint::BeginHeapRegion();
//   Fit(...);
//   footprint::HeapRegionBytes bytes = footprint::EndHeapRegion(fit);
//   // bytes.peak_live_bytes: what Fit needed on top of what was there before.
//
// Bytes are usable bytes. A realloc in place counts the difference; of one that
// moved, both blocks were live for the moment.
//
// Threads. What was counted is right to the byte with one thread, and with
// threads that take turns in any way; while threads run freely, a peak is
// within 4 KiB a thread of one that an order of the same calls would have. That
// a peak is the same in every run is another matter: it is where every two
// threads that allocate or free are kept apart by creation and join
// (pthread_create, pthread_join by the creator; std::thread is made of these).
// Turns that are taken by locks may be taken otherwise: then
// `threads_may_overlap`, and the bound over all orders is
// `sum_thread_peak_bytes`.
//
// Thread-safety: every function may be called from any thread. Regions are of
// the process and may overlap in any way; at most 32 are open at once.
// Memory: 2 KiB a thread, outside the heap. Time: about 5 % of a loop that does
// nothing but allocate and free; beginning and ending a region takes
// microseconds.
// Source: docs/decisions/0002-exact-heap-accounting.md.

#ifndef FOOTPRINT_PROFILING_HEAP_HEAP_ACCOUNTING_H_
#define FOOTPRINT_PROFILING_HEAP_HEAP_ACCOUNTING_H_

#include <cstdint>

namespace footprint {

// True if this process counts its allocations, that is if it was linked with
// `exact_heap`. Where false, every figure below is zero.
bool HeapIsAccounted();

// An open region: a token, to be handed to `EndHeapRegion` once.
struct HeapRegion {
  int number = -1;
};

struct HeapRegionBytes {
  // High-water mark of live bytes in the region, less what was live at its
  // begin.
  int64_t peak_live_bytes = 0;
  // The same mark, what was live at the begin included.
  int64_t peak_live_absolute_bytes = 0;
  // The highest sum of the own net high-water marks of threads that can be
  // alive at once, as far as creations and joins tell, and of what those that
  // were joined before left: no order of the threads needs more.
  int64_t sum_thread_peak_bytes = 0;
  // Handed out, freed or not.
  int64_t allocated_bytes = 0;
  int64_t allocation_count = 0;
  // Live at the end less live at the begin.
  int64_t net_growth_bytes = 0;
  // High-water mark of what the program mapped by itself (mmap), net.
  int64_t peak_mapped_bytes = 0;
  // Threads that allocated or freed.
  int active_thread_count = 0;
  // No creation or join keeps some two of them apart, so that peak_live_bytes
  // depends on how they took turns; sum_thread_peak_bytes need not.
  bool threads_may_overlap = false;
  // As peak_live_bytes, in bytes as the program asked for them. Zero unless
  // RequestedBytesAreCounted().
  int64_t peak_live_requested_bytes = 0;
};

// True if the process was linked with `exact_heap_with_requested_bytes`.
bool RequestedBytesAreCounted();

// Begins a region now. Ends the process with a message if 32 are open.
HeapRegion BeginHeapRegion();

// What `region` needed up to now.
HeapRegionBytes ReadHeapRegion(const HeapRegion& region);

// Ends `region` and tells what it needed.
HeapRegionBytes EndHeapRegion(const HeapRegion& region);

// The region that began with the first allocation of the process, before main.
// It can be read, but not ended.
HeapRegion ProcessHeapRegion();

// Live bytes of the process at this moment.
int64_t LiveHeapBytes();

// How many child processes fork made so far. Their memory is not counted.
int CountedForks();

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_HEAP_HEAP_ACCOUNTING_H_
