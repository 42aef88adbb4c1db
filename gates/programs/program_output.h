// Functions that the programs of gates share: paths, terminals, the end.
//
//   const ReportOptions options = OptionsOfTerminal();
//   return FinishProgram("diff", WriteDiffText(diff, ...), output, kDiffers);
//
// Thread-safe, if no thread changes the environment. Owns nothing, keeps
// no memory.

#ifndef FOOTPRINT_GATES_PROGRAMS_PROGRAM_OUTPUT_H_
#define FOOTPRINT_GATES_PROGRAMS_PROGRAM_OUTPUT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/reports/verdict_words.h"

namespace footprint {

// "" if there is none.
std::string EnvironmentValue(const char* name);

// A path of the person who typed `bazel run`, which changes the folder.
std::string PathOfCaller(const std::string& path);

// Options that suit the reader of standard output: on a terminal its width, and
// colour unless NO_COLOR is set; else 80 characters.
ReportOptions OptionsOfTerminal();

// OptionsOfTerminal, or those of a file if `output` names one.
ReportOptions OptionsFor(const std::string& output);

// kResourceExhausted if not all of it arrived.
absl::Status WriteStandardOutput(const std::string& text);

// Says on standard error what is wrong; gives 2, the exit status of a mistake.
int Complain(const char* program, absl::string_view message);

// Writes a report into the file of this path (whole_file.h, WriteOutputFile).
// kAlreadyExists if a threshold file is there, which a report must not replace.
absl::Status WriteReport(const std::string& path, absl::string_view text);

// Writes `text` to the caller's file `output`, or to standard output if that is
// empty. `exit_status`, or that of Complain.
int FinishProgram(const char* program, const std::string& text,
                  const std::string& output, int exit_status);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_PROGRAMS_PROGRAM_OUTPUT_H_
