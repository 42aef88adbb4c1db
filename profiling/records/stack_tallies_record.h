// Samples, added up by stack of calls, thread and stage, as an agent keeps them
// in a file that it maps. They show where processor time went, or who copied.
//
//   const uint32_t count = file->tally_count.load();
//   for (uint32_t i = 1; i < count; ++i) Use(file->tallies[i].amounts);
//
// All threads of one process write it without a lock, also in signal handlers;
// others read it at any time. An array's count includes an entry before its
// members are written, so for a moment each of them may be zero. The first
// tally and the first node stand for no entry.
//
// Plain memory without pointers or a destructor. It lives as long as the writer
// has the file mapped, and the file outlives the process.

#ifndef FOOTPRINT_PROFILING_RECORDS_STACK_TALLIES_RECORD_H_
#define FOOTPRINT_PROFILING_RECORDS_STACK_TALLIES_RECORD_H_

#include <atomic>
#include <cstdint>

#include "footprint/profiling/records/call_tree_record.h"

namespace footprint::profiling_internal {

// Nanoseconds of processor time between two samples of a thread. If it is not
// set, no samples are taken.
inline constexpr char kProcessorIntervalVariable[] =
    "FOOTPRINT_MEMPROF_PROCESSOR_INTERVAL";
// Bytes between two samples of copies. If it is not set, no samples are taken.
inline constexpr char kCopyIntervalVariable[] =
    "FOOTPRINT_MEMPROF_COPY_INTERVAL";
// The parts of the records' file names that say what they hold.
inline constexpr char kProcessorTimeContent[] = "processor_time";
inline constexpr char kCopiesContent[] = "copies";

// The number of amounts in a tally. The sampler defines what they mean.
inline constexpr int kTallyAmounts = 2;

struct StackTally {
  uint32_t node;
  uint32_t thread;
  uint32_t stage;
  // The next entry with the same hash, or 0 after the last.
  uint32_t next;
  std::atomic<int64_t> sample_count;
  std::atomic<int64_t> amounts[kTallyAmounts];
  // The variance of the first amount; 0 if it is exact.
  std::atomic<double> variance;
};

inline constexpr uint32_t kMaxStackTallies = uint32_t{1} << 20;
inline constexpr uint32_t kNodeBuckets = 16384;
inline constexpr uint32_t kTallyBuckets = 8192;
// The magic number of this layout. A reader refuses any other.
inline constexpr uint64_t kStackTalliesMagic = 0x31307365'696c6c74;

struct StackTalliesFile {
  uint64_t magic;
  // The mean distance of two samples, in nanoseconds of processor time or in
  // copied bytes.
  int64_t sampling_interval;
  std::atomic<uint32_t> tally_count;
  // The number of threads that could not be sampled.
  std::atomic<uint32_t> missed_thread_count;
  // The first entry of each hash bucket, or 0.
  std::atomic<uint32_t> first_nodes[kNodeBuckets];
  std::atomic<uint32_t> first_tallies[kTallyBuckets];
  alignas(4096) StackTally tallies[kMaxStackTallies];
  // The next node with the same hash.
  alignas(4096) uint32_t next_nodes[kMaxCallNodes];
  CallTreeRecord tree;
};

}  // namespace footprint::profiling_internal

// Tested by stack_tallies_test.

#endif  // FOOTPRINT_PROFILING_RECORDS_STACK_TALLIES_RECORD_H_
