// What exact byte counts of this process depend on: allocator, libraries,
// compiler.
//
//   footprint::Environment environment = footprint::CurrentEnvironment();
//
// Compiler, C++ library and SIMD level are those that this function was
// compiled with, which Bazel makes those of the whole binary. Thread-safety:
// may be called from any thread.

#ifndef FOOTPRINT_PROFILING_MEMORY_ENVIRONMENT_H_
#define FOOTPRINT_PROFILING_MEMORY_ENVIRONMENT_H_

#include "footprint/profiling/memory_profile.pb.h"

namespace footprint {

Environment CurrentEnvironment();

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_MEMORY_ENVIRONMENT_H_
