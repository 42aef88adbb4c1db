// The tool behind the rule `memory_profile`: measures a program and writes its
// profile and samples.
//
//   profile_runner --label=//package:target --output=x.profile.binpb
//       --samples_output=x.samples.binpb [--process_count=3]
//       [--timeout_seconds=300] [--data=PATH [--as=NAME]]... -- PROGRAM
//       ARGUMENT...
//
// A program that fails gives a profile that says so, and exit status 0: it is
// the gate that reports it. Exit status 2: the flags are wrong, or the outputs
// cannot be written; 130: cancelled.

#include <csignal>
#include <iostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "footprint/profiling/measuring/measure_program.h"
#include "footprint/profiling/schema/memory_profile_file.h"

namespace footprint {
namespace {

volatile std::sig_atomic_t is_cancelled = 0;

void Cancel(int) { is_cancelled = 1; }

struct RunnerFlags {
  ProgramMeasurement measurement;
  std::string output;
  std::string samples_output;
};

absl::Status SetNumber(const std::string& name, const std::string& value,
                       int* number) {
  if (absl::SimpleAtoi(value, number)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--", name, "=", value, " must be a whole number"));
}

absl::Status SetFlag(const std::string& name, const std::string& value,
                     RunnerFlags* flags) {
  ProgramMeasurement& measurement = flags->measurement;
  if (name == "process_count") {
    return SetNumber(name, value, &measurement.process_count);
  }
  if (name == "timeout_seconds") {
    return SetNumber(name, value, &measurement.time_limit_seconds);
  }
  if (name == "label") {
    measurement.label = value;
  } else if (name == "output") {
    flags->output = value;
  } else if (name == "samples_output") {
    flags->samples_output = value;
  } else if (name == "data") {
    measurement.data.push_back({value, value});
  } else if (name == "as" && !measurement.data.empty()) {
    measurement.data.back().name = value;
  } else {
    return absl::InvalidArgumentError(absl::StrCat("unknown flag --", name));
  }
  return absl::OkStatus();
}

absl::StatusOr<RunnerFlags> ParseFlags(
    const std::vector<std::string>& arguments) {
  RunnerFlags flags;
  size_t next = 0;
  for (; next < arguments.size() && arguments[next] != "--"; ++next) {
    const std::string& argument = arguments[next];
    const size_t equals = argument.find('=');
    if (!absl::StartsWith(argument, "--") || equals == std::string::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", argument, "' is not like --name=value"));
    }
    absl::Status status = SetFlag(argument.substr(2, equals - 2),
                                  argument.substr(equals + 1), &flags);
    if (!status.ok()) return status;
  }
  if (next + 1 >= arguments.size()) {
    return absl::InvalidArgumentError("no program after --");
  }
  if (flags.measurement.label.empty() || flags.output.empty() ||
      flags.samples_output.empty()) {
    return absl::InvalidArgumentError(
        "--label=, --output= and --samples_output= are needed");
  }
  flags.measurement.executable = arguments[next + 1];
  flags.measurement.arguments.assign(arguments.begin() + next + 2,
                                     arguments.end());
  flags.measurement.is_cancelled = &is_cancelled;
  return flags;
}

void CatchCancellation() {
  struct sigaction action = {};
  action.sa_handler = Cancel;
  for (int number : {SIGHUP, SIGINT, SIGTERM}) {
    sigaction(number, &action, nullptr);
  }
}

absl::Status Run(const std::vector<std::string>& arguments) {
  absl::StatusOr<RunnerFlags> flags = ParseFlags(arguments);
  if (!flags.ok()) return flags.status();
  CatchCancellation();
  absl::StatusOr<MemoryMeasurement> measured =
      MeasureProgram(flags->measurement);
  if (!measured.ok()) return measured.status();
  absl::Status status =
      WriteMemoryProfileFile(measured->profile, flags->output);
  if (!status.ok()) return status;
  return WriteMemorySamplesFile(measured->samples, flags->samples_output);
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  const absl::Status status =
      footprint::Run(std::vector<std::string>(argv + 1, argv + argc));
  if (status.ok()) return 0;
  std::cerr << "profile_runner: " << std::string(status.message()) << "\n";
  return status.code() == absl::StatusCode::kCancelled ? 130 : 2;
}
