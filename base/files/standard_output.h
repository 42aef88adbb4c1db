// Finishes the output of a program that prints results. If not all of them
// could be written, the program fails, as it does for any other file.
//
//   int main() {
//     std::cout << "42\n";
//     return footprint::FinishStandardOutput("the_answer");
//   }
//
// Thread-safe. stdout stays open, and nothing is kept. Memory: the message's
// text.

#ifndef FOOTPRINT_BASE_FILES_STANDARD_OUTPUT_H_
#define FOOTPRINT_BASE_FILES_STANDARD_OUTPUT_H_

#include "absl/strings/string_view.h"

namespace footprint {

// Flushes stdout, and with it std::cout unless the program separates the two by
// sync_with_stdio(false). Returns `exit_code` if everything that the program
// printed was written. Otherwise prints the reason on standard error, "PROGRAM:
// standard output: ...", and returns `exit_code`, or 1 if that is 0.
int FinishStandardOutput(absl::string_view program, int exit_code = 0);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_STANDARD_OUTPUT_H_
