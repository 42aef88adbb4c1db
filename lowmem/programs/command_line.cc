#include "footprint/lowmem/programs/command_line.h"

#include <stdio.h>
#include <sys/stat.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/program_flags.h"
#include "footprint/base/files/standard_output.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/lowmem/checkpoints/checkpoint_folder.h"
#include "footprint/lowmem/weights/weight_file.h"

namespace footprint::lowmem_internal {
namespace {

// Returns InvalidArgument for a file that is only a part of a model's folder.
absl::Status CheckIsWhole(const std::string& path) {
  const bool is_part =
      absl::EndsWith(path, ".safetensors") || absl::EndsWith(path, ".json");
  if (!is_part || !IsModelFile(path) || IsGgufFile(path)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      path,
      ": is one file of a model, which has config.json beside it: name "
      "its folder"));
}

}  // namespace

std::vector<char*> ParseFlags(int argc, char** argv) {
  return ParseProgramFlags(argc, argv, static_cast<int>(ExitCode::kWrongUsage));
}

int Fail(absl::string_view program, ExitCode code, const absl::Status& status) {
  fputs(absl::StrCat(program, ": ", EscapeForTerminal(status.message()), "\n")
            .c_str(),
        stderr);
  return static_cast<int>(code);
}

absl::Status CheckNotThere(const std::string& path, bool force) {
  struct stat status;
  if (force || stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_size == 0) {
    return absl::OkStatus();
  }
  return absl::AlreadyExistsError(absl::StrCat(
      path,
      ": already exists; name another file, or give --force to replace "
      "it"));
}

void NoteUnreadWeights(absl::string_view program,
                       const std::string& directory) {
  const std::string unread = FindUnreadWeightFile(directory);
  if (unread.empty()) return;
  fputs(absl::StrCat(program, ": ",
                     EscapeForTerminal(absl::StrCat(
                         "runs ", FindWeightFile(directory), ", not ", unread,
                         " beside it; to run that, move it to a folder of its "
                         "own, with the other files copied")),
                     "\n")
            .c_str(),
        stderr);
}

int Finish(absl::string_view program) { return FinishStandardOutput(program); }

int RunOnFolder(absl::string_view program, const std::vector<char*>& arguments,
                absl::FunctionRef<absl::Status()> read_flags,
                absl::FunctionRef<absl::Status(const std::string&)> run) {
  if (arguments.size() != 2) {
    return Fail(program, ExitCode::kWrongUsage,
                absl::InvalidArgumentError(
                    absl::StrCat("takes one MODEL_DIR, got ",
                                 arguments.size() - 1, "; see --help")));
  }
  const absl::Status flags = read_flags();
  if (!flags.ok()) return Fail(program, ExitCode::kWrongUsage, flags);
  absl::Status status = CheckIsWhole(arguments[1]);
  if (status.ok()) status = run(arguments[1]);
  return status.ok() ? Finish(program)
                     : Fail(program, ExitCode::kFailed, status);
}

}  // namespace footprint::lowmem_internal
