// The begin of a program that takes flags, as standard_output.h is the end of
// one that prints.
//
//   int main(int argc, char** argv) {
//     const std::vector<char*> arguments =
//         footprint::ParseProgramFlags(argc, argv);
//     ...
//   }
//
// Where `bazel run` started the program, in a folder of its own, the program
// goes to the folder of whoever called: paths on the command line are from
// there.
//
// Once in a program, before it starts threads. Words that come back are argv's
// own, valid as long as the process runs. Memory: Abseil's.

#ifndef FOOTPRINT_BASE_FILES_PROGRAM_FLAGS_H_
#define FOOTPRINT_BASE_FILES_PROGRAM_FLAGS_H_

#include <vector>

namespace footprint {

// absl::ParseCommandLine, which ends the program by itself where a flag is
// wrong or help is asked for, with 1 or 0 as its release has it. Here it ends
// with `wrong_flag_exit_code` or, where all of the help reached standard
// output, with 0. Returns what is no flag, the program's name first.
std::vector<char*> ParseProgramFlags(int argc, char** argv,
                                     int wrong_flag_exit_code = 2);

// The same step for a program whose command line is another's in part, so that
// it parses its own. Ends the program with 1 where the folder cannot be
// entered.
void EnterCallersFolder();

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_PROGRAM_FLAGS_H_
