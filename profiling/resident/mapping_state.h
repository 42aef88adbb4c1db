// Reads the mappings of a measured process and its heap's live bytes, as its
// agent published them last.
//
//   absl::StatusOr<MappingState> state =
//       ReadMappingState("/tmp/memprof-1/1234.0.mappings");
//
// The process may run and write meanwhile. The result is plain values, and the
// file is closed again. Thread-safe. Memory: at most 240 KiB while it reads.
// Errors: those of ReadWholeFile, kInvalidArgument for another version's file,
// and kUnavailable if it changes faster than it can be read.

#ifndef FOOTPRINT_PROFILING_RESIDENT_MAPPING_STATE_H_
#define FOOTPRINT_PROFILING_RESIDENT_MAPPING_STATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/profiling/resident/resident_set.h"

namespace footprint {

struct MappingState {
  KnownRanges ranges;
  // True if some of the program's ranges found no room; they count as the
  // heap's.
  bool is_cut = false;
  // The heap's live bytes; 0 if they were never published.
  int64_t live_bytes = 0;
};

absl::StatusOr<MappingState> ReadMappingState(const std::string& path);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RESIDENT_MAPPING_STATE_H_
