// Records a gate's measurements for each commit, and draws them over commits.
// memory_gate and memory_gate_suite run it on the gate's profiles.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/commands/command_flags.h"
#include "footprint/gates/commands/gate_targets.h"
#include "footprint/gates/programs/base_profiles.h"
#include "footprint/gates/programs/git_log.h"
#include "footprint/gates/programs/history_store.h"
#include "footprint/gates/programs/program_output.h"
#include "footprint/gates/programs/suite_profiles.h"
#include "footprint/gates/programs/suite_program.h"
#include "footprint/gates/trend/commit_history.h"
#include "footprint/gates/trend/history_page.h"
#include "footprint/gates/trend/profile_store.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {
namespace {

constexpr char kHelp[] =
    R"(Records what a gate measures at each commit, and draws it over commits.

  bazel run //gates:history -- record --store=STORE   records HEAD's measurements
  bazel run //gates:history -- page --store=STORE     writes memory_history.html

STORE is a folder, or http://HOST:PORT/PATH of a server that takes PUT and GET, as
servers of Bazel's remote cache do. FOOTPRINT_HISTORY_TOKEN is sent as a bearer
token. CI should record each commit of the main branch. Recording a commit again
is harmless. //gates:culprit finds the commits that raised a figure, and does not
measure commits that are recorded.

Flags
  --store=STORE        the folder or address of the measurements
  --last=COUNT         the number of commits on the page (default: 200); a merge
                       counts as one commit
  --revision=REVISION  the newest commit on the page (default: HEAD)
  --output=FILE        the file to write (default: memory_history.html)
  --bazel=COMMAND      how record calls Bazel, with its startup options, to list
                       the files of the gate (default: bazel)
  --help               print this text

Exit status: 0 done, 2 a mistake, which the message names, such as a store that
is down or full, or changes that are not committed.
)";

constexpr char kProgram[] = "history";
constexpr int64_t kLastCommits = 200;

absl::StatusOr<std::string> FindWorkspace() {
  std::string workspace = EnvironmentValue("BUILD_WORKSPACE_DIRECTORY");
  if (!workspace.empty()) return workspace;
  return absl::InvalidArgumentError(
      "start this program with bazel run, which tells it the workspace");
}

// Returns kFailedPrecondition if there are changes that are not committed, so
// that the measured tree is not the commit.
absl::Status CheckIsCommitted(const std::string& workspace) {
  const absl::StatusOr<std::string> changes =
      AskGit(workspace, {"status", "--porcelain", "--untracked-files=all", "--",
                         ".", ":(exclude)bazel-*"});
  if (!changes.ok()) return changes.status();
  if (changes->empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "there are changes that are not committed, so what is measured is not "
      "HEAD; commit them, or remove them:\n",
      *changes));
}

// Adds the limits that hold for whole benchmarks.
absl::Status AddLimits(const CommandFlags& flags, CommitProfiles* profiles) {
  const absl::StatusOr<JudgedSuite> suite = JudgeSuite(flags);
  if (!suite.ok()) return suite.status();
  for (const Judgement& judgement : suite->verdict.judgements()) {
    const bool is_limit =
        judgement.rule() == MAXIMUM || judgement.rule() == EXACT_VALUE;
    if (!is_limit || !judgement.phase().empty()) continue;
    CommitLimit* const limit = profiles->add_limits();
    limit->set_label(judgement.label());
    limit->set_benchmark(judgement.benchmark());
    limit->set_metric(judgement.metric());
    limit->set_limit(judgement.limit());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Record(const CommandFlags& flags,
                                   CommitHistory* history) {
  const absl::StatusOr<std::string> workspace = FindWorkspace();
  if (!workspace.ok()) return workspace.status();
  const absl::StatusOr<std::string> commit = FindCommit(*workspace, "HEAD");
  if (!commit.ok()) return commit.status();
  const absl::Status committed = CheckIsCommitted(*workspace);
  if (!committed.ok()) return committed;
  const absl::StatusOr<std::vector<MemoryProfile>> measured =
      ReadSuiteProfiles(flags);
  if (!measured.ok()) return measured.status();
  const absl::StatusOr<std::vector<std::string>> inputs = FindGateInputs(
      flags.Value("bazel", "bazel"), *workspace, GateTarget("diff"));
  if (!inputs.ok()) return inputs.status();
  CommitProfiles profiles;
  profiles.set_commit(*commit);
  profiles.set_gate(GateTarget("diff"));
  for (const MemoryProfile& profile : *measured) {
    if (profile.has_failure()) {
      return absl::FailedPreconditionError(
          absl::StrCat(profile.label(),
                       " failed when it was measured, so there is nothing "
                       "to record; see ",
                       GateTarget("check")));
    }
    *profiles.add_profiles() = profile;
  }
  for (const std::string& input : *inputs) profiles.add_inputs(input);
  const absl::Status limited = AddLimits(flags, &profiles);
  if (!limited.ok()) return limited;
  const absl::Status kept = history->Write(profiles);
  if (!kept.ok()) return kept;
  return absl::StrCat("recorded ", *commit, ": ", measured->size(),
                      measured->size() == 1 ? " profile" : " profiles", "\n");
}

// Reads the newest commits and their profiles in the history. Damaged objects
// become warnings.
absl::StatusOr<std::vector<HistoryCommit>> ReadCommits(
    const CommandFlags& flags, CommitHistory* history,
    std::vector<std::string>* warnings) {
  const absl::StatusOr<std::string> workspace = FindWorkspace();
  if (!workspace.ok()) return workspace.status();
  int64_t last = kLastCommits;
  if (flags.Has("last") &&
      (!absl::SimpleAtoi(flags.Value("last", ""), &last) || last < 1)) {
    return absl::InvalidArgumentError(
        "--last= is the number of commits, at least 1");
  }
  const absl::StatusOr<std::string> newest =
      FindCommit(*workspace, flags.Value("revision", "HEAD"));
  if (!newest.ok()) return newest.status();
  const absl::StatusOr<std::vector<Commit>> log =
      ReadCommitLog(*workspace, {absl::StrCat("--max-count=", last), *newest});
  if (!log.ok()) return log.status();
  std::vector<HistoryCommit> commits;
  for (const Commit& commit : *log) {
    absl::StatusOr<CommitProfiles> profiles =
        history->Read(commit.hash, GateTarget("diff"));
    HistoryCommit read;
    read.commit = commit;
    if (profiles.ok()) {
      read.profiles = *std::move(profiles);
    } else if (absl::IsDataLoss(profiles.status())) {
      warnings->emplace_back(profiles.status().message());
    } else if (!absl::IsNotFound(profiles.status())) {
      return profiles.status();
    }
    commits.push_back(std::move(read));
  }
  return commits;
}

absl::StatusOr<std::string> WritePage(const CommandFlags& flags,
                                      CommitHistory* history) {
  std::vector<std::string> warnings;
  const absl::StatusOr<std::vector<HistoryCommit>> commits =
      ReadCommits(flags, history, &warnings);
  if (!commits.ok()) return commits.status();
  const absl::StatusOr<std::string> page =
      WriteHistoryPage(GateTarget("diff"), *commits, warnings);
  if (!page.ok()) return page.status();
  const std::string path =
      PathOfCaller(flags.Value("output", "memory_history.html"));
  const absl::Status written = WriteReport(path, *page);
  if (!written.ok()) return written;
  return absl::StrCat(path, " is written\n");
}

int Main(const std::vector<std::string>& arguments) {
  const absl::StatusOr<CommandFlags> flags =
      ParseSuiteFlags(arguments, {"store", "last", "revision", "bazel"}, {},
                      /*most_words=*/1);
  if (!flags.ok()) return Complain(kProgram, flags.status().message());
  if (flags->Has("help")) {
    return FinishProgram(kProgram, NameGateTargets(kHelp), "", 0);
  }
  const std::string word = flags->words().empty() ? "" : flags->words()[0];
  if (word != "record" && word != "page") {
    return Complain(kProgram, "say record or page; see --help");
  }
  const absl::StatusOr<std::unique_ptr<ProfileStore>> store =
      OpenHistoryStore(*flags);
  if (!store.ok()) return Complain(kProgram, store.status().message());
  CommitHistory history(store->get());
  const absl::StatusOr<std::string> said =
      word == "record" ? Record(*flags, &history) : WritePage(*flags, &history);
  if (!said.ok()) return Complain(kProgram, said.status().message());
  return FinishProgram(kProgram, *said, "", 0);
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  return footprint::Main(std::vector<std::string>(argv + 1, argv + argc));
}
