// The memory limit of a container in which a run has room, and why.
//
//   const ContainerLimit limit = RecommendContainerLimit(watch.shared_once(),
//                                                        peak_resident_bytes);
//   // limit.bytes, whole MiB
//
// A control group counts anonymous pages, shared memory and swap's return,
// page tables, the kernel's stacks and the file pages that its processes were
// first to read. The last the kernel gives up before it kills, but code that
// runs must be there: so all that was resident counts, each shared page once,
// without the agent. A twentieth is added for what differs between runs.
//
// Pure; thread-safe. Source: Linux, Documentation/admin-guide/cgroup-v2.rst.

#ifndef FOOTPRINT_PROFILING_RESIDENT_CONTAINER_LIMIT_H_
#define FOOTPRINT_PROFILING_RESIDENT_CONTAINER_LIMIT_H_

#include <cstdint>

#include "footprint/profiling/resident/resident_watch.h"

namespace footprint {

struct ContainerLimit {
  int64_t bytes = 0;  // 0: nothing was seen, so nothing is recommended
  // The parts, before the rounding.
  int64_t resident_bytes = 0;  // without the agent, shared pages once
  int64_t kernel_bytes = 0;
  int64_t margin_bytes = 0;
};

// `peak_resident_bytes`: of the sum, as exactly as it is known, such as the
// kernel's own mark of the only process; not below what was seen.
ContainerLimit RecommendContainerLimit(const SharedOnce& seen,
                                       int64_t peak_resident_bytes);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RESIDENT_CONTAINER_LIMIT_H_
