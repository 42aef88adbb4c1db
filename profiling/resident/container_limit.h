// Recommends a memory limit for a container in which a run fits, with its
// parts.
//
//   const ContainerLimit limit = RecommendContainerLimit(
//       watch.shared_once(), watch.held_once(), peak_resident_bytes,
//       PeakHeapSumBytes(heaps));
//   // limit.bytes, whole MiB
//
// A control group counts anonymous pages, shared memory, page tables, kernel
// stacks, and the file pages that its processes were first to read. The kernel
// drops file pages before it kills, but running code must be resident. So
// everything resident counts, without the agent, and each shared page once,
// except pages of mapped data that the kernel can read again. A program that
// reads these often is slow without them, so they are told beside the limit.
// Samples from outside miss memory that exists only between two of them. So the
// limit is at least the file pages plus the highest sum of live heaps, which
// the agents know at every moment. A twentieth, or a MiB if that is more, is
// added for differences between runs.
//
// Pure; thread-safe. Source: Linux, Documentation/admin-guide/cgroup-v2.rst.

#ifndef FOOTPRINT_PROFILING_RESIDENT_CONTAINER_LIMIT_H_
#define FOOTPRINT_PROFILING_RESIDENT_CONTAINER_LIMIT_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "footprint/profiling/resident/resident_watch.h"

namespace footprint {

struct ContainerLimit {
  int64_t bytes = 0;  // 0 if nothing was seen, so no limit is recommended.
  // Bytes beyond the limit with which the files that the processes map stay in
  // memory, whole MiB. 0 if the limit has room for them, since its margin is as
  // large.
  int64_t mapped_file_bytes = 0;
  // The parts of `bytes`, before rounding.
  //
  // Resident and swapped bytes, without the agent and without pages that the
  // kernel can drop; shared pages count once.
  int64_t resident_bytes = 0;
  int64_t memory_file_bytes = 0;  // Files in memory that no process maps.
  int64_t kernel_bytes = 0;
  int64_t margin_bytes = 0;
};

// `seen` and `held` are ResidentWatch::shared_once and held_once.
// `peak_resident_bytes` is the kernel's high-water mark of the process for
// which it is highest.
ContainerLimit RecommendContainerLimit(const SharedOnce& seen,
                                       const SharedOnce& held,
                                       int64_t peak_resident_bytes,
                                       int64_t peak_heap_sum_bytes);

// The live heap of one process over time.
struct HeapOverTime {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  // The process's own live bytes at these times. Those of a fork are the bytes
  // above its parent's.
  std::vector<std::pair<int64_t, int64_t>> live_bytes_by_time_ns;
  // The process never had more resident bytes than this. Live bytes above it
  // were never touched and take no memory.
  int64_t most_bytes = 0;
};

// Returns the highest sum over all processes at any time.
int64_t PeakHeapSumBytes(const std::vector<HeapOverTime>& heaps);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RESIDENT_CONTAINER_LIMIT_H_
