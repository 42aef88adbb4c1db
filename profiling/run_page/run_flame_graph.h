// Makes a flame graph of bounded size from the calls of a run.
//
//   FlameGraph graph = RunFlameGraph(run, /*most_bytes=*/120'000);
//   page.AddFlameGraph(graph);
//
// A run of several processes has one outermost call for each command line, with
// its functions below. Calls of a function from different lines of another
// function are merged. The measures are bytes at the peak of each process,
// allocated bytes and, if the run has them, bytes left at exit, copies,
// processor time, and the live bytes at moments of the largest process. Calls
// that are too small for the bound are merged into "others", so every measure
// has the same sum as in the run's sites.
//
// Pure; thread-safe. Memory: some 20 bytes a call, and 150 a visible call.
// Time: linear in calls and sites.

#ifndef FOOTPRINT_PROFILING_RUN_PAGE_RUN_FLAME_GRAPH_H_
#define FOOTPRINT_PROFILING_RUN_PAGE_RUN_FLAME_GRAPH_H_

#include <cstddef>

#include "footprint/base/page/flame_graph.h"
#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

// Says which functions a graph shows: only Python functions, which its users
// know, or also native ones of the interpreter and of libraries.
enum class FlameFrames { kPython, kAll };

// Returns whether the run has calls of Python.
bool HasPythonFrames(const MeasuredRun& run);

// `most_bytes` is the approximate length of the graph on a page. With kPython,
// bytes that native code allocated count for the Python function that led to
// it; a process without calls of Python still shows its native functions.
FlameGraph RunFlameGraph(const MeasuredRun& run, size_t most_bytes,
                         FlameFrames frames = FlameFrames::kAll);

// Compares the calls of two runs by their peak and volume.
FlameGraph ComparisonFlameGraph(const MeasuredRun& before,
                                const MeasuredRun& after, size_t most_bytes);

}  // namespace footprint

// Tested by merged_calls_test.

#endif  // FOOTPRINT_PROFILING_RUN_PAGE_RUN_FLAME_GRAPH_H_
