#include "footprint/gates/programs/git_log.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/temporary_folder.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/judge/posix_quote.h"
#include "footprint/gates/programs/shell_command.h"

namespace footprint {
namespace {

absl::StatusOr<std::string> RunGit(const std::string& workspace,
                                   const std::string& arguments) {
  TemporaryFolder folder;
  const absl::Status status =
      folder.Create(TemporaryFolderParent(), "footprint-git");
  if (!status.ok()) return status;
  const std::string output = folder.Path("output");
  const std::string errors = folder.Path("errors");
  const absl::StatusOr<int> ended = RunShellCommand(absl::StrCat(
      "git -c core.quotePath=false -C ", PosixQuote(workspace), " ", arguments,
      " >", PosixQuote(output), " 2>", PosixQuote(errors)));
  if (!ended.ok()) return ended.status();
  if (*ended == 0) return ReadWholeFile(output);
  const std::string said = ReadWholeFile(errors).value_or("");
  return absl::FailedPreconditionError(absl::StrCat(
      EscapeForTerminal(workspace), ": git ", EscapeForTerminal(arguments),
      " failed: ", EscapeForTerminal(absl::StripAsciiWhitespace(said))));
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
  const absl::Status has_repository =
      AskGit(workspace, {"rev-parse", "--show-toplevel"}).status();
  if (absl::IsCancelled(has_repository)) return has_repository;
  if (!has_repository.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        EscapeForTerminal(workspace), ": is in no git repository"));
  }
  const absl::StatusOr<std::string> commit =
      AskGit(workspace, {"rev-parse", "--verify", "--quiet",
                         absl::StrCat(revision, "^{commit}")});
  if (absl::IsCancelled(commit.status())) return commit.status();
  if (!absl::StartsWith(revision, "-") && commit.ok()) return commit;
  return absl::InvalidArgumentError(
      absl::StrCat(EscapeForTerminal(revision), ": is not a revision of ",
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
