// Makes runs for tests of reports and pages.
//
//   const std::string html = RunPage(FullRun());
//
// Pure, thread-safe. CheckMeasuredRun (measured_run_file.h) accepts all of
// them.

#ifndef FOOTPRINT_PROFILING_EXAMPLE_RUNS_EXAMPLE_RUNS_H_
#define FOOTPRINT_PROFILING_EXAMPLE_RUNS_EXAMPLE_RUNS_H_

#include <cstdint>
#include <string>

#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

// Returns the run of a Python program with a child, in which most parts of the
// schema have figures; its largest process had 12 MiB live at its peak.
MeasuredRun FullRun();

// Returns a later run of the same program: some places need more and some less,
// and only some of the differences are certain.
MeasuredRun FullRunLater();

// Returns FullRun() with `text` in place of every text except the allocators of
// its processes.
MeasuredRun RunNamed(const std::string& text);

// Returns a run without processes and with one stack: call 1 is main, 2 is Fit,
// 3 is a function of an interpreter, and 4 and 5 are a container and operator
// new.
MeasuredRun NestedRun();

// Returns a run with `site_count` stacks, 1 to 31 calls deep, in 2,000
// functions with the names of C++ templates.
MeasuredRun LargeRun(int site_count, uint64_t seed);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_EXAMPLE_RUNS_EXAMPLE_RUNS_H_
