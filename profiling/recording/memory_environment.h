// Returns the environment that exact byte counts of this process depend on:
// allocator, libraries, compiler.
//
//   footprint::Environment environment = footprint::CurrentEnvironment();
//
// Compiler, C++ library and SIMD level are those that this function was
// compiled with; Bazel uses them for the whole binary. The result owns copies
// of all texts. Thread-safety: any thread may call it while no thread changes
// the environment variables. Memory: its texts.

#ifndef FOOTPRINT_PROFILING_RECORDING_MEMORY_ENVIRONMENT_H_
#define FOOTPRINT_PROFILING_RECORDING_MEMORY_ENVIRONMENT_H_

#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

Environment CurrentEnvironment();

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RECORDING_MEMORY_ENVIRONMENT_H_
