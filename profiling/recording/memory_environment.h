// The environment on which exact byte counts of this process depend: allocator,
// libraries, compiler.
//
//   footprint::Environment environment = footprint::CurrentEnvironment();
//
// Compiler, C++ library and SIMD level are those that this function was
// compiled with, which Bazel makes those of the whole binary. The result owns
// copies of all texts. Thread-safety: may be called from any thread, while none
// changes the environment variables. Memory: its texts.

#ifndef FOOTPRINT_PROFILING_RECORDING_MEMORY_ENVIRONMENT_H_
#define FOOTPRINT_PROFILING_RECORDING_MEMORY_ENVIRONMENT_H_

#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

Environment CurrentEnvironment();

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RECORDING_MEMORY_ENVIRONMENT_H_
