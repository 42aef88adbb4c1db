// The stages of one process image, as its agent keeps them in a file that it
// maps. A stage is a name that the program set, an import or a data file; the
// record says which memory each needed.
//
//   const uint32_t count = file->stage_count.load();
//   for (uint32_t i = 1; i < count; ++i) Use(file->stages[i].name);
//
// The file is sparse; the agent reserves space on the disk before its array
// grows into it. One process writes the file, and others read it at any time. A
// stage is valid as soon as `stage_count` includes it. A visit's figures are
// added when it ends, or when the process ends in order.
//
// Plain memory without pointers or a destructor. It lives as long as the writer
// has the file mapped, and the file outlives the process.

#ifndef FOOTPRINT_PROFILING_RECORDS_STAGE_RECORD_H_
#define FOOTPRINT_PROFILING_RECORDS_STAGE_RECORD_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "footprint/profiling/records/run_metric_table.h"

namespace footprint::profiling_internal {

// "named" records only the stages that the program names. Otherwise imports and
// files are also stages.
inline constexpr char kStagesVariable[] = "FOOTPRINT_MEMPROF_STAGES";

enum class StageKind : uint32_t {
  kNone,    // Outside all stages: the first entry.
  kNamed,   // Named by the program.
  kImport,  // The outermost import of a Python module.
  kFile,    // A data or model file, from open to close.
};

// A stage: the visits under one name inside one other stage. Each peak is the
// highest of its visits; the other figures are their sums.
struct StageRecord {
  // Ends with a null. Of a longer name, only its end is kept.
  char name[152];
  StageKind kind;
  uint32_t parent;  // 0 if no stage is around it.
  // When the first visit began, by CLOCK_MONOTONIC.
  int64_t begin_time_ns;
  std::atomic<int64_t> visit_count;
  // Visits that have begun and not ended.
  std::atomic<int64_t> open_visit_count;
  // Visits that were not measured because too many were open; they count only
  // in times and counts.
  std::atomic<int64_t> unmeasured_visit_count;
  // Visits that were open when the process ended in order; their figures count.
  std::atomic<int64_t> left_open_count;
  std::atomic<int64_t> wall_time_ns;
#define FOOTPRINT_MEMBER(field, ...) std::atomic<int64_t> field;
  FOOTPRINT_STAGE_METRICS(FOOTPRINT_MEMBER)
#undef FOOTPRINT_MEMBER
  // When the last visit began, and the bytes that were live then.
  std::atomic<int64_t> last_begin_time_ns;
  std::atomic<int64_t> last_begin_live_bytes;
  // Not zero if the process began inside the stage, as a fork's child does.
  // Then the parent ends it.
  uint32_t is_inherited;
  uint32_t padding;
};

inline constexpr uint32_t kMaxStages = 4096;
// The magic number of this layout. A reader refuses any other.
inline constexpr uint64_t kStageMagic = 0x31306567'61747366;

struct StageFile {
  uint64_t magic;
  std::atomic<uint32_t> stage_count;
  // Not zero if some stages are merged under "[more stages]", "[more imports]"
  // or "[more files]", because there were too many names or the disk was full.
  std::atomic<uint32_t> is_full;
  // Visits that were not recorded, because too many were open or there was no
  // room for their stage.
  std::atomic<int64_t> unrecorded_visit_count;
  // Ends of a visit that was not open, or ends while no stage was open.
  std::atomic<int64_t> needless_end_count;
  // Ends of another thread's stage, by a thread that had none open.
  std::atomic<int64_t> other_thread_end_count;
  // Ends of a stage while another one inside it was open, and the first such
  // pair.
  std::atomic<int64_t> crossed_end_count;
  std::atomic<uint32_t> first_crossed_stage;
  std::atomic<uint32_t> first_stage_inside;
  alignas(4096) StageRecord stages[kMaxStages];
};

}  // namespace footprint::profiling_internal

// Tested by read_stages_test.

#endif  // FOOTPRINT_PROFILING_RECORDS_STAGE_RECORD_H_
