// Prepares a program that is measured unchanged: copies it, and chooses its
// name, folder and environment.
//
//   absl::Status status = PrepareProgram(measurement, folder);
//   const ProgramSetting setting = DescribeSetting(measurement, folder);
//   process.arguments = {setting.name};
//   process.environment = setting.environment;
//   process.working_folder = setting.working_folder;
//
// A Bazel test gets the folders and variables that `bazel test` gives it;
// measure_program.h says which.
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
  std::string name;        // its argv[0]
  std::string working_folder;
  std::vector<std::string> environment;
};

// Copies the program and its run-time files into the folder, and makes the
// folders of a test. Returns kInvalidArgument if a file cannot be copied or a
// folder cannot be made.
absl::Status PrepareProgram(const ProgramMeasurement& measurement,
                            const std::string& folder);

// Returns how to start the program that PrepareProgram has put into `folder`.
// Reads and changes no file.
ProgramSetting DescribeSetting(const ProgramMeasurement& measurement,
                               const std::string& folder);

// Adds variables to `environment`, and replaces those that it already has. Each
// must be "NAME=value": a text without "=" removes all others.
void AddVariables(const std::vector<std::string>& variables,
                  std::vector<std::string>* environment);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_MEASURING_PROGRAM_SETTING_H_
