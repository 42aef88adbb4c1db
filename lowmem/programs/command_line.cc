#include "footprint/lowmem/programs/command_line.h"

#include <stdio.h>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/program_flags.h"
#include "footprint/base/files/standard_output.h"
#include "footprint/base/text/report_escape.h"

namespace footprint::lowmem_internal {
std::vector<char*> ParseFlags(int argc, char** argv) {
  return ParseProgramFlags(argc, argv, static_cast<int>(ExitCode::kWrongUsage));
}

int Fail(absl::string_view program, ExitCode code, const absl::Status& status) {
  fputs(absl::StrCat(program, ": ", EscapeForTerminal(status.message()), "\n")
            .c_str(),
        stderr);
  return static_cast<int>(code);
}

int Finish(absl::string_view program) { return FinishStandardOutput(program); }

}  // namespace footprint::lowmem_internal
