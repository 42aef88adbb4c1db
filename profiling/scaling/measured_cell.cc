#include "footprint/profiling/scaling/measured_cell.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <iterator>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/read_write.h"
#include "footprint/profiling/memprof/make_measured_run.h"
#include "footprint/profiling/memprof/measurable_program.h"
#include "footprint/profiling/memprof/run_with_agent.h"
#include "footprint/profiling/reports/memory_profile_report.h"

namespace footprint {
namespace {

constexpr int64_t kOutputTailBytes = 2000;

// As long as it exists, standard input is empty and output and error go to a
// file.
class QuietStandardFiles {
 public:
  QuietStandardFiles(int nothing, int output) {
    const int replacements[] = {nothing, output, output};
    for (int i = 0; i < 3; ++i) {
      before_[i] = FileDescriptor(fcntl(i, F_DUPFD_CLOEXEC, 10));
      dup2(replacements[i], i);
    }
  }
  QuietStandardFiles(const QuietStandardFiles&) = delete;
  QuietStandardFiles& operator=(const QuietStandardFiles&) = delete;
  ~QuietStandardFiles() {
    for (int i = 0; i < 3; ++i) {
      if (before_[i].is_open()) {
        dup2(before_[i].get(), i);
      } else {
        close(i);
      }
    }
  }

 private:
  FileDescriptor before_[3];
};

void SetSteadyVariables() {
  for (size_t i = 0; i + 1 < std::size(kSteadyVariables); i += 2) {
    setenv(kSteadyVariables[i], kSteadyVariables[i + 1], /*overwrite=*/0);
  }
}

std::string ReadTail(int file) {
  const int64_t size = lseek(file, 0, SEEK_END);
  const int64_t begin = std::max<int64_t>(0, size - kOutputTailBytes);
  std::string tail(static_cast<size_t>(std::max<int64_t>(0, size - begin)),
                   '\0');
  const int64_t count =
      ReadAt(file, begin, static_cast<int64_t>(tail.size()), tail.data());
  tail.resize(static_cast<size_t>(std::max<int64_t>(0, count)));
  return tail;
}

}  // namespace

absl::StatusOr<MeasuredCell> MeasureCell(
    const std::vector<std::string>& arguments) {
  absl::StatusOr<std::string> program = FindMeasurableProgram(arguments[0]);
  if (!program.ok()) return program.status();
  AgentRun agent_run;
  agent_run.program = *program;
  agent_run.arguments = arguments;
  agent_run.sampling_interval_bytes = -1;
  const FileDescriptor nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  const FileDescriptor output(memfd_create("output", MFD_CLOEXEC));
  if (!nothing.is_open() || !output.is_open()) {
    return FileError(errno, "a file for the program's output",
                     "cannot be made");
  }
  SetSteadyVariables();
  absl::StatusOr<AgentRunEnd> end = absl::UnknownError("");
  {
    const QuietStandardFiles quiet(nothing.get(), output.get());
    end = RunWithAgent(agent_run);
  }
  if (!end.ok()) return end.status();
  if (!end->removed_folder.empty()) {
    return absl::InternalError(absl::StrCat(
        "the program removed ", end->removed_folder,
        ", where its records were; set TMPDIR to a folder that it leaves "
        "alone"));
  }
  MeasuredCell cell;
  cell.profile = MemoryProfileReport(MakeMeasuredRun(agent_run, *end));
  cell.output = ReadTail(output.get());
  cell.was_interrupted =
      end->signal_number == SIGINT || end->signal_number == SIGTERM;
  return cell;
}

}  // namespace footprint
