#include "footprint/gates/programs/program_output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/gates/judge/threshold_file.h"

namespace footprint {

std::string EnvironmentValue(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string PathOfCaller(const std::string& path) {
  const std::string folder = EnvironmentValue("BUILD_WORKING_DIRECTORY");
  return path.empty() || path[0] == '/' || folder.empty()
             ? path
             : absl::StrCat(folder, "/", path);
}

ReportOptions OptionsOfTerminal() {
  constexpr size_t kLeastWidth = 60;
  constexpr size_t kMostWidth = 160;
  ReportOptions options;
  if (isatty(STDOUT_FILENO) == 0) return options;
  options.has_colour = EnvironmentValue("NO_COLOR").empty() &&
                       EnvironmentValue("TERM") != "dumb";
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    options.width =
        std::clamp(static_cast<size_t>(size.ws_col), kLeastWidth, kMostWidth);
  }
  return options;
}

ReportOptions OptionsFor(const std::string& output) {
  return output.empty() ? OptionsOfTerminal() : ReportOptions();
}

absl::Status WriteStandardOutput(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() ||
      std::fflush(stdout) != 0) {
    return absl::ResourceExhaustedError(
        "the result cannot be written to the standard output");
  }
  return absl::OkStatus();
}

absl::Status WriteReport(const std::string& path, absl::string_view text) {
  const absl::StatusOr<std::string> old = ReadWholeFile(path);
  if (old.ok() && IsMarkedAsThresholds(*old)) {
    return absl::AlreadyExistsError(
        absl::StrCat(path,
                     ": is a threshold file, which a report would replace; "
                     "name another file for the report"));
  }
  return WriteOutputFile(path, text);
}

int Complain(const char* program, absl::string_view message) {
  constexpr int kMistake = 2;
  for (absl::string_view line : absl::StrSplit(message, '\n')) {
    std::fprintf(stderr, "%s: %s\n", program, std::string(line).c_str());
  }
  return kMistake;
}

int FinishProgram(const char* program, const std::string& text,
                  const std::string& output, int exit_status) {
  const absl::Status status = output.empty()
                                  ? WriteStandardOutput(text)
                                  : WriteReport(PathOfCaller(output), text);
  return status.ok() ? exit_status : Complain(program, status.message());
}

}  // namespace footprint
