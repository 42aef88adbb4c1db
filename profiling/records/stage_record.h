// The stages of one process image, as its agent keeps them in a file that it
// maps: what was named by the program, imported or read from a file, and which
// memory each of them needed.
//
//   const uint32_t count = file->stage_count.load();
//   for (uint32_t i = 1; i < count; ++i) Use(file->stages[i].name);
//
// The file is sparse; space is taken from the disk before its array grows into
// it. Written by one process, read by others at any time: a stage counts from
// the moment when `stage_count` includes it. Figures of a visit are added when
// it ends, or when the process ends in order.
//
// Plain memory: no pointer, no destructor. It lives as long as the writer has
// the file mapped, and the file outlives the process.

#ifndef FOOTPRINT_PROFILING_RECORDS_STAGE_RECORD_H_
#define FOOTPRINT_PROFILING_RECORDS_STAGE_RECORD_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace footprint::profiling_internal {

// "named": only stages that the program names; else imports and files, too.
inline constexpr char kStagesVariable[] = "FOOTPRINT_MEMPROF_STAGES";

enum class StageKind : uint32_t {
  kNone,    // outside of all stages: the first entry
  kNamed,   // by the program
  kImport,  // the outermost import of a Python module
  kFile,    // a data or model file, from open to close
};

// A stage: visits under one name inside one other stage. Peaks are the highest
// of its visits', the other figures their sum.
struct StageRecord {
  // Ended by a null; of a longer name, its end.
  char name[152];
  StageKind kind;
  uint32_t parent;  // 0: none is around it
  // CLOCK_MONOTONIC, of the first visit's begin.
  int64_t begin_time_ns;
  std::atomic<int64_t> visit_count;
  // Visits that have begun and not ended.
  std::atomic<int64_t> open_visit_count;
  // Visits among too many at once: in no other figure but times and counts.
  std::atomic<int64_t> unmeasured_visit_count;
  // Visits that were open when the process ended in order; they count as ended.
  std::atomic<int64_t> left_open_count;
  std::atomic<int64_t> wall_time_ns;
  std::atomic<int64_t> peak_live_net_bytes;
  std::atomic<int64_t> peak_live_absolute_bytes;
  std::atomic<int64_t> allocated_bytes;
  std::atomic<int64_t> allocation_count;
  std::atomic<int64_t> net_growth_bytes;
  // When the visit that began last did so.
  std::atomic<int64_t> last_begin_time_ns;
  std::atomic<int64_t> last_begin_live_bytes;
  // The process began inside of it, as a fork does: it is the parent's to end.
  uint32_t is_inherited;
  uint32_t padding;
};

inline constexpr uint32_t kMaxStages = 4096;
// The number of the layout below. A reader refuses another.
inline constexpr uint64_t kStageMagic = 0x31306567'61747366;

struct StageFile {
  uint64_t magic;
  std::atomic<uint32_t> stage_count;
  // Some stages stand together under "[...]": there were too many names, or the
  // disk was full.
  std::atomic<uint32_t> is_full;
  // Visits among too many at once; they are nowhere else.
  std::atomic<int64_t> unrecorded_visit_count;
  // Ends where nothing was open.
  std::atomic<int64_t> needless_end_count;
  // Ends of a stage that another thread began, by one that had begun none.
  std::atomic<int64_t> other_thread_end_count;
  // Ends of a stage inside of which another was open still; the first of them.
  std::atomic<int64_t> crossed_end_count;
  std::atomic<uint32_t> first_crossed_stage;
  std::atomic<uint32_t> first_stage_inside;
  alignas(4096) StageRecord stages[kMaxStages];
};

}  // namespace footprint::profiling_internal

// Tested by read_stages_test.

#endif  // FOOTPRINT_PROFILING_RECORDS_STAGE_RECORD_H_
