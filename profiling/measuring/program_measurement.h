// A ProgramMeasurement says what to measure, and how to run the program.
//
//   ProgramMeasurement measurement;
//   measurement.label = "//memo:get_benchmark";
//   measurement.executable = "bazel-bin/memo/get_benchmark";
//
// Plain data, thread-compatible; owns its texts, which are all the memory.

#ifndef FOOTPRINT_PROFILING_MEASURING_PROGRAM_MEASUREMENT_H_
#define FOOTPRINT_PROFILING_MEASURING_PROGRAM_MEASUREMENT_H_

#include <csignal>
#include <string>
#include <vector>

#include "footprint/profiling/measuring/measurement_folder.h"
#include "footprint/profiling/schema/profile_merge.h"

namespace footprint {

// How Bazel would run a test.
struct TestPlace {
  std::string workspace;  // below NAME.runfiles, the folder in which it starts
  std::string path;       // below NAME.runfiles, of the test; empty: no test
};

struct ProgramMeasurement {
  std::string label;
  std::string executable;
  // The program memprof; empty: the program writes its profile by itself.
  std::string memprof;
  // If set, memprof also says which lines hold the bytes at the peak. It then
  // records each call, which takes up to ten times as long. The profile has the
  // lines only if every process gave the same.
  bool has_sites = false;
  // If set, the program is copied into its folder, as for memprof; see
  // measure_whole_process.h.
  bool is_copied = false;
  // A program that is copied finds these files below "NAME.runfiles".
  std::vector<DataFile> runfiles;
  std::vector<std::string> arguments;
  std::vector<DataFile> data;
  // Further variables, "NAME=value", which win over those that a measured
  // program has.
  std::vector<std::string> environment;
  // The place of a copied program if it is a test.
  TestPlace test;
  int process_count = kMinimumProcessCount;
  int time_limit_seconds = 300;  // of each process, with those it starts
  // A non-zero value ends the measurement. May be null.
  const volatile std::sig_atomic_t* is_cancelled = nullptr;
};

// Returns the last word of a label: the program's name in its folder.
inline std::string ProgramName(const std::string& label) {
  return label.substr(label.find_last_of(":/") + 1);
}

}  // namespace footprint

// Tested by measure_program_test.

#endif  // FOOTPRINT_PROFILING_MEASURING_PROGRAM_MEASUREMENT_H_
