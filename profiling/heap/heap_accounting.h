// Exact accounting of every heap allocation of this process.
//
// A binary is measured when it is linked with `malloc =
// "//profiling:exact_heap"`, which puts counting entry points in front of
// jemalloc. Most users want `MemoryPhase` (memory_phase.h), `benchmark_main` or
// `program_profile`, which are built on this header.
//
//   footprint::HeapPhase fit = footprint::BeginHeapPhase();
//   Fit(...);
//   footprint::HeapPhaseBytes bytes = footprint::EndHeapPhase(fit);
//   // bytes.peak_live_net_bytes: bytes that Fit needed on top of those before.
//
// Bytes are usable bytes. A realloc in place counts the difference. In a
// realloc that moves its block, both blocks are live for a moment.
//
// Threads. Figures are right to the byte with one thread, and with threads that
// take turns in any way. While threads run freely, a peak is within 4 KiB a
// thread of the peak that some order of the same calls would have. A peak
// repeats in every run only if creations and joins order every two threads that
// allocate or free (pthread_create, and pthread_join by the creator;
// std::thread uses these). If only locks order them, another run may have
// another order: then `threads_may_overlap` is set, and
// `sum_thread_peak_net_bytes` is the bound over all orders.
//
// Thread-safety: every function may be called from any thread. Phases belong to
// the process and may overlap in any way; at most 32 are open at once. A phase
// stays open until it is ended; its token is a number, which owns nothing.
// Memory: 1.7 KiB a thread, outside the heap. Time: about 5 % of a loop that
// only allocates and frees; beginning and ending a phase takes microseconds.
// Source: docs/decisions/0002-exact-heap-accounting.md.

#ifndef FOOTPRINT_PROFILING_HEAP_HEAP_ACCOUNTING_H_
#define FOOTPRINT_PROFILING_HEAP_HEAP_ACCOUNTING_H_

#include <cstdint>

#include "footprint/profiling/heap/heap_metrics.h"

namespace footprint {

// Returns whether this process counts its allocations, that is, whether it was
// linked with `exact_heap`. If not, all figures of a phase are zero.
bool HeapIsAccounted();

// The token of an open phase, which is passed to `EndHeapPhase` once.
struct HeapPhase {
  int number = -1;
};

// Returns whether the process was linked with
// `exact_heap_with_requested_bytes`.
bool RequestedBytesAreCounted();

// Begins a phase now. Aborts with a message if 32 are open.
HeapPhase BeginHeapPhase();

// Begins a phase now. The returned `number` is -1 if 32 are open.
HeapPhase TryBeginHeapPhase();

// Returns the bytes that `phase`, which must be open, has needed so far.
HeapPhaseBytes ReadHeapPhase(const HeapPhase& phase);

// Ends `phase`, which must be open, and returns the bytes that it needed.
HeapPhaseBytes EndHeapPhase(const HeapPhase& phase);

// Returns the phase that began with the first allocation of the process, before
// main. It can be read, but not ended.
HeapPhase ProcessHeapPhase();

// Begins the process's phase anew, at this moment. The child of a fork calls
// it, since the inherited blocks belong to the parent's figures.
void RestartProcessHeapPhase();

// Returns the usable bytes of all live blocks at this moment; 0 if the process
// does not count its allocations.
int64_t LiveHeapBytes();

// Returns how many child processes fork made so far, also if the process does
// not count its allocations. Their memory is not counted.
int CountedForks();

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_HEAP_HEAP_ACCOUNTING_H_
