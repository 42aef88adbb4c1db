// Runs a measured program, either to record its allocations or with one planted
// regression.
//
//   Producer producer{"//memo:get_benchmark", "/runfiles/get.sampler.sh"};
//   absl::StatusOr<RecordedRun> run =
//       RecordProducer(producer, "BM_Get", folder);
//   absl::StatusOr<PlantedRun> planted = RunPlanted(
//       producer, "BM_Get", planned.planted, folder);
//   if (planted->process_count < planted->profile.process_count()) ...
//
// A run takes three fresh processes, as for memory_profile. The program's
// sampler (profiling/defs.bzl) starts them in the current folder, which must be
// a folder of runfiles. A run leaves files in `folder`, which the next run
// overwrites.
//
// One thread may call it, as fresh_process.h says. Results own copies. Memory:
// the record of up to 256 MiB, and the result. Time: three times the program's.

#ifndef FOOTPRINT_GATES_REGRESSIONS_PRODUCER_RUN_H_
#define FOOTPRINT_GATES_REGRESSIONS_PRODUCER_RUN_H_

#include <string>

#include "absl/status/statusor.h"
#include "footprint/gates/regressions/allocation_record.h"
#include "footprint/profiling/regressions/planted_regression.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

struct Producer {
  std::string label;    // the program's label in its gate
  std::string sampler;  // measures it with the heap of profiling/regressions
  // Whether each benchmark can be run alone, by Google Benchmark's filter.
  bool has_filter = true;
};

struct RecordedRun {
  MemoryProfile profile;
  AllocationRecord record;
};

struct PlantedRun {
  MemoryProfile profile;
  int process_count = 0;  // processes in which the regression took effect
};

// These run the program. They return kInternal if the sampler or the program
// fails, or an old record cannot be removed; kInvalidArgument if the path of
// `folder` is too long; and else the errors of RunFreshProcess, ReplaceFile and
// ReadMemoryProfileFile. RecordProducer also returns kDataLoss if the records
// of its processes differ, are damaged or are missing.
absl::StatusOr<RecordedRun> RecordProducer(const Producer& producer,
                                           const std::string& benchmark,
                                           const std::string& folder);
absl::StatusOr<PlantedRun> RunPlanted(const Producer& producer,
                                      const std::string& benchmark,
                                      PlantedRegression planted,
                                      const std::string& folder);

}  // namespace footprint

// Tested by //gates:selftest_test.

#endif  // FOOTPRINT_GATES_REGRESSIONS_PRODUCER_RUN_H_
