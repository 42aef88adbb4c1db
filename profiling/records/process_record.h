// An agent's record for whoever measures its process: a file that the process
// maps and keeps up to date, so that it is there however the process ends.
//
//   auto* const record = static_cast<ProcessRecord*>(mapped);
//   if (record->magic != kRecordMagic) return Refuse();
//   const int64_t end_time_ns = record->end_time_ns.load();  // 0: it runs
//
// One file a process image: the child of a fork has its own, and so has the
// image that exec put in a process's place. WriteRecordFileName names it, in
// the folder that `kRecordFolderVariable` names. It is written and read on one
// machine, by one version.
//
// Plain memory: no pointer, no destructor. It lives as long as the writer has
// the file mapped, and the file outlives the process. Written by one process,
// read by others at any time; each member is stored by itself, by whichever
// thread knows it.

#ifndef FOOTPRINT_PROFILING_RECORDS_PROCESS_RECORD_H_
#define FOOTPRINT_PROFILING_RECORDS_PROCESS_RECORD_H_

#include <atomic>
#include <cstdint>

#include "footprint/profiling/heap/published_heap.h"

namespace footprint::profiling_internal {

inline constexpr char kRecordFolderVariable[] = "FOOTPRINT_MEMPROF_FOLDER";
// Mean bytes between two samples of call sites; not set: none are taken.
inline constexpr char kSamplingIntervalVariable[] =
    "FOOTPRINT_MEMPROF_SAMPLING_INTERVAL";
// The number of the program's process, where its children are not recorded.
inline constexpr char kOnlyProcessVariable[] = "FOOTPRINT_MEMPROF_PROCESS";
// The number of the layout below. A reader refuses another.
inline constexpr uint64_t kRecordMagic = 0x34306370'6d656d66;

// How the name of an allocator begins that the program has in front of the
// agent, and how one ends that does not tell how large its blocks are.
inline constexpr char kPrivateAllocator[] = "private in ";
inline constexpr char kSilentAllocator[] = ", which tells no sizes";

enum class ProcessEnd : int32_t {
  kNone,    // it runs, was killed, or became another program by exec
  kExit,    // exit or the return of main
  kAtOnce,  // _exit, without destructors
};

struct ProcessRecord {
  uint64_t magic;
  int32_t process_id;
  int32_t parent_process_id;
  // 0 for the first image of the process, then 1 for each exec.
  int32_t image;
  // The child of a fork that has not called exec.
  int32_t is_fork;
  // CLOCK_MONOTONIC.
  int64_t begin_time_ns;
  std::atomic<int64_t> end_time_ns;
  std::atomic<ProcessEnd> end;
  // operator new or delete is not libstdc++'s, so that what it hands out may
  // never pass malloc; or malloc's allocator does not tell sizes.
  int32_t has_foreign_new;
  // There is a file of sites beside (site_record.h).
  int32_t has_sites;
  // Children whose own record found no room; each counts itself.
  std::atomic<int32_t> lost_child_count;
  // There is a file of stages beside (stage_record.h).
  int32_t has_stages;
  // Live when the record began: of a fork, what the parent had allocated.
  int64_t inherited_live_bytes;
  PublishedHeap heap;
  // Totals at the end; zero before.
  std::atomic<int64_t> live_bytes;
  std::atomic<int64_t> allocated_bytes;
  std::atomic<int64_t> allocation_count;
  std::atomic<int64_t> sum_thread_peak_bytes;
  // The kernel's mark of the process.
  std::atomic<int64_t> peak_resident_bytes;
  std::atomic<int32_t> thread_count;
  std::atomic<int32_t> threads_may_overlap;
  // Ended by a null, cut off where too long; arguments are separated by nulls.
  char allocator[64];
  char executable[1024];
  int32_t command_line_size;
  char command_line[2048];
};

}  // namespace footprint::profiling_internal

// Tested by measured_process_test.

#endif  // FOOTPRINT_PROFILING_RECORDS_PROCESS_RECORD_H_
