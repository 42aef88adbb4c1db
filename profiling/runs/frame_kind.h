// Finds whether a native function allocates for its caller.
//
//   NativeFrameKind("operator new(unsigned long)", "/usr/bin/train");
//                                                           // ALLOCATOR
//   NativeFrameKind("fopen", "/lib/x86_64-linux-gnu/libc.so.6");  // C_LIBRARY
//   NativeFrameKind("Fit(Matrix const&)", "/usr/bin/train");      // NATIVE
//
// It uses the demangled name and the object's file. Allocators are malloc and
// related functions, functions that libraries put around them, operator new,
// and the standard library. Pure; thread-safe.

#ifndef FOOTPRINT_PROFILING_RUNS_FRAME_KIND_H_
#define FOOTPRINT_PROFILING_RUNS_FRAME_KIND_H_

#include "absl/strings/string_view.h"
#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

CodeFrame::Kind NativeFrameKind(absl::string_view function,
                                absl::string_view module);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_FRAME_KIND_H_
