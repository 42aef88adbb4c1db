// An agent's record for the program that measures its process. The process maps
// the file and keeps the heap's peaks in it up to date, so they are right
// however the process ends. It stores the totals when it exits.
//
//   auto* const record = static_cast<ProcessRecord*>(mapped);
//   if (record->magic != kRecordMagic) return Refuse();
//   // 0 if the process did not exit: it runs, was killed, or called exec.
//   const int64_t end_time_ns = record->end_time_ns.load();
//
// Each process image has a file: the child of a fork has its own, and so has
// the image that exec started in a process. WriteRecordFileName names it, in
// the folder that `kRecordFolderVariable` names. One version writes and reads
// it, on one machine.
//
// Plain memory without pointers or a destructor. It lives as long as the writer
// has the file mapped, and the file outlives the process. One process writes
// it, others read it at any time. Each member is stored by itself, by any
// thread of the writer.

#ifndef FOOTPRINT_PROFILING_RECORDS_PROCESS_RECORD_H_
#define FOOTPRINT_PROFILING_RECORDS_PROCESS_RECORD_H_

#include <atomic>
#include <cstdint>

#include "footprint/profiling/heap/published_heap.h"
#include "footprint/profiling/records/run_metric_table.h"

namespace footprint::profiling_internal {

inline constexpr char kRecordFolderVariable[] = "FOOTPRINT_MEMPROF_FOLDER";
// Mean bytes between two samples of call sites. If it is not set, no samples
// are taken.
inline constexpr char kSamplingIntervalVariable[] =
    "FOOTPRINT_MEMPROF_SAMPLING_INTERVAL";
// The ID of the program's process, if its children are not to be recorded.
inline constexpr char kOnlyProcessVariable[] = "FOOTPRINT_MEMPROF_PROCESS";
// The magic number of this layout. A reader refuses any other.
inline constexpr uint64_t kRecordMagic = 0x36306370'6d656d66;

// The beginning of `allocator` for an allocator that the program uses in front
// of the agent's, and its end for one that does not report the sizes of its
// blocks.
inline constexpr char kPrivateAllocator[] = "private in ";
inline constexpr char kSilentAllocator[] = ", which tells no sizes";

enum class ProcessEnd : int32_t {
  kNone,    // It runs, was killed, or became another program by exec.
  kExit,    // exit or the return of main
  kAtOnce,  // _exit, without destructors
};

struct ProcessRecord {
  uint64_t magic;
  int32_t process_id;
  int32_t parent_process_id;
  // 0 for the first image of the process, then 1 for each exec.
  int32_t image;
  // Not zero for the child of a fork that has not called exec.
  int32_t is_fork;
  // A time of CLOCK_MONOTONIC.
  int64_t begin_time_ns;
  std::atomic<int64_t> end_time_ns;
  std::atomic<ProcessEnd> end;
  // Not zero if operator new or delete is not libstdc++'s, so that its blocks
  // may never pass malloc, or if malloc's allocator does not report sizes.
  int32_t has_foreign_new;
  // Not zero if there is a file of sites (site_record.h).
  int32_t has_sites;
  // The number of children whose own record found no room. Each child counts
  // itself.
  std::atomic<int32_t> lost_child_count;
  // Not zero if there is a file of stages (stage_record.h).
  int32_t has_stages;
  // Bytes live when the record began: in a fork's child, what the parent had
  // allocated.
  int64_t inherited_live_bytes;
  PublishedHeap heap;
  // Totals at the end; zero before that.
#define FOOTPRINT_MEMBER(field, ...) std::atomic<int64_t> field;
  FOOTPRINT_PROCESS_METRICS(FOOTPRINT_MEMBER)
#undef FOOTPRINT_MEMBER
  // Texts end with a null and are cut if too long; a null separates arguments.
  char allocator[64];
  char executable[1024];
  int32_t command_line_size;
  char command_line[2048];
};

}  // namespace footprint::profiling_internal

// Tested by measured_process_test.

#endif  // FOOTPRINT_PROFILING_RECORDS_PROCESS_RECORD_H_
