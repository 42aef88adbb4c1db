// Records where live bytes come from: the calls, thread and stage that
// allocated each block, and the sum of what was live at the process's peak.
//
//   BeginCallSites(folder, "1234.0.sites", /*sampling_interval_bytes=*/524288);
//   ...
//   RecordAllocation(block, usable_bytes);  // before the counters' look
//   if (MayBeRecorded(block)) RecordFree(block);  // before it is freed
//
// Sampling. A block is recorded if a point of a Poisson process along the
// thread's allocated bytes, one in `sampling_interval_bytes`, lies in it: so a
// block of size s is with probability p = 1 - exp(-s / interval), counts for
// s / p bytes, and adds (s / p)^2 (1 - p) to the variance. With an interval of
// 0 every block is recorded and nothing is estimated.
//
// The peak. A site's figures at the peak are copied when the site first changes
// after it (a number tells whether it has), so a new peak costs nothing by
// itself. Without sampling the peak is that of the sites' own sum, taken under
// their lock, and the figures at the peak add up to it; with sampling it is the
// counters' peak.
//
// Room. There are at most kMaxSites sites. Where few are left, new stacks are
// cut to their outer calls, and the record says that it is incomplete.
//
// Lives inside malloc: allocates nothing there, and calls no library that
// might. Thread-safe. Memory: the file (site_record.h), an index of 16 bytes a
// call and site, 64 to 128 bytes a recorded block, all from the kernel.
// Source: J. Vitter's skips are not needed as sizes are known; the estimator is
// Horvitz and Thompson's (1952).

#ifndef FOOTPRINT_PROFILING_SITES_CALL_SITES_H_
#define FOOTPRINT_PROFILING_SITES_CALL_SITES_H_

#include <cstddef>
#include <cstdint>

#include "footprint/profiling/sites/block_table.h"

namespace footprint::profiling_internal {

// Opens the file in the folder of that descriptor. False: it cannot be had, and
// nothing is recorded. Called once in a process, and again in the child of a
// fork, whose blocks so far are its parent's.
bool BeginCallSites(int folder, const char* file_name,
                    int64_t sampling_interval_bytes);

// Called after BeginCallSites: follows how the sites grow, in a file of its own
// (growth_record.h). Without it, if the file cannot be had.
void BeginSiteGrowth(int folder, const char* file_name);

// Nothing is recorded any more, and the file is closed: in the child of a fork,
// the parent's.
void EndCallSites();

// Whether each block is recorded. A freed block that was not is older than the
// record.
extern bool every_allocation_is_recorded;
void RecordFreeOfOlder(int64_t size_bytes);

// The block's size in usable bytes; of them, a realloc in place kept
// `kept_bytes`, which are not allocated anew.
void RecordAllocation(void* block, int64_t size_bytes, int64_t kept_bytes = 0);

extern BlockTable recorded_blocks;

inline bool MayBeRecorded(const void* block) {
  return __builtin_expect(recorded_blocks.MayHold(block), 0);
}

void RecordFree(void* block);

// Around a call that may move a block: the bytes count until ForgetDetached.
bool DetachRecorded(void* block, RecordedBlock* detached);
void ForgetDetached(const RecordedBlock& detached);
// The call failed, or left the block where it was.
void AttachAgain(const RecordedBlock& detached);

// Called after an object was unloaded: another may lie at its addresses next,
// so that their calls are other ones.
void ForgetCode();

// A point of the timeline; to be asked for often, and made when it is time.
bool IsTimeToRecord();
void RecordTime(int64_t live_bytes);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_SITES_CALL_SITES_H_
