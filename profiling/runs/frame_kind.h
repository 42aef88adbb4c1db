// Finds whether a native function allocates for its caller.
//
//   NativeFrameKind("operator new(unsigned long)");  // ALLOCATOR
//   NativeFrameKind("Fit(Matrix const&)");           // NATIVE
//
// It uses the demangled name. Allocators are malloc and related functions,
// functions that libraries put around them, operator new, and the standard
// library. Pure; thread-safe.

#ifndef FOOTPRINT_PROFILING_RUNS_FRAME_KIND_H_
#define FOOTPRINT_PROFILING_RUNS_FRAME_KIND_H_

#include "absl/strings/string_view.h"
#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

CodeFrame::Kind NativeFrameKind(absl::string_view function);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_FRAME_KIND_H_
