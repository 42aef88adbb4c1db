// memprof: which memory a program needs, without changing it.
//
//   memprof [OPTIONS] PROGRAM ARGUMENT...

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/parse_bytes.h"
#include "footprint/profiling/memprof/json_report.h"
#include "footprint/profiling/memprof/measurable_program.h"
#include "footprint/profiling/memprof/memory_report.h"
#include "footprint/profiling/memprof/run_with_agent.h"

namespace footprint {
namespace {

constexpr char kHelp[] =
    R"(memprof measures the memory of any program, unchanged.

  memprof [OPTIONS] PROGRAM ARGUMENT...

  memprof python3 train.py            what it needed, after its own output
  memprof --limit=64MiB ./serve       exit 0 if its peak fits, 1 if it does not

Options, before PROGRAM:
  --limit=BYTES   judge: 0 the peak heap of each process fits, 1 it does not,
                  3 the program failed, or has memory that is not counted.
                  64MiB, 1.5GB or plain bytes.
  --sampling=BYTES
                  how many bytes lie between two allocations whose call sites
                  are recorded, on average; 512KiB if not given; 0: each
                  allocation is; none: only the peak is measured
  --json=FILE     everything that was measured, for programs to read
  --help          this text

The program keeps its input, output and exit status; the report goes to
standard error. Without --limit, memprof exits as the program did (128 + n
after signal n). Exit 2: memprof could not run it.

The peak is exact: the highest sum of live heap bytes, by jemalloc's own
counters, looked at in each allocation. Children are measured, too: by fork,
exec, vfork and posix_spawn, unless they are given an environment without
LD_PRELOAD (env -i). Cannot be measured: static programs, set-user-ID
programs, sanitizer builds. To attach to a running process (--pid) is not
possible: what it allocated before would be unknown.
)";

struct MemprofOptions {
  bool help = false;
  std::optional<int64_t> limit_bytes;
  std::string json_path;
  AgentRun run;
};

absl::Status ParseOption(absl::string_view option, MemprofOptions* options) {
  if (option == "--sampling=none") {
    options->run.sampling_interval_bytes = -1;
    return absl::OkStatus();
  }
  absl::string_view value = option;
  if (absl::ConsumePrefix(&value, "--json=")) {
    options->json_path = std::string(value);
    return value.empty() ? absl::InvalidArgumentError("--json= names no file")
                         : absl::OkStatus();
  }
  const bool is_limit = absl::ConsumePrefix(&value, "--limit=");
  if (!is_limit && !absl::ConsumePrefix(&value, "--sampling=")) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown option ", option, "; memprof --help lists them"));
  }
  const absl::StatusOr<int64_t> bytes = ParseBytes(value);
  if (!bytes.ok()) return bytes.status();
  if (is_limit) {
    options->limit_bytes = *bytes;
  } else {
    options->run.sampling_interval_bytes = *bytes;
  }
  return absl::OkStatus();
}

absl::StatusOr<MemprofOptions> ParseOptions(int argc, char** argv) {
  MemprofOptions options;
  int i = 1;
  for (; i < argc && absl::StartsWith(argv[i], "-"); ++i) {
    absl::string_view option = argv[i];
    if (option == "--") {
      ++i;
      break;
    }
    if (option == "--help" || option == "-h") {
      options.help = true;
      return options;
    }
    if (absl::StartsWith(option, "--pid")) {
      return absl::InvalidArgumentError(
          "--pid is not possible: what a running process allocated before is "
          "unknown; start the program with memprof");
    }
    absl::Status status = ParseOption(option, &options);
    if (!status.ok()) return status;
  }
  if (i == argc) {
    return absl::InvalidArgumentError(
        "which program? For example: memprof python3 train.py");
  }
  options.run.arguments.assign(argv + i, argv + argc);
  return options;
}

// What --limit makes of the run.
int Judge(const AgentRunEnd& end, int64_t limit_bytes) {
  if (end.exit_status != 0 || end.signal_number != 0) {
    std::cerr << "memprof: the program failed, so its peak is not judged\n";
    return 3;
  }
  int64_t peak_bytes = 0;
  for (const MeasuredProcess& each : end.processes) {
    if (!each.is_counted()) {
      std::cerr << "memprof: not everything was counted (see the warning), so "
                   "nothing is judged\n";
      return 3;
    }
    peak_bytes = std::max(peak_bytes, each.own_peak_bytes());
  }
  if (peak_bytes <= limit_bytes) return 0;
  std::cerr << "memprof: over the limit of " << FormatBytes(limit_bytes)
            << " by " << FormatBytes(peak_bytes - limit_bytes) << "\n";
  return 1;
}

// `bazel run` starts programs in a folder of its own.
void EnterCallersFolder() {
  const char* const folder = std::getenv("BUILD_WORKING_DIRECTORY");
  if (folder != nullptr && chdir(folder) != 0) {
    std::cerr << "memprof: cannot enter " << folder
              << "; relative paths are taken from bazel's folder\n";
  }
}

absl::StatusOr<int> Run(int argc, char** argv) {
  EnterCallersFolder();
  absl::StatusOr<MemprofOptions> options = ParseOptions(argc, argv);
  if (!options.ok()) return options.status();
  if (options->help) {
    std::cout << kHelp;
    return 0;
  }
  absl::StatusOr<std::string> program =
      FindMeasurableProgram(options->run.arguments[0]);
  if (!program.ok()) return program.status();
  options->run.program = *program;
  if (!options->json_path.empty()) {
    absl::Status status = CheckReplaceable(options->json_path);
    if (!status.ok()) return status;
  }
  absl::StatusOr<AgentRunEnd> end = RunWithAgent(options->run);
  if (!end.ok()) return end.status();
  std::cerr << "\nmemprof: " << options->run.arguments[0] << "\n"
            << MemoryReport(*end);
  if (end->processes.empty()) {
    return absl::InternalError(
        "the agent wrote nothing: the program may have ended before main, or "
        "its loader refused the agent (see above)");
  }
  if (!options->json_path.empty()) {
    absl::Status status =
        ReplaceFile(options->json_path,
                    JsonReport(*end, options->run.arguments), ToDisk::kFlush);
    if (!status.ok()) return status;
  }
  if (options->limit_bytes.has_value()) {
    return Judge(*end, *options->limit_bytes);
  }
  return end->signal_number != 0 ? 128 + end->signal_number : end->exit_status;
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  const absl::StatusOr<int> status = footprint::Run(argc, argv);
  if (status.ok()) return *status;
  std::cerr << "memprof: " << status.status().message() << "\n";
  return 2;
}
