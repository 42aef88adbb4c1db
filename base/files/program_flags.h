// Parses the command line at the beginning of a program. At its end, a program
// that prints calls FinishStandardOutput (standard_output.h).
//
//   int main(int argc, char** argv) {
//     const std::vector<char*> arguments =
//         footprint::ParseProgramFlags(argc, argv);
//     ...
//   }
//
// `bazel run` starts a program in a folder of its own. These functions change
// to the folder of the caller, so that relative paths on the command line mean
// what the caller meant.
//
// Call one of them once in a program, before it starts threads. The returned
// words are argv's own, valid until the process ends. Memory: that of Abseil.

#ifndef FOOTPRINT_BASE_FILES_PROGRAM_FLAGS_H_
#define FOOTPRINT_BASE_FILES_PROGRAM_FLAGS_H_

#include <vector>

namespace footprint {

// Calls EnterCallersFolder, parses the flags with absl::ParseCommandLine, and
// returns the words that are not flags, the program's name first. Ends the
// program for a wrong flag, with `wrong_flag_exit_code`, and for help, with 0,
// or with 1 if the help could not be printed completely. (Abseil's own exit
// codes depend on its release.)
std::vector<char*> ParseProgramFlags(int argc, char** argv,
                                     int wrong_flag_exit_code = 2);

// Changes to the caller's folder if `bazel run` started the program, and does
// nothing else. It is for a program that parses its own flags, because a part
// of its command line is another program's. Ends the program with 1 if it
// cannot enter the folder.
void EnterCallersFolder();

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_PROGRAM_FLAGS_H_
