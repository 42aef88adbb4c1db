// Records where live bytes come from: the calls, thread and stage that
// allocated each block, and the sum of what was live at the process's peak. It
// also records which calls mapped memory (mapping_sites.h), by the hooks of
// mapping_hooks.h.
//
//   BeginCallSites(folder, "1234.0.sites", /*sampling_interval_bytes=*/524288);
//   ...
//   RecordAllocation(block, usable_bytes);  // before the search for a peak
//   if (MayBeRecorded(block)) RecordFree(block);  // before it is freed
//
// Sampling. A block is recorded if it contains a point of a Poisson process
// along the thread's allocated bytes, with one point in
// `sampling_interval_bytes` on average. So a block of size s is recorded with
// probability p = 1 - exp(-s / interval), counts for s / p bytes, and adds (s /
// p)^2 (1 - p) to the variance. With an interval of 0 every block is recorded
// and nothing is estimated.
//
// The peak. A site's figures at the peak are copied when the site first changes
// after it (a peak number shows whether this was done), so a new peak costs
// nothing by itself. Without sampling, the peak is that of the sites' own sum,
// taken under their lock, so the figures at the peak add up to it. With
// sampling, it is the counters' peak.
//
// Capacity. There are at most kMaxSites sites. When few are left, new stacks
// are cut to their outer calls, and the record says that it is incomplete.
//
// Works inside malloc: it allocates no heap memory and calls no library that
// might. Thread-safe. Memory: the file (site_record.h), an index of 32 to 64
// bytes for each call and each site, and the table of recorded blocks
// (block_table.h), all from the kernel. Source: Horvitz and Thompson's
// estimator (1952). Vitter's skips are not needed because sizes are known.

#ifndef FOOTPRINT_PROFILING_SITES_CALL_SITES_H_
#define FOOTPRINT_PROFILING_SITES_CALL_SITES_H_

#include <cstddef>
#include <cstdint>

#include "footprint/profiling/sites/block_table.h"

namespace footprint::profiling_internal {

// Creates the file in the folder with this descriptor and starts recording.
// Returns false if the file cannot be created; then nothing is recorded. Call
// it once in a process, and again in the child of a fork, which forgets its
// parent's blocks.
bool BeginCallSites(int folder, const char* file_name,
                    int64_t sampling_interval_bytes);

// Records how the sites grow, in a file of its own (growth_record.h). Call it
// after BeginCallSites. If the file cannot be created, growth is not recorded.
void BeginSiteGrowth(int folder, const char* file_name);

// Stops recording and closes the file. In the child of a fork, it closes the
// parent's file.
void EndCallSites();

// True if every block is recorded. Then a freed block without an entry was
// allocated before the record began.
extern bool every_allocation_is_recorded;
// Records the free of such a block.
void RecordFreeOfOlder(int64_t size_bytes);

// Records a block of `size_bytes` usable bytes. If a realloc left it in place,
// `kept_bytes` of them were allocated before and do not count as new.
void RecordAllocation(void* block, int64_t size_bytes, int64_t kept_bytes = 0);

extern BlockTable recorded_blocks;

// Returns whether the block is recorded. RecordFree must then be called before
// it is freed.
inline bool MayBeRecorded(const void* block) {
  return __builtin_expect(recorded_blocks.MayHold(block), 0);
}

void RecordFree(void* block);

// DetachRecorded comes before a call that may move a block. It returns false,
// and stores nothing, if the block is not recorded. The block's bytes count
// until ForgetDetached.
bool DetachRecorded(void* block, RecordedBlock* detached);
void ForgetDetached(const RecordedBlock& detached);
// Undoes DetachRecorded if the call failed or left the block in place.
void AttachAgain(const RecordedBlock& detached);

// Forgets which code lies at which address. Call it after an object was
// unloaded, because another may be loaded at its addresses.
void ForgetCode();

// Begins the recent peak anew (published_heap.h): what each site has at the
// highest sum from now on is kept beside what it has at the process's peak.
void RestartRecentPeakOfSites();

// Adds a point to the timeline. Callers ask IsTimeToRecord often, and record
// when it returns true.
bool IsTimeToRecord();
void RecordTime(int64_t live_bytes);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_SITES_CALL_SITES_H_
