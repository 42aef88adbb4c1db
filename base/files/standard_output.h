// The end of a program that prints results: where not all of them arrived, that
// is an error, as of any other file.
//
//   int main() {
//     std::cout << "42\n";
//     return footprint::FinishStandardOutput("the_answer");
//   }
//
// Thread-safe. stdout stays open, and nothing is kept. Memory: the text of the
// message.

#ifndef FOOTPRINT_BASE_FILES_STANDARD_OUTPUT_H_
#define FOOTPRINT_BASE_FILES_STANDARD_OUTPUT_H_

#include "absl/strings/string_view.h"

namespace footprint {

// Writes out what stdout holds, and with it std::cout, unless the program parts
// the two by sync_with_stdio(false). `exit_code` if all that the program
// printed reached standard output; else 1, or `exit_code` if that is an error
// already, and says why on standard error: "PROGRAM: standard output: ...".
int FinishStandardOutput(absl::string_view program, int exit_code = 0);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_STANDARD_OUTPUT_H_
