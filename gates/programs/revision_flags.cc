#include "footprint/gates/programs/revision_flags.h"

#include <cstddef>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/programs/base_profiles.h"
#include "footprint/gates/programs/program_output.h"

namespace footprint {

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ReadRenamed(
    const CommandFlags& flags) {
  std::vector<std::pair<std::string, std::string>> renamed;
  for (const std::string& text : flags.Values("renamed")) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 ||
        equals + 1 == text.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--renamed=", EscapeForTerminal(text),
                       " must be OLD=NEW, such as //a:b=//a:c"));
    }
    renamed.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return renamed;
}

absl::StatusOr<std::string> FindWorktree(const CommandFlags& flags,
                                         const std::string& workspace) {
  if (flags.Has("worktree") && flags.Value("worktree", "").empty()) {
    return absl::InvalidArgumentError(
        "--worktree= names no folder; write --worktree=FOLDER, or leave it out "
        "for one in the cache folder");
  }
  std::error_code ignored;
  const std::string worktree =
      flags.Has("worktree")
          ? std::filesystem::absolute(PathOfCaller(flags.Value("worktree", "")),
                                      ignored)
                .string()
          : DefaultWorktree(workspace);
  if (!worktree.empty()) return worktree;
  return absl::InvalidArgumentError(
      "there is no HOME for the worktree; name a folder with --worktree=");
}

}  // namespace footprint
