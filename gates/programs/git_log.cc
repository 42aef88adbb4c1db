#include "footprint/gates/programs/git_log.h"

#include <algorithm>
#include <cstdlib>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/temporary_folder.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/judge/posix_quote.h"

namespace footprint {
namespace {

// A hook of git sets these variables, and git would then ignore -C.
constexpr char kGit[] =
    "unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE; git -c core.quotePath=false "
    "-C ";

absl::StatusOr<std::string> RunGit(const std::string& workspace,
                                   const std::string& arguments) {
  TemporaryFolder folder;
  const absl::Status status =
      folder.Create(TemporaryFolderParent(), "footprint-git");
  if (!status.ok()) return status;
  const std::string output = folder.Path("output");
  const std::string command =
      absl::StrCat(kGit, PosixQuote(workspace), " ", arguments, " >",
                   PosixQuote(output), " 2>/dev/null");
  if (std::system(command.c_str()) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(EscapeForTerminal(workspace), ": git ",
                     EscapeForTerminal(arguments), " failed"));
  }
  return ReadWholeFile(output);
}

}  // namespace

absl::StatusOr<std::string> AskGit(const std::string& workspace,
                                   const std::vector<std::string>& arguments) {
  std::string words;
  for (const std::string& each : arguments) {
    absl::StrAppend(&words, PosixQuote(each), " ");
  }
  const absl::StatusOr<std::string> output = RunGit(workspace, words);
  if (!output.ok()) return output.status();
  return std::string(absl::StripAsciiWhitespace(*output));
}

absl::StatusOr<std::string> FindCommit(const std::string& workspace,
                                       const std::string& revision) {
  if (!AskGit(workspace, {"rev-parse", "--show-toplevel"}).ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        EscapeForTerminal(workspace), ": is in no git repository"));
  }
  const absl::StatusOr<std::string> commit =
      AskGit(workspace, {"rev-parse", "--verify", "--quiet",
                         absl::StrCat(revision, "^{commit}")});
  if (!absl::StartsWith(revision, "-") && commit.ok()) return commit;
  return absl::InvalidArgumentError(
      absl::StrCat(EscapeForTerminal(revision), ": is no revision of ",
                   EscapeForTerminal(workspace),
                   "; fetch it (git fetch --unshallow), or correct the name"));
}

absl::StatusOr<std::vector<Commit>> ReadCommitLog(
    const std::string& workspace, const std::vector<std::string>& arguments) {
  std::string words = kCommitLogArguments;
  for (const std::string& each : arguments) {
    absl::StrAppend(&words, " ", PosixQuote(each));
  }
  const absl::StatusOr<std::string> text = RunGit(workspace, words);
  if (!text.ok()) return text.status();
  absl::StatusOr<std::vector<Commit>> commits = ParseCommitLog(*text);
  // --reverse would take the last of --max-count.
  if (commits.ok()) std::reverse(commits->begin(), commits->end());
  return commits;
}

}  // namespace footprint
