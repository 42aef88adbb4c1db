#include "footprint/gates/programs/base_profiles.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/optional.h"
#include "footprint/base/files/file_lock.h"
#include "footprint/base/files/fingerprint.h"
#include "footprint/base/files/temporary_folder.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/explaining/profile_folder.h"
#include "footprint/gates/judge/posix_quote.h"
#include "footprint/gates/programs/git_log.h"
#include "footprint/gates/programs/program_output.h"
#include "footprint/gates/programs/shell_command.h"

namespace footprint {
namespace {

namespace fs = std::filesystem;

// A worktree without a slash at its end or "/./" in it, so that its lock lies
// beside it.
std::string NormalizePath(const std::string& path) {
  fs::path normal = fs::path(path).lexically_normal();
  if (!normal.has_filename()) normal = normal.parent_path();
  return normal.string();
}

// Returns whether Bazel says that a target, such as //gates:diff, or its
// package does not exist. It says the same of other packages for other reasons,
// such as a repository that it cannot download.
bool SaysThatTargetIsMissing(absl::string_view said, absl::string_view target) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(absl::StripPrefix(target, "//"), absl::MaxSplits(':', 1));
  return absl::StrContains(
             said, absl::StrCat("no such package '", parts.first, "'")) ||
         absl::StrContains(said, absl::StrCat("no such target '", target, "'"));
}

class Measuring {
 public:
  explicit Measuring(const BaseRevision& base)
      : base_(base), worktree_(NormalizePath(base.worktree)) {}

  absl::StatusOr<MeasuredRevision> Run(bool lists_inputs) {
    absl::Status status =
        folder_.Create(TemporaryFolderParent(), "footprint-compare");
    if (status.ok()) status = FindRevision();
    if (!status.ok()) return status;
    const absl::StatusOr<FileLock> lock = LockWorktree();
    if (!lock.ok()) return lock.status();
    status = CheckOut();
    if (status.ok()) status = FindGate();
    if (status.ok()) status = Measure();
    if (!status.ok()) return status;
    MeasuredRevision measured;
    absl::StatusOr<std::vector<MemoryProfile>> profiles =
        ReadProfiles(folder_.Path("profiles"));
    if (!profiles.ok()) return profiles.status();
    measured.profiles = *std::move(profiles);
    if (!lists_inputs) return measured;
    absl::StatusOr<std::vector<std::string>> inputs = FindGateInputs(
        base_.bazel, absl::StrCat(worktree_, "/", prefix_), base_.diff_target);
    if (!inputs.ok()) return inputs.status();
    measured.inputs = *std::move(inputs);
    return measured;
  }

 private:
  std::string Revision() const { return EscapeForTerminal(base_.revision); }

  absl::Status FindRevision() {
    const absl::StatusOr<std::string> prefix =
        AskGit(base_.workspace, {"rev-parse", "--show-prefix"});
    if (absl::IsCancelled(prefix.status())) return prefix.status();
    if (!prefix.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(EscapeForTerminal(base_.workspace),
                       ": is in no git repository, so it has no revision ",
                       Revision(), "; give --base= a folder of profiles"));
    }
    prefix_ = *prefix;
    const absl::StatusOr<std::string> commit =
        FindCommit(base_.workspace, base_.revision);
    if (absl::IsInvalidArgument(commit.status())) {
      return absl::InvalidArgumentError(absl::StrCat(
          Revision(), ": is neither a folder of profiles nor a revision of ",
          EscapeForTerminal(base_.workspace),
          "; fetch it, or correct the name"));
    }
    if (!commit.ok()) return commit.status();
    commit_ = *commit;
    return absl::OkStatus();
  }

  // A folder of someone else is refused before a lock is made beside it.
  absl::StatusOr<FileLock> LockWorktree() const {
    const std::string path = worktree_ + ".lock";
    std::error_code ignored;
    if (!fs::exists(path, ignored)) {
      const absl::Status is_ours = CheckIsOurs();
      if (!is_ours.ok()) return is_ours;
    }
    fs::create_directories(fs::path(worktree_).parent_path(), ignored);
    absl::StatusOr<FileLock> lock = FileLock::Acquire(path);
    if (lock.ok()) return lock;
    return absl::UnavailableError(absl::StrCat(
        lock.status().message(), "; or name another folder by --worktree="));
  }

  bool IsCheckout() const {
    std::error_code ignored;
    return fs::exists(fs::path(worktree_) / ".git", ignored);
  }

  // Returns the path of the file that says that AddWorktree made the worktree.
  // It is among git's own files, so no checkout has it.
  absl::StatusOr<fs::path> FindMark() const {
    const absl::StatusOr<std::string> path =
        AskGit(worktree_, {"rev-parse", "--git-path", "footprint-worktree"});
    if (!path.ok()) return path.status();
    return fs::path(worktree_) / *path;
  }

  // kInvalidArgument: it is a checkout that others made, whose changes and
  // untracked files the next one would remove.
  absl::Status CheckIsOurs() const {
    if (!IsCheckout()) return absl::OkStatus();
    const absl::StatusOr<fs::path> mark = FindMark();
    if (absl::IsCancelled(mark.status())) return mark.status();
    std::error_code ignored;
    if (mark.ok() && fs::exists(*mark, ignored)) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        EscapeForTerminal(worktree_),
        ": is a checkout that this program did not make, and a checkout of ",
        Revision(),
        " would remove what is not committed there; name by --worktree= a "
        "folder that is not there yet, or remove this one"));
  }

  absl::Status AddWorktree() const {
    absl::Status status =
        AskGit(base_.workspace,
               {"worktree", "add", "--quiet", "--force", "--no-checkout",
                "--detach", worktree_, commit_})
            .status();
    if (!status.ok()) return status;
    const absl::StatusOr<fs::path> mark = FindMark();
    if (!mark.ok()) return mark.status();
    return ReplaceFile(mark->string(), "made by compare or culprit\n",
                       ToDisk::kFlush);
  }

  // Any error but FailedPrecondition, which would be the revision's.
  absl::Status CheckOut() const {
    absl::Status status = CheckIsOurs();
    if (!status.ok()) return status;
    if (!IsCheckout()) status = AddWorktree();
    if (status.ok()) {
      status = AskGit(worktree_,
                      {"checkout", "--quiet", "--detach", "--force", commit_})
                   .status();
    }
    if (status.ok()) status = AskGit(worktree_, {"clean", "-fdq"}).status();
    if (status.ok() || absl::IsCancelled(status)) return status;
    return absl::UnavailableError(
        absl::StrCat(EscapeForTerminal(worktree_), ": ", Revision(),
                     " cannot be checked out there: ", status.message(),
                     "; mend that, or remove the folder, and run again"));
  }

  // Returns the command with Bazel in the worktree's workspace.
  std::string Bazel(const std::string& arguments) const {
    return absl::StrCat("cd ",
                        PosixQuote(absl::StrCat(worktree_, "/", prefix_)),
                        " && ", base_.bazel, " ", arguments);
  }

  absl::Status NoGate(absl::string_view reason) const {
    return absl::NotFoundError(absl::StrCat(
        Revision(), ": has no gate ", base_.diff_target,
        ", so there is nothing to compare with; the change is its first: ",
        EscapeForTerminal(reason)));
  }

  absl::Status FindGate() {
    const std::string workspace = absl::StrCat(worktree_, "/", prefix_);
    if (!fs::is_directory(workspace)) {
      return NoGate(absl::StrCat("there is no folder ", prefix_));
    }
    const std::string errors = folder_.Path("errors");
    const absl::StatusOr<int> ended = RunShellCommand(
        absl::StrCat("{ ", Bazel("query "), PosixQuote(base_.diff_target),
                     "; } >/dev/null 2>", PosixQuote(errors)));
    if (!ended.ok()) return ended.status();
    if (*ended == 0) return absl::OkStatus();
    const std::string said(
        absl::StripAsciiWhitespace(ReadWholeFile(errors).value_or("")));
    if (SaysThatTargetIsMissing(said, base_.diff_target)) return NoGate(said);
    return absl::FailedPreconditionError(
        absl::StrCat(Revision(), ": Bazel cannot load ", base_.diff_target,
                     " there:\n", EscapeForTerminal(said)));
  }

  absl::Status Measure() {
    const std::string save =
        PosixQuote(absl::StrCat("--save=", folder_.Path("profiles")));
    const absl::StatusOr<int> ended = RunShellCommand(
        absl::StrCat(Bazel(absl::StrCat("run ", PosixQuote(base_.diff_target),
                                        " -- ", save)),
                     " 1>&2"));
    if (!ended.ok()) return ended.status();
    if (*ended == 0) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat(Revision(),
                     ": does not build, or cannot be measured, as the lines "
                     "above say; compare with another revision, or with a "
                     "folder of profiles"));
  }

  const BaseRevision& base_;
  const std::string worktree_;
  TemporaryFolder folder_;
  std::string prefix_;  // path of the workspace in its repository
  std::string commit_;
};

// Returns the path with its first link replaced by what that names, or nothing
// if there is no link in it.
absl::optional<fs::path> FollowFirstLink(const fs::path& path) {
  std::error_code error;
  fs::path prefix;
  for (auto part = path.begin(); part != path.end(); ++part) {
    prefix /= *part;
    if (!fs::is_symlink(prefix, error)) continue;
    fs::path followed = prefix.parent_path() / fs::read_symlink(prefix, error);
    if (error) return absl::nullopt;
    for (++part; part != path.end(); ++part) followed /= *part;
    return followed.lexically_normal();
  }
  return absl::nullopt;
}

// Returns the path, and each that it becomes as its links are followed one by
// one: a commit may change any of these links. A local repository is a link,
// too, which may lead into the same tree.
std::vector<fs::path> FollowLinks(const fs::path& path) {
  constexpr size_t kMostLinks = 40;  // the kernel follows as many
  std::vector<fs::path> paths = {path.lexically_normal()};
  while (paths.size() <= kMostLinks) {
    absl::optional<fs::path> next = FollowFirstLink(paths.back());
    if (!next.has_value()) break;
    paths.push_back(*std::move(next));
  }
  return paths;
}

// Returns the paths of labels in lines, such as "//app:BUILD" and
// "@footprint//gates:defs.bzl". `external` is the folder of other
// repositories. If the workspace has modules, and a Bazel has no consistent
// labels, its folders have a sign behind the name.
std::vector<fs::path> ReadLabels(const fs::path& workspace,
                                 const fs::path& external,
                                 const std::string& lines) {
  std::vector<fs::path> files;
  for (absl::string_view label : absl::StrSplit(lines, '\n')) {
    const size_t slashes = label.find("//");
    if (slashes == absl::string_view::npos) continue;
    absl::string_view repository = label.substr(0, slashes);
    while (absl::ConsumePrefix(&repository, "@")) {
    }
    // A file of the topmost package has no slash at its beginning, by which it
    // would replace the folder that it is appended to.
    const fs::path file =
        fs::path(absl::StrReplaceAll(label.substr(slashes + 2), {{":", "/"}}))
            .relative_path();
    if (repository.empty()) {
      files.push_back(workspace / file);
      continue;
    }
    for (const absl::string_view sign : {"", "~", "+"}) {
      files.push_back(external / absl::StrCat(repository, sign) / file);
    }
  }
  return files;
}

// Returns those of the files, and of the links to them, that lie below `top`,
// by their paths from there.
std::vector<std::string> KeepFilesBelow(const fs::path& top,
                                        const std::vector<fs::path>& paths) {
  std::set<fs::path> tops = {top.lexically_normal()};
  std::error_code error;
  const fs::path canonical = fs::canonical(top, error);
  if (!error) tops.insert(canonical);
  std::set<std::string> files;
  for (const fs::path& path : paths) {
    for (const fs::path& file : FollowLinks(path)) {
      for (const fs::path& each : tops) {
        const std::string below =
            file.lexically_relative(each).generic_string();
        if (!below.empty() && !absl::StartsWith(below, "..")) {
          files.insert(below);
        }
      }
    }
  }
  return {files.begin(), files.end()};
}

// Runs Bazel in the workspace with these arguments, which a shell reads.
// Returns what it writes to its standard output.
absl::StatusOr<std::string> AskBazel(const std::string& bazel,
                                     const std::string& workspace,
                                     const std::string& arguments) {
  TemporaryFolder folder;
  const absl::Status status =
      folder.Create(TemporaryFolderParent(), "footprint-inputs");
  if (!status.ok()) return status;
  const std::string output = folder.Path("answer");
  const absl::StatusOr<int> ended =
      RunShellCommand(absl::StrCat("cd ", PosixQuote(workspace), " && ", bazel,
                                   " ", arguments, " >", PosixQuote(output)));
  if (!ended.ok()) return ended.status();
  if (*ended != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(EscapeForTerminal(workspace), ": `", bazel, " ", arguments,
                     "` fails, as the lines above say"));
  }
  return ReadWholeFile(output);
}

}  // namespace

std::string DefaultWorktree(const std::string& workspace) {
  std::string cache = EnvironmentValue("XDG_CACHE_HOME");
  // The XDG specification says to ignore a relative path.
  if (cache.empty() || cache[0] != '/') {
    const std::string home = EnvironmentValue("HOME");
    if (home.empty()) return "";
    cache = home + "/.cache";
  }
  return absl::StrFormat(
      "%s/footprint/base-%016x", cache,
      Fingerprint(workspace.data(), static_cast<int64_t>(workspace.size())));
}

absl::StatusOr<std::vector<MemoryProfile>> MeasureBaseProfiles(
    const BaseRevision& base) {
  absl::StatusOr<MeasuredRevision> measured =
      Measuring(base).Run(/*lists_inputs=*/false);
  if (!measured.ok()) return measured.status();
  return std::move(measured->profiles);
}

absl::StatusOr<MeasuredRevision> MeasureRevision(const BaseRevision& base) {
  return Measuring(base).Run(/*lists_inputs=*/true);
}

absl::StatusOr<std::vector<std::string>> FindGateInputs(
    const std::string& bazel, const std::string& workspace,
    const std::string& target) {
  const absl::StatusOr<std::string> top =
      AskGit(workspace, {"rev-parse", "--show-toplevel"});
  if (!top.ok()) return top.status();
  const auto ask = [&](const std::string& arguments) {
    return AskBazel(bazel, workspace, arguments);
  };
  // A module may give another one a name of its own (repo_name), by which no
  // folder is called. Bazel 7 has an option for the folders' names.
  const auto options = ask("help query --short");
  if (!options.ok()) return options.status();
  const char* const names = absl::StrContains(*options, "consistent_labels")
                                ? "--consistent_labels "
                                : "";
  // The answer has labels, since Bazel has no location for build files, and for
  // other files its older versions give that of the build file.
  const std::string query = absl::StrCat("kind('source file', deps(", target,
                                         ")) + buildfiles(deps(", target, "))");
  const auto labels =
      ask(absl::StrCat("query --output=label ", names, PosixQuote(query)));
  if (!labels.ok()) return labels.status();
  const auto output_base = ask("info output_base");
  if (!output_base.ok()) return output_base.status();
  const std::vector<fs::path> files = ReadLabels(
      workspace,
      fs::path(std::string(absl::StripAsciiWhitespace(*output_base))) /
          "external",
      *labels);
  return KeepFilesBelow(fs::path(*top), files);
}

}  // namespace footprint
