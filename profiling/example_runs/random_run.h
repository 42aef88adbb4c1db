// Makes runs of every shape for property tests: they are consistent and
// otherwise random.
//
//   RandomSequence random(seed);
//   const MeasuredRun run = RandomRun(&random);
//
// The bytes that a process's sites have at the peak add up to its peak, and the
// timeline contains the peak. Pure except that it advances `random`;
// thread-safe if each thread has its own `random`. Memory: some hundred KiB.

#ifndef FOOTPRINT_PROFILING_EXAMPLE_RUNS_RANDOM_RUN_H_
#define FOOTPRINT_PROFILING_EXAMPLE_RUNS_RANDOM_RUN_H_

#include "footprint/base/random/random_sequence.h"
#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

MeasuredRun RandomRun(RandomSequence* random);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_EXAMPLE_RUNS_RANDOM_RUN_H_
