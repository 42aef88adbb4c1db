// The common part of the command-line programs: flags, messages, exit codes.
//
//   int main(int argc, char** argv) {
//     const std::vector<char*> arguments = ParseFlags(argc, argv);
//     const absl::Status status = Run(arguments);
//     if (!status.ok()) return Fail("lowmem_run", ExitCode::kFailed, status);
//     return Finish("lowmem_run");
//   }
//
// Exit code 0: done. 1: the files, the model or the machine would not do it. 2:
// the command line is wrong, whatever the files hold.
//
// A message is one line, "PROGRAM: what", on standard error. Names come from
// files of others: bytes of them that are no printable text are shown as \x1b.
//
// For main's thread. Words that come back are argv's own, valid as long as the
// process runs. Memory: Abseil's flags, and the text of a message.

#ifndef FOOTPRINT_LOWMEM_PROGRAMS_COMMAND_LINE_H_
#define FOOTPRINT_LOWMEM_PROGRAMS_COMMAND_LINE_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace footprint::lowmem_internal {

enum class ExitCode { kFailed = 1, kWrongUsage = 2 };

// Arguments that are no flags; a wrong flag ends the program with exit code 2,
// help with 0.
std::vector<char*> ParseFlags(int argc, char** argv);

// Says why, in one line that moves no terminal, and returns the exit code.
int Fail(absl::string_view program, ExitCode code, const absl::Status& status);

// Returns whether an output may be written to `path`: nothing of its name is
// there, or nothing but an empty file, a pipe or a device. AlreadyExists: a
// file is, and the user did not say --force.
absl::Status CheckNotThere(const std::string& path, bool force);

// The exit code of a program that did all it was asked: 0, or that of kFailed,
// and says why, where not all that it printed reached standard output.
int Finish(absl::string_view program);

// The whole of a program that takes one MODEL_DIR: reads its flags, then runs
// on the folder. Returns the exit code: kWrongUsage where there is not one
// argument or a flag is wrong, kFailed where the run fails.
int RunOnFolder(absl::string_view program, const std::vector<char*>& arguments,
                absl::FunctionRef<absl::Status()> read_flags,
                absl::FunctionRef<absl::Status(const std::string&)> run);

}  // namespace footprint::lowmem_internal

#endif  // FOOTPRINT_LOWMEM_PROGRAMS_COMMAND_LINE_H_
