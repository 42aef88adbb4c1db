// The tool behind the rule `memory_profile`: measures a program and writes its
// profile and samples.
//
//   profile_runner --label=//package:target --output=x.profile.binpb
//       --samples_output=x.samples.binpb [--process_count=3]
//       [--timeout_seconds=300] [--data=PATH [--as=NAME]]...
//       [--memprof=PATH [--sites=yes] [--runfile=PATH --as=NAME]...]
//       [--whole_process=NAME [--copy_program=yes]]
//       [--environment=NAME=VALUE]... [--test_workspace=NAME --test_path=PATH]
//       [--argument=ARGUMENT]... -- PROGRAM ARGUMENT...
//
// Each --argument is added after those behind the program. A flag that is given
// twice has its last value.
//
// If PROGRAM is a test of Bazel's, --test_path is its path below its runfiles,
// and it runs in the folder of that workspace there.
//
// With --whole_process the program writes no profile: its whole process is
// measured from outside, in runs without any of our flags.
//
// A program that fails gives a profile that says so, and exit status 0, because
// the gate reports the failure. Exit status 2 means that the flags are wrong or
// the outputs cannot be written, and 130 that the run was cancelled.

#include <csignal>
#include <cstddef>
#include <iostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/text/take_flags.h"
#include "footprint/profiling/measuring/measure_program.h"
#include "footprint/profiling/measuring/measure_whole_process.h"
#include "footprint/profiling/measuring/program_measurement.h"
#include "footprint/profiling/schema/memory_profile_file.h"

namespace footprint {
namespace {

volatile std::sig_atomic_t is_cancelled = 0;

void Cancel(int) { is_cancelled = 1; }

struct RunnerFlags {
  ProgramMeasurement measurement;
  std::string output;
  std::string samples_output;
  std::string whole_process;  // The name of the figures; empty if not wanted.
};

absl::Status SetNumber(absl::string_view name, absl::string_view value,
                       int* number) {
  if (absl::SimpleAtoi(value, number)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, "=", value, " must be a whole number"));
}

absl::Status SetYes(const char* name, absl::string_view value, bool* flag) {
  *flag = value == "yes";
  return *flag ? absl::OkStatus()
               : absl::InvalidArgumentError(absl::StrCat(name, " is =yes"));
}

absl::Status SetText(absl::string_view value, std::string* text) {
  *text = std::string(value);
  return absl::OkStatus();
}

absl::Status AddFile(absl::string_view path, std::vector<DataFile>* files,
                     std::vector<DataFile>** last) {
  files->push_back({std::string(path), std::string(path)});
  *last = files;
  return absl::OkStatus();
}

// `last` is the list, of data or runfiles, to which a file was added last.
absl::Status NameFile(absl::string_view name, std::vector<DataFile>* last) {
  if (last == nullptr) {
    return absl::InvalidArgumentError(
        "--as needs a --data or --runfile before it");
  }
  return SetText(name, &last->back().name);
}

absl::Status AddVariable(absl::string_view variable,
                         ProgramMeasurement* measurement) {
  const size_t equals = variable.find('=');
  if (equals == 0 || equals == absl::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("--environment=", variable, " is no NAME=VALUE"));
  }
  measurement->environment.emplace_back(variable);
  return absl::OkStatus();
}

// Takes the flags out of the command line. --as names the file that the flag
// before it added.
absl::Status TakeRunnerFlags(int* argc, char** argv, RunnerFlags* flags) {
  using Text = absl::string_view;
  ProgramMeasurement& measurement = flags->measurement;
  std::vector<DataFile>* last = nullptr;
  return TakeFlags(
      argc, argv,
      {{"--process_count",
        [&](Text value) {
          return SetNumber("--process_count", value,
                           &measurement.process_count);
        }},
       {"--timeout_seconds",
        [&](Text value) {
          return SetNumber("--timeout_seconds", value,
                           &measurement.time_limit_seconds);
        }},
       {"--label",
        [&](Text value) { return SetText(value, &measurement.label); }},
       {"--output", [&](Text value) { return SetText(value, &flags->output); }},
       {"--samples_output",
        [&](Text value) { return SetText(value, &flags->samples_output); }},
       {"--argument",
        [&](Text value) {
          measurement.arguments.emplace_back(value);
          return absl::OkStatus();
        }},
       {"--environment",
        [&](Text value) { return AddVariable(value, &measurement); }},
       {"--test_workspace",
        [&](Text value) {
          return SetText(value, &measurement.test.workspace);
        }},
       {"--test_path",
        [&](Text value) { return SetText(value, &measurement.test.path); }},
       {"--memprof",
        [&](Text value) { return SetText(value, &measurement.memprof); }},
       {"--sites",
        [&](Text value) {
          return SetYes("--sites", value, &measurement.has_sites);
        }},
       {"--copy_program",
        [&](Text value) {
          return SetYes("--copy_program", value, &measurement.is_copied);
        }},
       {"--whole_process",
        [&](Text value) { return SetText(value, &flags->whole_process); }},
       {"--data",
        [&](Text value) { return AddFile(value, &measurement.data, &last); }},
       {"--runfile",
        [&](Text value) {
          return AddFile(value, &measurement.runfiles, &last);
        }},
       {"--as", [&](Text value) { return NameFile(value, last); }}});
}

// "--" and the program follow the flags; no other argument precedes them.
absl::StatusOr<RunnerFlags> ParseFlags(int argc, char** argv) {
  RunnerFlags flags;
  absl::Status status = TakeRunnerFlags(&argc, argv, &flags);
  if (!status.ok()) return status;
  if (argc > 1 && absl::string_view(argv[1]) != "--") {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown flag '", argv[1], "'"));
  }
  if (argc < 3) return absl::InvalidArgumentError("no program after --");
  if (flags.measurement.label.empty() || flags.output.empty() ||
      flags.samples_output.empty()) {
    return absl::InvalidArgumentError(
        "--label=, --output= and --samples_output= are needed");
  }
  flags.measurement.executable = argv[2];
  flags.measurement.arguments.insert(flags.measurement.arguments.begin(),
                                     argv + 3, argv + argc);
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

absl::Status Run(int argc, char** argv) {
  absl::StatusOr<RunnerFlags> flags = ParseFlags(argc, argv);
  if (!flags.ok()) return flags.status();
  CatchCancellation();
  absl::StatusOr<MemoryMeasurement> measured =
      flags->whole_process.empty()
          ? MeasureProgram(flags->measurement)
          : MeasureWholeProcess(flags->measurement, flags->whole_process);
  if (!measured.ok()) return measured.status();
  absl::Status status =
      WriteMemoryProfileFile(measured->profile, flags->output);
  if (!status.ok()) return status;
  return WriteMemorySamplesFile(measured->samples, flags->samples_output);
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  const absl::Status status = footprint::Run(argc, argv);
  if (status.ok()) return 0;
  std::cerr << "profile_runner: " << std::string(status.message()) << "\n";
  return status.code() == absl::StatusCode::kCancelled ? 130 : 2;
}
