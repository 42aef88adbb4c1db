// What a run needed, in words for a terminal.
//
//   std::cerr << MemoryReport(end);
//
// Pure; thread-safe. Memory: the text.

#ifndef FOOTPRINT_PROFILING_MEMPROF_MEMORY_REPORT_H_
#define FOOTPRINT_PROFILING_MEMPROF_MEMORY_REPORT_H_

#include <string>

#include "footprint/profiling/memprof/run_with_agent.h"

namespace footprint {

std::string MemoryReport(const AgentRunEnd& end);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_MEMPROF_MEMORY_REPORT_H_
