// The memory limit of a container in which a run has room, and why.
//
//   const ContainerLimit limit = RecommendContainerLimit(
//       watch.shared_once(), peak_resident_bytes, PeakHeapSumBytes(heaps));
//   // limit.bytes, whole MiB
//
// A control group counts anonymous pages, shared memory, page tables, the
// kernel's stacks and the file pages that its processes were first to read. The
// last the kernel gives up before it kills, but code that runs must be there:
// so all that was resident counts, each shared page once, without the agent.
// Looks from outside miss what comes and goes between two of them: so it is no
// less than the files' pages with the highest sum of live heaps, which the
// agents know at every moment. A twentieth is added for what differs between
// runs.
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
  int64_t bytes = 0;  // 0: nothing was seen, so nothing is recommended
  // The parts, before the rounding.
  int64_t resident_bytes = 0;     // without the agent, shared pages once
  int64_t memory_file_bytes = 0;  // files in memory that nobody has mapped
  int64_t kernel_bytes = 0;
  int64_t margin_bytes = 0;
};

// `peak_resident_bytes`: the kernel's own mark of the process whose mark is
// highest.
ContainerLimit RecommendContainerLimit(const SharedOnce& seen,
                                       int64_t peak_resident_bytes,
                                       int64_t peak_heap_sum_bytes);

// The live heap of one process over time.
struct HeapOverTime {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  // The process itself had so much live at these times; a fork's counts are
  // those beyond its parent's.
  std::vector<std::pair<int64_t, int64_t>> live_bytes_by_time_ns;
  // It never had more resident than that; what is live and was never touched
  // takes no memory.
  int64_t most_bytes = 0;
};

// Returns the highest sum that all processes have at any time.
int64_t PeakHeapSumBytes(const std::vector<HeapOverTime>& heaps);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RESIDENT_CONTAINER_LIMIT_H_
