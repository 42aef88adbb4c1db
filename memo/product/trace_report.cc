// Writes a page that shows a plan and what happened:
//
//   bazel run //memo:trace_report -- trace.binpb trace.html
//
// The trace is a file that --memo_trace_out= wrote. If the second name ends in
// .txt or .json, the program writes text or JSON instead. The exit status is 2
// if the trace cannot be read or the page cannot be written.

#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/same_file.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/memo/schedule/memo_trace_file.h"
#include "footprint/memo/trace/trace_page.h"
#include "footprint/memo/trace/trace_text.h"

namespace {

// `bazel run` starts in a folder of its own, and names the caller's folder.
void EnterCallersFolder() {
  const char* const folder = std::getenv("BUILD_WORKING_DIRECTORY");
  if (folder != nullptr && chdir(folder) != 0) {
    std::cerr << "trace_report: cannot enter " << folder << "\n";
    std::exit(2);
  }
}

}  // namespace

int main(int argc, char** argv) {
  constexpr char kUsage[] =
      "usage: trace_report TRACE OUTPUT\n"
      "Shows a trace that --memo_trace_out=TRACE wrote. OUTPUT is a page, or\n"
      "text if its name ends in .txt, or JSON if it ends in .json.\n"
      "Exit status: 0 OUTPUT is written; 2 the trace cannot be read, OUTPUT\n"
      "cannot be written, or the command line is wrong.\n";
  if (argc == 2 && argv[1] == absl::string_view("--help")) {
    std::cout << kUsage;
    return 0;
  }
  // There are no flags, so a word that begins with a dash is a mistake.
  if (argc != 3 || argv[1][0] == '-' || argv[2][0] == '-') {
    std::cerr << kUsage;
    return 2;
  }
  EnterCallersFolder();
  if (footprint::IsSameFile(argv[1], argv[2])) {
    std::cerr << "trace_report: " << argv[2]
              << ": is the trace, and the page would overwrite it\n";
    return 2;
  }
  const absl::StatusOr<footprint::MemoTrace> trace =
      footprint::ReadMemoTraceFile(argv[1]);
  if (!trace.ok()) {
    std::cerr << "trace_report: " << trace.status().message() << "\n";
    return 2;
  }
  const absl::string_view path = argv[2];
  const bool is_page =
      !absl::EndsWith(path, ".txt") && !absl::EndsWith(path, ".json");
  const absl::Status written =
      is_page
          ? footprint::WriteOutputFile(argv[2], footprint::TracePage(*trace))
          : footprint::WriteTrace(*trace, argv[2]);
  if (!written.ok()) {
    std::cerr << "trace_report: " << written.message() << "\n";
    return 2;
  }
  return 0;
}
