#include "footprint/base/files/program_flags.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "absl/flags/parse.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/standard_output.h"

namespace footprint {
namespace {

// Of a program that ends while flags are parsed; -1: they are not.
int exit_code_while_parsing = -1;

// std::cout, where Abseil prints help, keeps nothing back from stdout.
void EndWithExitCode() {
  if (exit_code_while_parsing < 0) return;
  const int exit_code =
      exit_code_while_parsing == 0
          ? FinishStandardOutput(program_invocation_short_name)
          : exit_code_while_parsing;
  fflush(nullptr);
  _exit(exit_code);
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

std::vector<char*> ParseProgramFlags(int argc, char** argv,
                                     int wrong_flag_exit_code) {
  exit_code_while_parsing = AsksForHelp(argc, argv) ? 0 : wrong_flag_exit_code;
  atexit(EndWithExitCode);
  std::vector<char*> arguments = absl::ParseCommandLine(argc, argv);
  exit_code_while_parsing = -1;
  return arguments;
}

}  // namespace footprint
