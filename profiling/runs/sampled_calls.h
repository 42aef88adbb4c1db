// The samples that an agent took without a lock, as parts of a measured image:
// where processor time went, and who copied.
//
//   SetProcessorTime(*process.processor_time, thread_index, python,
//                    &symbolizer, &forest, image);
//   SetCopies(*process.copies, python, &symbolizer, &forest, image);
//
// `python` names the calls of Python code, and may be null.
//
// Time counts as the interpreter's where the innermost call of a sample lies in
// its program or library (python3.11, libpython3.11.so) or is Python's own: the
// interpreter was at work itself, and not a library that it called, the C
// library included.
//
// Different addresses of a line are one call. Thread-compatible. Owns nothing.
// Memory: that of NativeCalls. Time: the symbolizer's.

#ifndef FOOTPRINT_PROFILING_RUNS_SAMPLED_CALLS_H_
#define FOOTPRINT_PROFILING_RUNS_SAMPLED_CALLS_H_

#include <cstdint>
#include <functional>

#include "absl/strings/string_view.h"
#include "footprint/profiling/records/measured_run.pb.h"
#include "footprint/profiling/records/python_codes.h"
#include "footprint/profiling/records/stack_tallies.h"
#include "footprint/profiling/runs/call_forest.h"
#include "footprint/profiling/symbols/symbolizer.h"

namespace footprint {

// `thread_index` gives the index in image->threads() of a thread's number. The
// image's stages must be there already.
void SetProcessorTime(
    const StackTallies& tallies,
    const std::function<uint32_t(uint32_t number)>& thread_index,
    const PythonCodes* python, Symbolizer* symbolizer, CallForest* forest,
    MeasuredImage* image);

void SetCopies(const StackTallies& tallies, const PythonCodes* python,
               Symbolizer* symbolizer, CallForest* forest,
               MeasuredImage* image);

// Returns whether the object of that path is Python's interpreter.
bool IsInterpreterPath(absl::string_view path);

}  // namespace footprint

// Tested by //profiling/memprof:sampling_test.

#endif  // FOOTPRINT_PROFILING_RUNS_SAMPLED_CALLS_H_
