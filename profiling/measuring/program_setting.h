// Name, folder and environment of a program that is measured as it is.
//
//   absl::Status status = PrepareProgram(measurement, folder);
//   const ProgramSetting setting = DescribeSetting(measurement, folder);
//   process.arguments = {setting.name};
//   process.environment = setting.environment;
//   process.working_folder = setting.working_folder;
//
// A test of Bazel's runs as `bazel test` runs it; measure_program.h says how.
//
// Thread-safe for different folders; the setting owns its texts. Memory: the
// texts. Time: that of copying the program and its files.

#ifndef FOOTPRINT_PROFILING_MEASURING_PROGRAM_SETTING_H_
#define FOOTPRINT_PROFILING_MEASURING_PROGRAM_SETTING_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "footprint/profiling/measuring/program_measurement.h"

namespace footprint {

struct ProgramSetting {
  std::string executable;  // absolute
  std::string name;        // by which the program sees itself
  std::string working_folder;
  std::vector<std::string> environment;
};

// Copies the program and its run-time files into the folder, and makes the
// folders of a test. kInvalidArgument: a file cannot be copied.
absl::Status PrepareProgram(const ProgramMeasurement& measurement,
                            const std::string& folder);

ProgramSetting DescribeSetting(const ProgramMeasurement& measurement,
                               const std::string& folder);

// Adds variables to `environment`; one that is there already is replaced.
void AddVariables(const std::vector<std::string>& variables,
                  std::vector<std::string>* environment);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_MEASURING_PROGRAM_SETTING_H_
