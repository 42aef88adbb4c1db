#include "footprint/base/files/standard_output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"

namespace footprint {

int FinishStandardOutput(absl::string_view program, int exit_code) {
  const bool is_flushed = std::fflush(stdout) == 0;
  // The reason of an earlier failure is no longer known.
  const std::string reason =
      is_flushed ? "" : absl::StrCat(": ", std::strerror(errno));
  if (is_flushed && std::ferror(stdout) == 0) return exit_code;
  std::fputs(
      absl::StrCat(program,
                   ": standard output: cannot be written, results are lost",
                   reason, "\n")
          .c_str(),
      stderr);
  return exit_code == 0 ? 1 : exit_code;
}

}  // namespace footprint
