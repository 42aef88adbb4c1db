// Exact accounting of every heap allocation of this process.
//
// A binary is measured when it is linked with `malloc =
// "//profiling:exact_heap"`, which puts counting entry points in front of
// Most users want `MemoryPhase` (memory_phase.h), `benchmark_main` or
// `program_profile`, which are built on this header.
//
//   footprint::HeapPhase fit = footprint::BeginHeapPhase();
//   Fit(...);
//   footprint::HeapPhaseBytes bytes = footprint::EndHeapPhase(fit);
//   // bytes.peak_live_net_bytes: bytes that Fit needed on top of those before.
//
// Bytes are usable bytes. A realloc in place counts the difference; of one that
// moved, both blocks were live for the moment.
//
// Threads. Figures are right to the byte with one thread, and with threads that
// take turns in any way; while threads run freely, a peak is within 4 KiB a
// thread of one that an order of the same calls would have. That a peak is the
// same in every run is another matter: it is where every two threads that
// allocate or free are kept apart by creation and join (pthread_create,
// pthread_join by the creator; std::thread is made of these). Turns that are
// taken by locks may be taken otherwise: then `threads_may_overlap`, and the
// bound over all orders is `sum_thread_peak_net_bytes`.
//
// Thread-safety: every function may be called from any thread. Phases are of
// the process and may overlap in any way; at most 32 are open at once. A phase
// stays open until it is ended: its token is a number, which owns nothing.
// Memory: 2 KiB a thread, outside the heap. Time: about 5 % of a loop that does
// nothing but allocate and free; beginning and ending a phase takes
// microseconds.
// Source: docs/decisions/0002-exact-heap-accounting.md.

#ifndef FOOTPRINT_PROFILING_HEAP_HEAP_ACCOUNTING_H_
#define FOOTPRINT_PROFILING_HEAP_HEAP_ACCOUNTING_H_

#include <cstdint>

#include "footprint/profiling/heap/heap_metrics.h"

namespace footprint {

// Returns whether this process counts its allocations, that is if it was linked
// with `exact_heap`. Where false, every figure below is zero.
bool HeapIsAccounted();

// An open phase: a token, to be handed to `EndHeapPhase` once.
struct HeapPhase {
  int number = -1;
};

// Returns whether the process was linked with
// `exact_heap_with_requested_bytes`.
bool RequestedBytesAreCounted();

// Begins a phase now. Ends the process with a message if 32 are open.
HeapPhase BeginHeapPhase();

// The same, for those who can do without: number is -1 if 32 are open.
HeapPhase TryBeginHeapPhase();

// Bytes that `phase` needed up to now.
HeapPhaseBytes ReadHeapPhase(const HeapPhase& phase);

// Ends `phase` and tells what it needed.
HeapPhaseBytes EndHeapPhase(const HeapPhase& phase);

// The phase that began with the first allocation of the process, before main.
// It can be read, but not ended.
HeapPhase ProcessHeapPhase();

// Begins that phase anew: in the child of a fork, whose inherited blocks are
// the parent's figures.
void RestartProcessHeapPhase();

// Live bytes of the process at this moment.
int64_t LiveHeapBytes();

// Returns how many child processes fork made so far. Their memory is not
// counted.
int CountedForks();

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_HEAP_HEAP_ACCOUNTING_H_
