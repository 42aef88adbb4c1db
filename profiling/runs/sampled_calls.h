// Adds the samples that an agent took without a lock to a measured image: where
// processor time went, and who copied.
//
//   SetProcessorTime(*process.processor_time, thread_index, python,
//                    &symbolizer, &forest, image);
//   SetCopies(*process.copies, python, &symbolizer, &forest, image);
//
// `python` names the calls of Python code, and may be null.
//
// Time counts as the interpreter's if the innermost call of a sample lies in
// the interpreter's program or library (python3.11, libpython3.11.so) or is a
// call of Python code. Then the interpreter itself was working, and not a
// library that it called, such as the C library.
//
// Different addresses of a line are one call. Both functions need the image's
// stages. Thread-compatible. Owns nothing. Memory: NativeCalls's. Time: the
// symbolizer's.

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

// `thread_index` returns the index in image->threads() of a thread's number.
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
