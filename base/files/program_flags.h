// The beginning of a program that takes flags; standard_output.h is the end of
// a program that prints.
//
//   int main(int argc, char** argv) {
//     const std::vector<char*> arguments =
//         footprint::ParseProgramFlags(argc, argv);
//     ...
//   }
//
// `bazel run` starts a program in a folder of its own. The program then changes
// to the folder of the caller, where paths on the command line begin.
//
// Call this once in a program, before it starts threads. The returned words are
// argv's own, valid until the process ends. Memory: that of Abseil.

#ifndef FOOTPRINT_BASE_FILES_PROGRAM_FLAGS_H_
#define FOOTPRINT_BASE_FILES_PROGRAM_FLAGS_H_

#include <vector>

namespace footprint {

// Parses flags with absl::ParseCommandLine, which itself ends the program for a
// wrong flag or for help, with exit code 1 or 0 depending on its release. This
// function ends the program with `wrong_flag_exit_code`, or with 0 if the help
// was printed completely. Returns the words that are not flags, the program's
// name first.
std::vector<char*> ParseProgramFlags(int argc, char** argv,
                                     int wrong_flag_exit_code = 2);

// Changes to the caller's folder only, for a program that parses its own flags
// because a part of its command line is another program's. Ends the program
// with 1 if it cannot enter the folder.
void EnterCallersFolder();

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_PROGRAM_FLAGS_H_
