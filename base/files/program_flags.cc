#include "footprint/base/files/program_flags.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "absl/flags/parse.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/standard_output.h"

namespace footprint {
namespace {

// The status of a program that ends while its flags are parsed; -1 at all other
// times.
int exit_code_while_parsing = -1;

// Ends the program with that status, and says after an error of Abseil's which
// program it is of and what to do. Abseil prints help to std::cout, which
// buffers nothing beyond stdout.
void EndWithExitCode() {
  if (exit_code_while_parsing < 0) return;
  const int exit_code =
      exit_code_while_parsing == 0
          ? FinishStandardOutput(program_invocation_short_name)
          : exit_code_while_parsing;
  if (exit_code_while_parsing != 0) {
    fprintf(stderr, "%s: %s --help lists the flags\n",
            program_invocation_short_name, program_invocation_short_name);
  }
  fflush(nullptr);
  _exit(exit_code);
}

bool AsksForHelp(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const absl::string_view argument = argv[i];
    if (argument == "--") return false;
    const absl::string_view name = argument.substr(0, argument.find('='));
    for (const absl::string_view help :
         {"--help", "--helpfull", "--helpshort", "--helppackage", "--helpmatch",
          "--helpon", "--version"}) {
      if (name == help || name == help.substr(1)) return true;
    }
  }
  return false;
}

// Returns whether Bazel started this program: it starts PROGRAM in
// PROGRAM.runfiles/WORKSPACE. If Bazel started a script that calls PROGRAM, the
// folder has the script's name, and the paths are the script's own.
bool BazelStartedThis() {
  char folder[PATH_MAX];
  return getcwd(folder, sizeof(folder)) != nullptr &&
         absl::StrContains(
             folder,
             absl::StrCat("/", program_invocation_short_name, ".runfiles/"));
}

}  // namespace

void EnterCallersFolder() {
  const char* const folder = getenv("BUILD_WORKING_DIRECTORY");
  if (folder == nullptr || !BazelStartedThis() || chdir(folder) == 0) return;
  fprintf(stderr, "%s: cannot enter %s: %s\n", program_invocation_short_name,
          folder, strerror(errno));
  exit(1);
}

std::vector<char*> ParseProgramFlags(int argc, char** argv,
                                     int wrong_flag_exit_code) {
  EnterCallersFolder();
  exit_code_while_parsing = AsksForHelp(argc, argv) ? 0 : wrong_flag_exit_code;
  atexit(EndWithExitCode);
  std::vector<char*> arguments = absl::ParseCommandLine(argc, argv);
  exit_code_while_parsing = -1;
  return arguments;
}

}  // namespace footprint
