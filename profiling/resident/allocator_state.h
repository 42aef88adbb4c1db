// The allocator of a measured process as its agent last published it.
//
//   absl::StatusOr<AllocatorState> state =
//       ReadAllocatorState("/tmp/memprof-1/1234.0.allocator");
//
// The process may run and write meanwhile. Plain values: the file is closed
// again. Thread-safe. Memory: 64 KiB. Errors: the file's, kInvalidArgument for
// another version's, and kUnavailable where it changes faster than it can be
// read.

#ifndef FOOTPRINT_PROFILING_RESIDENT_ALLOCATOR_STATE_H_
#define FOOTPRINT_PROFILING_RESIDENT_ALLOCATOR_STATE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/profiling/heap/published_allocator.h"
#include "footprint/profiling/resident/resident_set.h"

namespace footprint {

struct AllocatorState {
  // The allocator's, and the agent's own tables.
  KnownRanges ranges;
  // Some ranges had no room: the heap's share is too small.
  bool is_cut = false;
  // All zero: never looked at.
  profiling_internal::AllocatorBooks books = {};
};

absl::StatusOr<AllocatorState> ReadAllocatorState(const std::string& path);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RESIDENT_ALLOCATOR_STATE_H_
