// Reads the record of a program with the heap of profiling/regressions: blocks,
// mappings and visits of phases, and the moment at which each visit held most.
//
//   absl::StatusOr<AllocationRecord> record = ReadAllocationRecord(bytes);
//   for (const RecordedVisit& visit : record->visits) {
//     Use(visit.phase, visit.peak_bytes, record->blocks[visit.first_call]);
//   }
//
// Its figures are computed only from the events, so they check the figures that
// exact_heap counts for the main thread.
//
// Pure function, thread-safe; the result owns copies. Memory: a copy of
// `bytes`, 40 bytes for each block or mapping, and a hash entry for each that
// is live. Time: a hash look-up for each event.

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

// A place (`begin`, `end` and `peak` below) is an index in the order of events.
// kNeverEnds is the end of a block or mapping that does not end. Every visit
// ends.
inline constexpr size_t kNeverEnds = std::numeric_limits<size_t>::max();

struct RecordedBlock {
  int64_t requested_bytes = 0;
  int64_t bytes = 0;  // usable bytes; whole pages of a mapping
  size_t begin = 0;
  size_t end = kNeverEnds;
  bool is_moved = false;  // ended by realloc
};

struct RecordedVisit {
  std::string phase;  // "loop/load"
  int64_t visit = 0;  // number of the visit to this phase, from 0
  size_t begin = 0;
  size_t end = 0;
  // The blocks and mappings that began during the visit, also in its inner
  // phases.
  size_t first_call = 0;
  size_t call_count = 0;
  size_t first_mapping = 0;
  size_t mapping_count = 0;
  // The first place at which the visit held the most bytes above those that
  // were live at its beginning, and how many.
  size_t peak = 0;
  int64_t peak_bytes = 0;
  size_t mapped_peak = 0;
  int64_t mapped_peak_bytes = 0;
};

struct AllocationRecord {
  std::vector<RecordedBlock> blocks;    // one for each call, in order
  std::vector<RecordedBlock> mappings;  // one for each mapping, in order
  std::vector<RecordedVisit> visits;    // in order of their beginning
  size_t peak = 0;                      // the place of the highest live bytes
};

// Parses a record. Returns kDataLoss if it is cut short or inconsistent.
absl::StatusOr<AllocationRecord> ReadAllocationRecord(absl::string_view bytes);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REGRESSIONS_ALLOCATION_RECORD_H_
