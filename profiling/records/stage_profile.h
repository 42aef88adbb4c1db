// The stages of one process image, as values: reads the file that its agent
// wrote (stage_record.h).
//
//   absl::StatusOr<StageProfile> profile = ReadStageProfile(path, peak);
//   for (const StageProfile::Stage& stage : profile->stages) {
//     // stage.peak_live_bytes were needed on top of what was there before
//   }
//
// The process may still run and write. Plain values: the file is closed again.
// Thread-safe. Memory: 300 bytes a stage. Errors: the file's, and
// kInvalidArgument for one of another version, cut short or damaged; parents
// stand before their children, so users need not look.

#ifndef FOOTPRINT_PROFILING_RECORDS_STAGE_PROFILE_H_
#define FOOTPRINT_PROFILING_RECORDS_STAGE_PROFILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace footprint {

struct StageProfile {
  enum class Kind { kNone, kNamed, kImport, kFile };

  // All visits of one name inside one other stage.
  struct Stage {
    std::string name;
    uint32_t parent = 0;  // of `stages`; 0: none is around it
    Kind kind = Kind::kNone;
    int64_t visit_count = 0;
    int64_t begin_time_ns = 0;  // CLOCK_MONOTONIC, of the first visit
    int64_t wall_time_ns = 0;
    // High-water mark of live bytes above what was live at the visit's begin:
    // the highest of all visits'.
    int64_t peak_live_bytes = 0;
    // The same mark, what was live before included.
    int64_t peak_live_absolute_bytes = 0;
    int64_t allocated_bytes = 0;
    int64_t allocation_count = 0;
    // Live at the end less live at the start, over all visits.
    int64_t net_growth_bytes = 0;
    // A visit had not ended when the process did. If that was killed or became
    // another program (lacks_last_visit), figures are those of earlier visits,
    // but for the peak where it is the process's.
    bool was_left_open = false;
    bool lacks_last_visit = false;
    // Visits among too many at once: in no figure but times and counts.
    int64_t unmeasured_visit_count = 0;
    // A fork's child began inside of it.
    bool is_inherited = false;
  };

  // Indices are what sites and points name as stage; the first is no stage.
  std::vector<Stage> stages;
  // In words: ends without a start, stages that were left open, what found no
  // room.
  std::vector<std::string> notes;

  bool has_stages() const { return stages.size() > 1; }
};

// Which peak the process had, for stages that were open when it was killed.
struct StagePeak {
  int64_t live_bytes = 0;
  uint32_t stage = 0;
};

absl::StatusOr<StageProfile> ReadStageProfile(const std::string& path,
                                              const StagePeak& process_peak);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RECORDS_STAGE_PROFILE_H_
