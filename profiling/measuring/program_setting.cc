#include "footprint/profiling/measuring/program_setting.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/profiling/measuring/measurement_folder.h"

namespace footprint {
namespace {

namespace fs = std::filesystem;

// The folders of a test, below that of the measurement.
constexpr char kTestTemporary[] = "_tmp";
constexpr char kTestOutputs[] = "test.outputs";

// Returns the folder of the run-time files.
std::string RunfilesFolder(const ProgramMeasurement& measurement,
                           const std::string& folder) {
  return absl::StrCat(folder, "/", ProgramName(measurement.label), ".runfiles");
}

bool IsTest(const ProgramMeasurement& measurement) {
  return !measurement.test.path.empty();
}

// The variables of a test that name folders and files.
std::vector<std::string> TestFolders(const std::string& folder,
                                     const std::string& runfiles,
                                     const std::string& workspace) {
  return {
      absl::StrCat("TEST_SRCDIR=", runfiles),
      absl::StrCat("JAVA_RUNFILES=", runfiles),
      absl::StrCat("PYTHON_RUNFILES=", runfiles),
      absl::StrCat("TEST_WORKSPACE=", workspace),
      absl::StrCat("TEST_TMPDIR=", folder, "/", kTestTemporary),
      absl::StrCat("GTEST_TMP_DIR=", folder, "/", kTestTemporary),
      absl::StrCat("TEST_UNDECLARED_OUTPUTS_DIR=", folder, "/", kTestOutputs),
      absl::StrCat("XML_OUTPUT_FILE=", folder, "/test.xml")};
}

}  // namespace

void AddVariables(const std::vector<std::string>& variables,
                  std::vector<std::string>* environment) {
  for (const std::string& variable : variables) {
    const std::string name = variable.substr(0, variable.find('=') + 1);
    environment->erase(std::remove_if(environment->begin(), environment->end(),
                                      [&name](const std::string& other) {
                                        return absl::StartsWith(other, name);
                                      }),
                       environment->end());
    environment->push_back(variable);
  }
}

absl::Status PrepareProgram(const ProgramMeasurement& measurement,
                            const std::string& folder) {
  const absl::Status status =
      CopyProgram(measurement.executable, ProgramName(measurement.label),
                  measurement.runfiles, folder);
  if (!status.ok() || !IsTest(measurement)) return status;
  const std::string workspace = absl::StrCat(
      RunfilesFolder(measurement, folder), "/", measurement.test.workspace);
  std::error_code error;
  for (const std::string& made :
       {absl::StrCat(folder, "/", kTestTemporary),
        absl::StrCat(folder, "/", kTestOutputs), workspace}) {
    fs::create_directories(made, error);
    if (error) {
      return absl::InvalidArgumentError(absl::StrCat(
          made, ": cannot be made for the test: ", error.message()));
    }
  }
  return absl::OkStatus();
}

ProgramSetting DescribeSetting(const ProgramMeasurement& measurement,
                               const std::string& folder) {
  const std::string name = ProgramName(measurement.label);
  const std::string runfiles = RunfilesFolder(measurement, folder);
  ProgramSetting setting;
  setting.environment = {"PATH=/usr/bin:/bin", "LANG=C", "TZ=UTC",
                         absl::StrCat("RUNFILES_DIR=", runfiles)};
  if (IsTest(measurement)) {
    setting.executable = absl::StrCat(runfiles, "/", measurement.test.path);
    setting.name = setting.executable;
    setting.working_folder =
        absl::StrCat(runfiles, "/", measurement.test.workspace);
    AddVariables(TestFolders(folder, runfiles, measurement.test.workspace),
                 &setting.environment);
  } else {
    setting.executable = absl::StrCat(folder, "/", name);
    setting.name = absl::StrCat("./", name);
    setting.working_folder = folder;
  }
  AddVariables(measurement.environment, &setting.environment);
  return setting;
}

}  // namespace footprint
