#include "footprint/lowmem/programs/command_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "absl/flags/parse.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/standard_output.h"
#include "footprint/base/text/report_escape.h"

namespace footprint::lowmem_internal {
namespace {

// Of a program that ends while flags are parsed; -1: they are not.
int exit_code_while_parsing = -1;

void EndWithExitCode() {
  if (exit_code_while_parsing < 0) return;
  // Abseil prints help there.
  std::cout.flush();
  const int finished =
      exit_code_while_parsing == 0 ? Finish(program_invocation_short_name) : 0;
  fflush(nullptr);
  _exit(std::max(exit_code_while_parsing, finished));
}

bool AsksForHelp(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const absl::string_view argument = argv[i];
    if (argument == "--") return false;
    if (absl::StartsWith(argument, "--help") ||
        absl::StartsWith(argument, "-help") || argument == "--version") {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<char*> ParseFlags(int argc, char** argv) {
  exit_code_while_parsing =
      AsksForHelp(argc, argv) ? 0 : static_cast<int>(ExitCode::kWrongUsage);
  // Abseil ends the program itself.
  atexit(EndWithExitCode);
  std::vector<char*> arguments = absl::ParseCommandLine(argc, argv);
  exit_code_while_parsing = -1;
  return arguments;
}

int Fail(absl::string_view program, ExitCode code, const absl::Status& status) {
  fputs(absl::StrCat(program, ": ", EscapeForTerminal(status.message()), "\n")
            .c_str(),
        stderr);
  return static_cast<int>(code);
}

int Finish(absl::string_view program) { return FinishStandardOutput(program); }

}  // namespace footprint::lowmem_internal
