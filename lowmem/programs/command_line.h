// The common part of the command-line programs: flags, messages, exit codes.
//
//   int main(int argc, char** argv) {
//     const std::vector<char*> arguments = ParseFlags(argc, argv);
//     const absl::Status status = Run(arguments);
//     if (!status.ok()) return Fail("lowmem_run", ExitCode::kFailed, status);
//     return Finish("lowmem_run");
//   }
//
// Exit codes: 0 if the program did its work, 1 if the files, the model or the
// machine prevent it, 2 if the command line is wrong whatever the files hold.
//
// A message is one line, "PROGRAM: what", on standard error. Names may come
// from files of other people: bytes that are not printable text are shown as
// \x1b.
//
// The functions are for the main thread. Returned words are argv's own and
// valid as long as the process runs. Memory: Abseil's flags, and the text of a
// message.

#ifndef FOOTPRINT_LOWMEM_PROGRAMS_COMMAND_LINE_H_
#define FOOTPRINT_LOWMEM_PROGRAMS_COMMAND_LINE_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace footprint::lowmem_internal {

enum class ExitCode { kFailed = 1, kWrongUsage = 2 };

// Returns the arguments that are not flags. A wrong flag ends the program with
// exit code 2, and --help ends it with 0.
std::vector<char*> ParseFlags(int argc, char** argv);

// Prints the reason in one line without control characters, and returns the
// exit code.
int Fail(absl::string_view program, ExitCode code, const absl::Status& status);

// Checks that an output may be written to `path`: either nothing exists there,
// or only an empty file, a pipe or a device. Returns AlreadyExists if there is
// a file and the user did not give --force.
absl::Status CheckNotThere(const std::string& path, bool force);

// Returns the exit code of a program that did its work: 0, or kFailed with a
// message if not all of its output reached standard output.
int Finish(absl::string_view program);

// Runs a program that takes one MODEL_DIR: reads its flags, then runs on the
// folder. Returns the exit code: kWrongUsage if there is not exactly one
// argument or a flag is wrong, kFailed if the run fails.
int RunOnFolder(absl::string_view program, const std::vector<char*>& arguments,
                absl::FunctionRef<absl::Status()> read_flags,
                absl::FunctionRef<absl::Status(const std::string&)> run);

// Says on standard error if a model's folder has a second file of weights,
// which the program does not read, and how to run that file.
void NoteUnreadWeights(absl::string_view program, const std::string& directory);

}  // namespace footprint::lowmem_internal

#endif  // FOOTPRINT_LOWMEM_PROGRAMS_COMMAND_LINE_H_
