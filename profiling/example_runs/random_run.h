// Runs of every shape, for property tests: consistent, and otherwise random.
//
//   RandomSequence random(seed);
//   const MeasuredRun run = RandomRun(&random);
//
// The sites of a process add up to its peak at the peak, and the timeline holds
// the peak. Pure but for `random`, which goes on; thread-safe for different
// ones. Memory: some hundred KiB.

#ifndef FOOTPRINT_PROFILING_EXAMPLE_RUNS_RANDOM_RUN_H_
#define FOOTPRINT_PROFILING_EXAMPLE_RUNS_RANDOM_RUN_H_

#include "footprint/base/random/random_sequence.h"
#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

MeasuredRun RandomRun(RandomSequence* random);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_EXAMPLE_RUNS_RANDOM_RUN_H_
