// Provides functions that the gate programs share: paths, terminals and output.
//
//   const ReportOptions options = OptionsOfTerminal();
//   return FinishProgram("diff", ReportText(report, options), output,
//                        kDiffers);
//
// Thread-safe, if no thread changes the environment. Keeps no memory.

#ifndef FOOTPRINT_GATES_PROGRAMS_PROGRAM_OUTPUT_H_
#define FOOTPRINT_GATES_PROGRAMS_PROGRAM_OUTPUT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/reports/verdict_words.h"

namespace footprint {

// Returns the value of an environment variable, or "".
std::string EnvironmentValue(const char* name);

// Returns a path from the caller's folder as one from the current folder, since
// `bazel run` changes the folder. Returns `path` itself if it is absolute or
// empty, or if `bazel run` did not start the program.
std::string PathOfCaller(const std::string& path);

// Returns options for standard output. For a terminal they have its width,
// between 60 and 160, and colour unless NO_COLOR is set or TERM is "dumb".
// Otherwise they have 80 characters and no colour.
ReportOptions OptionsOfTerminal();

// Returns options for a file if `output` names one, else OptionsOfTerminal().
ReportOptions OptionsFor(const std::string& output);

// Writes a text to standard output. Returns kResourceExhausted if not all of it
// was written.
absl::Status WriteStandardOutput(const std::string& text);

// Prints an error to standard error. Returns 2, the exit status of a mistake.
int Complain(const char* program, absl::string_view message);

// Writes a report to a file (WriteOutputFile of whole_file.h). Returns
// kAlreadyExists if it is a threshold file, which a report must not replace,
// and else the errors of WriteOutputFile.
absl::Status WriteReport(const std::string& path, absl::string_view text);

// Writes `text` to the caller's file `output`, or to standard output if that is
// empty. Returns `exit_status`, or that of Complain if it fails.
int FinishProgram(const char* program, const std::string& text,
                  const std::string& output, int exit_status);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_PROGRAMS_PROGRAM_OUTPUT_H_
