// Record of a program with the heap of profiling/regressions: blocks, mappings
// and visits of phases, and when each visit held most.
//
//   absl::StatusOr<AllocationRecord> record = ReadAllocationRecord(bytes);
//   for (const RecordedVisit& visit : record->visits) {
//     Use(visit.phase, visit.peak_bytes, record->blocks[visit.first_call]);
//   }
//
// Counted from the events alone, so it is a second opinion on the figures that
// exact_heap counts for the main thread.
//
// Pure, thread-safe; the result owns all it holds. Memory: 48 bytes a block.
// Time: linear, and a hash look-up an event.

#ifndef FOOTPRINT_GATES_REGRESSIONS_ALLOCATION_RECORD_H_
#define FOOTPRINT_GATES_REGRESSIONS_ALLOCATION_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace footprint {

// Places in the order of events.
inline constexpr size_t kNeverEnds = std::numeric_limits<size_t>::max();

struct RecordedBlock {
  int64_t requested_bytes = 0;
  int64_t bytes = 0;  // usable; of a mapping, whole pages
  size_t begin = 0;
  size_t end = kNeverEnds;
  bool is_moved = false;  // ended by realloc
};

struct RecordedVisit {
  std::string phase;  // "loop/load"
  int64_t visit = 0;  // of this phase, from 0
  size_t begin = 0;
  size_t end = kNeverEnds;
  // The blocks and mappings that began in it, of all phases in it.
  size_t first_call = 0;
  size_t call_count = 0;
  size_t first_mapping = 0;
  size_t mapping_count = 0;
  // The place at which it held most, net of its beginning, for the first time.
  size_t peak = 0;
  int64_t peak_bytes = 0;
  size_t mapped_peak = 0;
  int64_t mapped_peak_bytes = 0;
};

struct AllocationRecord {
  std::vector<RecordedBlock> blocks;    // a call each, in order
  std::vector<RecordedBlock> mappings;  // as the blocks
  std::vector<RecordedVisit> visits;    // in order of their beginning
  size_t peak = 0;                      // of all
};

// kDataLoss for a record that is cut short or makes no sense.
absl::StatusOr<AllocationRecord> ReadAllocationRecord(absl::string_view bytes);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REGRESSIONS_ALLOCATION_RECORD_H_
