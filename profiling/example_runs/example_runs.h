// Runs for tests of reports and pages.
//
//   const std::string html = RunPage(FullRun());
//
// Pure, thread-safe. All are accepted by CheckMeasuredRun
// (measured_run_file.h).

#ifndef FOOTPRINT_PROFILING_EXAMPLE_RUNS_EXAMPLE_RUNS_H_
#define FOOTPRINT_PROFILING_EXAMPLE_RUNS_EXAMPLE_RUNS_H_

#include <cstdint>
#include <string>

#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

// A Python program with a child, in which every part of the schema has figures;
// its largest process had 12 MiB live at its peak.
MeasuredRun FullRun();

// The same, later: some places need more, some less, by figures that are sure
// or not.
MeasuredRun FullRunLater();

// The full run, in which every text is `text`.
MeasuredRun RunNamed(const std::string& text);

// No processes: main calls Fit, which has a container allocate; the calls are
// 1 main, 2 Fit, 3 an interpreter, 4 and 5 allocator.
MeasuredRun NestedRun();

// `site_count` stacks, 10 to 40 calls deep, in 2,000 functions with the names
// of C++ templates.
MeasuredRun LargeRun(int site_count, uint64_t seed);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_EXAMPLE_RUNS_EXAMPLE_RUNS_H_
