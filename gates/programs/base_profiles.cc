#include "footprint/gates/programs/base_profiles.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/file_lock.h"
#include "footprint/base/files/fingerprint.h"
#include "footprint/base/files/temporary_folder.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/explaining/profile_folder.h"
#include "footprint/gates/judge/posix_quote.h"
#include "footprint/gates/programs/program_output.h"

namespace footprint {
namespace {

namespace fs = std::filesystem;

// Git sets these variables for hooks, and would then ignore -C.
constexpr char kWithoutHooks[] = "unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE; ";

class Measuring {
 public:
  explicit Measuring(const BaseRevision& base) : base_(base) {}

  absl::StatusOr<MeasuredRevision> Run(bool lists_inputs) {
    absl::Status status =
        folder_.Create(TemporaryFolderParent(), "footprint-compare");
    if (status.ok()) status = FindCommit();
    if (!status.ok()) return status;
    std::error_code error;
    fs::create_directories(fs::path(base_.worktree).parent_path(), error);
    const absl::StatusOr<FileLock> lock =
        FileLock::Acquire(base_.worktree + ".lock");
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
    absl::StatusOr<std::vector<std::string>> inputs =
        FindGateInputs(base_.bazel, absl::StrCat(base_.worktree, "/", prefix_),
                       base_.diff_target);
    if (!inputs.ok()) return inputs.status();
    measured.inputs = *std::move(inputs);
    return measured;
  }

 private:
  // Runs a shell command and writes its standard output to `output`. Returns
  // whether it succeeds.
  bool Succeeds(const std::string& command, const std::string& output) const {
    return std::system(absl::StrCat(kWithoutHooks, command, " >",
                                    PosixQuote(folder_.Path(output)))
                           .c_str()) == 0;
  }

  std::string ReadOutput(const std::string& output) const {
    const absl::StatusOr<std::string> text =
        ReadWholeFile(folder_.Path(output));
    return text.ok() ? std::string(absl::StripAsciiWhitespace(*text)) : "";
  }

  std::string Revision() const { return EscapeForTerminal(base_.revision); }

  absl::Status FindCommit() {
    const std::string git =
        absl::StrCat("git -C ", PosixQuote(base_.workspace), " rev-parse ");
    if (!Succeeds(git + "--show-prefix 2>/dev/null", "prefix")) {
      return absl::InvalidArgumentError(
          absl::StrCat(EscapeForTerminal(base_.workspace),
                       ": is in no git repository, so it has no revision ",
                       Revision(), "; give --base= a folder of profiles"));
    }
    prefix_ = ReadOutput("prefix");
    const std::string wanted =
        PosixQuote(absl::StrCat(base_.revision, "^{commit}"));
    if (absl::StartsWith(base_.revision, "-") ||
        !Succeeds(absl::StrCat(git, "--verify --quiet ", wanted), "commit")) {
      return absl::InvalidArgumentError(absl::StrCat(
          Revision(), ": is neither a folder of profiles nor a revision of ",
          EscapeForTerminal(base_.workspace),
          "; fetch it, or correct the name"));
    }
    commit_ = ReadOutput("commit");
    return absl::OkStatus();
  }

  absl::Status CheckOut() {
    const std::string worktree = PosixQuote(base_.worktree);
    std::error_code ignored;
    const bool is_there =
        fs::exists(fs::path(base_.worktree) / ".git", ignored);
    const std::string command =
        is_there ? absl::StrCat("{ git -C ", worktree,
                                " checkout --quiet --detach --force ", commit_,
                                " && git -C ", worktree, " clean -fdq; }")
                 : absl::StrCat("git -C ", PosixQuote(base_.workspace),
                                " worktree add --quiet --force --detach ",
                                worktree, " ", commit_);
    if (Succeeds(command, "checkout")) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat(
        EscapeForTerminal(base_.worktree), ": ", Revision(),
        " cannot be checked out there; remove the folder and run again"));
  }

  // Returns the command with Bazel in the worktree's workspace.
  std::string Bazel(const std::string& arguments) const {
    return absl::StrCat("cd ",
                        PosixQuote(absl::StrCat(base_.worktree, "/", prefix_)),
                        " && ", base_.bazel, " ", arguments);
  }

  absl::Status FindGate() {
    const std::string errors = PosixQuote(folder_.Path("errors"));
    if (Succeeds(absl::StrCat("{ ", Bazel("query "),
                              PosixQuote(base_.diff_target), "; } 2>", errors),
                 "query")) {
      return absl::OkStatus();
    }
    const std::string said = ReadOutput("errors");
    if (absl::StrContains(said, "no such ") ||
        absl::StrContains(said, "not declared")) {
      return absl::NotFoundError(absl::StrCat(
          Revision(), ": has no gate ", base_.diff_target,
          ", so there is nothing to compare with; the change is its first"));
    }
    return absl::FailedPreconditionError(
        absl::StrCat(Revision(), ": Bazel cannot load ", base_.diff_target,
                     " there:\n", EscapeForTerminal(said)));
  }

  absl::Status Measure() {
    const std::string save =
        PosixQuote(absl::StrCat("--save=", folder_.Path("profiles")));
    if (std::system(absl::StrCat(kWithoutHooks,
                                 Bazel(absl::StrCat(
                                     "run ", PosixQuote(base_.diff_target),
                                     " -- ", save)),
                                 " 1>&2")
                        .c_str()) == 0) {
      return absl::OkStatus();
    }
    return absl::FailedPreconditionError(
        absl::StrCat(Revision(),
                     ": does not build, or cannot be measured, as the lines "
                     "above say; compare with another revision, or with a "
                     "folder of profiles"));
  }

  const BaseRevision& base_;
  TemporaryFolder folder_;
  std::string prefix_;  // path of the workspace in its repository
  std::string commit_;
};

// Returns the files of `lines` ("/top/app/BUILD:1:1: source file //app:BUILD")
// that lie below `top`, by their paths from there.
std::vector<std::string> KeepFilesBelow(const fs::path& top,
                                        const std::string& lines) {
  std::error_code error;
  const fs::path root = fs::canonical(top, error);
  std::set<std::string> files;
  for (const absl::string_view line : absl::StrSplit(lines, '\n')) {
    const size_t colon = line.find(':');
    if (colon == absl::string_view::npos) continue;
    // A local repository is a link, which may lead into the same tree.
    const fs::path file = fs::weakly_canonical(
        fs::path(std::string(line.substr(0, colon))), error);
    if (error) continue;
    const std::string path = file.lexically_relative(root).generic_string();
    if (!path.empty() && !absl::StartsWith(path, "..")) files.insert(path);
  }
  return {files.begin(), files.end()};
}

}  // namespace

std::string DefaultWorktree(const std::string& workspace) {
  std::string cache = EnvironmentValue("XDG_CACHE_HOME");
  if (cache.empty()) {
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
  TemporaryFolder folder;
  const absl::Status status =
      folder.Create(TemporaryFolderParent(), "footprint-inputs");
  if (!status.ok()) return status;
  const std::string output = folder.Path("query");
  const std::string top = folder.Path("top");
  const std::string query = absl::StrCat("kind('source file', deps(", target,
                                         ")) + buildfiles(deps(", target, "))");
  const std::string command = absl::StrCat(
      kWithoutHooks, "cd ", PosixQuote(workspace),
      " && git rev-parse --show-toplevel >", PosixQuote(top), " && ", bazel,
      " query --output=location ", PosixQuote(query), " >", PosixQuote(output));
  absl::StatusOr<std::string> lines = absl::UnavailableError("");
  if (std::system(command.c_str()) == 0) lines = ReadWholeFile(output);
  const absl::StatusOr<std::string> repository = ReadWholeFile(top);
  if (!lines.ok() || !repository.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat(EscapeForTerminal(workspace), ": Bazel cannot say what ",
                     target, " is made from, as the lines above say"));
  }
  return KeepFilesBelow(
      fs::path(std::string(absl::StripAsciiWhitespace(*repository))), *lines);
}

}  // namespace footprint
