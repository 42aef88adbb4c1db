// Finds the commits by which a gate's memory grew, with few measurements.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/commands/command_flags.h"
#include "footprint/gates/commands/gate_targets.h"
#include "footprint/gates/explaining/base_comparison.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/programs/gate_commits.h"
#include "footprint/gates/programs/history_store.h"
#include "footprint/gates/programs/program_output.h"
#include "footprint/gates/programs/revision_flags.h"
#include "footprint/gates/trend/commit_history.h"
#include "footprint/gates/trend/culprit_search.h"
#include "footprint/gates/trend/profile_store.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using Certainty = Culprit::Certainty;
using Json = nlohmann::ordered_json;

constexpr char kHelp[] =
    R"(Finds the commits by which the memory of a gate grew.

  bazel run //gates:culprit -- --good=v1.0 --bad=main //app:load
  bazel run //gates:culprit -- --good=v1.0 --bad=main //gates:diff

The gate is a memory_gate, or the "diff" of a memory_gate_suite. Bazel measures
both revisions in a separate git worktree, and then halves each range of commits
that grew. Commits that change no file of the gate are skipped as far as possible.
The program prints each culprit with the figures that grew and the source lines
behind them.

Flags
  --good=REVISION     an older revision, which needs less memory
  --bad=REVISION      a newer revision, which needs more memory (default: HEAD)
  --most=COUNT        the most commits to measure (default: 30); ranges that were
                      not narrowed to one commit are printed
  --renamed=OLD=NEW   the gate or a label OLD is now called NEW; may be repeated.
                      If exactly one label disappeared and one appeared, the
                      program takes them for one
  --store=STORE       the store of //gates:history. Commits that it has from this
                      environment are not measured again, and those that are
                      measured are added to it
  --format=text|json  the format of the answer (default: text)
  --output=FILE       the file to write (default: standard output)
  --worktree=FOLDER   the folder in which revisions are built (default:
                      ~/.cache/footprint/base-...)
  --bazel=COMMAND     how to call Bazel, with its startup options (default: bazel)
  --help              print this text

A merge counts as one commit. If two commits share a growth, both are found. A
growth that was reverted before the bad revision is not seen.

Exit status: 0 nothing grew, 1 every culprit is one commit, 2 a mistake, which the
message names, 4 a culprit is not narrowed to one commit, or more may have
grown, as the lines "not certain" and "not known" say.
)";

constexpr char kProgram[] = "culprit";
constexpr int kNothingGrew = 0;
constexpr int kFound = 1;
constexpr int kNotNarrowed = 4;
constexpr size_t kShortHash = 12;

std::string NameCommit(const Commit& commit) {
  return absl::StrCat(commit.hash.substr(0, kShortHash), " ", commit.date, " ",
                      EscapeForTerminal(commit.author), ": ",
                      EscapeForTerminal(commit.subject));
}

absl::StatusOr<GateCommitsOptions> ReadOptions(const CommandFlags& flags) {
  if (flags.words().size() != 1 || !flags.Has("good")) {
    return absl::InvalidArgumentError(
        "name --good=REVISION and one gate, such as //app:load; see --help");
  }
  GateCommitsOptions options;
  options.base.workspace = EnvironmentValue("BUILD_WORKSPACE_DIRECTORY");
  if (options.base.workspace.empty()) {
    return absl::InvalidArgumentError(
        "start this program with bazel run, which tells it the workspace");
  }
  options.base.diff_target = FindDiffTarget(flags.words()[0]);
  options.base.bazel = flags.Value("bazel", options.base.bazel);
  absl::StatusOr<std::string> worktree =
      FindWorktree(flags, options.base.workspace);
  if (!worktree.ok()) return worktree.status();
  options.base.worktree = *std::move(worktree);
  absl::StatusOr<std::vector<std::pair<std::string, std::string>>> renamed =
      ReadRenamed(flags);
  if (!renamed.ok()) return renamed.status();
  options.renamed = *std::move(renamed);
  return options;
}

// One culprit with the figures that grew.
struct ShownCulprit {
  Culprit culprit;
  BaseComparison comparison;

  // Whether the growth is this commit's, and not another environment's.
  bool IsFound() const {
    return culprit.certainty == Certainty::kFound &&
           comparison.verdict.problems().empty();
  }
};

// Everything that the program prints.
struct Answer {
  CulpritSearch search;
  std::vector<ShownCulprit> shown;
  // Each says why more may have grown than is known.
  std::vector<std::string> doubts;
};

std::string DescribeProblem(const Problem& problem) {
  return absl::StrCat(problem.location(), " ", problem.message());
}

// Returns the problems of the comparison of the first and the last commit that
// no culprit shows, and names labels that may have been renamed.
absl::StatusOr<std::vector<std::string>> FindDoubts(
    const std::vector<ShownCulprit>& shown, const GateCommits& commits) {
  const absl::StatusOr<BaseComparison> whole =
      commits.Compare(0, commits.size() - 1);
  if (!whole.ok()) return whole.status();
  std::set<std::string> said;
  for (const ShownCulprit& each : shown) {
    for (const Problem& problem : each.comparison.verdict.problems()) {
      said.insert(DescribeProblem(problem));
    }
  }
  std::vector<std::string> doubts;
  for (const Problem& problem : whole->verdict.problems()) {
    const std::string doubt = DescribeProblem(problem);
    if (said.insert(doubt).second) doubts.push_back(doubt);
  }
  std::vector<std::string> gone;
  std::vector<std::string> added;
  for (const ComparedFigure& figure : whole->figures) {
    if (!figure.benchmark.empty()) continue;
    if (figure.change == ComparedFigure::Change::kGone) {
      gone.push_back(figure.label);
    } else if (figure.change == ComparedFigure::Change::kNew) {
      added.push_back(figure.label);
    }
  }
  if (!gone.empty() && !added.empty()) {
    doubts.push_back(absl::StrCat(
        "the growth of labels that may have been renamed: missing are ",
        absl::StrJoin(gone, ", "), ", and new are ", absl::StrJoin(added, ", "),
        "; name each with --renamed=OLD=NEW"));
  }
  return doubts;
}

absl::StatusOr<Answer> Explain(CulpritSearch search,
                               const GateCommits& commits) {
  Answer answer;
  for (const Culprit& culprit : search.culprits) {
    absl::StatusOr<BaseComparison> comparison =
        commits.Compare(culprit.before, culprit.after);
    if (!comparison.ok()) return comparison.status();
    answer.shown.push_back({culprit, *std::move(comparison)});
  }
  absl::StatusOr<std::vector<std::string>> doubts =
      FindDoubts(answer.shown, commits);
  if (!doubts.ok()) return doubts.status();
  answer.doubts = *std::move(doubts);
  answer.search = std::move(search);
  return answer;
}

std::string WriteFigures(const BaseComparison& comparison) {
  std::string text;
  for (const ComparedFigure& figure : comparison.figures) {
    if (!figure.is_over_limit) continue;
    absl::StrAppend(&text, "    ", EscapeForTerminal(figure.label), " ",
                    EscapeForTerminal(figure.benchmark), ": ",
                    EscapeForTerminal(figure.description), "\n");
    for (const std::string& reason : figure.reasons) {
      absl::StrAppend(&text, "        ", EscapeForTerminal(reason), "\n");
    }
  }
  return text;
}

const char* DescribeCertainty(Certainty certainty) {
  switch (certainty) {
    case Certainty::kFound:
      return "";
    case Certainty::kSomeUnmeasurable:
      return "; some of them, or commits next to them, cannot be measured";
    case Certainty::kTooMany:
      return "; raise --most= to be sure";
    case Certainty::kSpread:
      return "; together they add more than figures vary, but no half does";
  }
  return "";
}

std::string WriteCulprit(const ShownCulprit& shown,
                         const GateCommits& commits) {
  const Culprit& culprit = shown.culprit;
  std::string text =
      absl::StrCat("\n+", FormatBytes(culprit.growth_bytes), " by ");
  if (shown.IsFound()) {
    absl::StrAppend(&text, NameCommit(commits.commit(culprit.commits[0])),
                    "\n");
  } else {
    const bool is_one = culprit.commits.size() == 1;
    absl::StrAppend(&text, is_one ? "probably " : "one or more of ",
                    culprit.commits.size(), is_one ? " commit" : " commits",
                    DescribeCertainty(culprit.certainty), ":\n");
    for (const size_t commit : culprit.commits) {
      absl::StrAppend(&text, "  ", NameCommit(commits.commit(commit)), "\n");
    }
  }
  for (const Problem& problem : shown.comparison.verdict.problems()) {
    absl::StrAppend(&text, "    not certain: ",
                    EscapeForTerminal(DescribeProblem(problem)), "\n");
  }
  return text + WriteFigures(shown.comparison);
}

std::string WriteText(const Answer& answer, const GateCommits& commits) {
  const CulpritSearch& search = answer.search;
  const size_t count = answer.shown.size();
  std::string text =
      search.growth_bytes == 0
          ? "Nothing grew from the good to the bad commit"
          : absl::StrCat("+", FormatBytes(search.growth_bytes), " by ", count,
                         count == 1 ? " culprit" : " culprits");
  absl::StrAppend(&text, "; measured ", search.measured_count, " of ",
                  commits.size(), " commits");
  if (search.confirming_count > 0) {
    absl::StrAppend(&text, ", ", search.confirming_count, " only to be sure");
  }
  text += "\n";
  for (const ShownCulprit& each : answer.shown) {
    text += WriteCulprit(each, commits);
  }
  for (const std::string& doubt : answer.doubts) {
    absl::StrAppend(&text, "\nnot known: ", EscapeForTerminal(doubt), "\n");
  }
  for (const size_t commit : search.unmeasurable) {
    absl::StrAppend(
        &text, "\nnot measured: ", NameCommit(commits.commit(commit)), "\n");
  }
  for (const std::string& remark : commits.remarks()) {
    absl::StrAppend(&text, "\nremark: ", EscapeForTerminal(remark), "\n");
  }
  return text;
}

Json ToJson(const Commit& commit) {
  return {{"commit", commit.hash},
          {"author", commit.author},
          {"date", commit.date},
          {"subject", commit.subject}};
}

Json ToJson(const ShownCulprit& shown, const GateCommits& commits) {
  Json culprit = {{"growth_bytes", shown.culprit.growth_bytes},
                  {"is_found", shown.IsFound()},
                  {"commits", Json::array()},
                  {"problems", Json::array()},
                  {"figures", Json::array()}};
  for (const size_t commit : shown.culprit.commits) {
    culprit["commits"].push_back(ToJson(commits.commit(commit)));
  }
  for (const Problem& problem : shown.comparison.verdict.problems()) {
    culprit["problems"].push_back(DescribeProblem(problem));
  }
  for (const ComparedFigure& figure : shown.comparison.figures) {
    if (!figure.is_over_limit) continue;
    culprit["figures"].push_back({{"label", figure.label},
                                  {"benchmark", figure.benchmark},
                                  {"description", figure.description},
                                  {"reasons", figure.reasons}});
  }
  return culprit;
}

std::string WriteJson(const Answer& answer, const GateCommits& commits) {
  Json json = {{"growth_bytes", answer.search.growth_bytes},
               {"commit_count", commits.size()},
               {"measured_count", answer.search.measured_count},
               {"confirming_count", answer.search.confirming_count},
               {"culprits", Json::array()},
               {"not_known", answer.doubts},
               {"unmeasurable", Json::array()},
               {"remarks", commits.remarks()}};
  for (const ShownCulprit& each : answer.shown) {
    json["culprits"].push_back(ToJson(each, commits));
  }
  for (const auto& [commit, failure] : commits.failures()) {
    Json unmeasurable = ToJson(commits.commit(commit));
    unmeasurable["why"] = failure;
    json["unmeasurable"].push_back(std::move(unmeasurable));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

int ExitStatus(const Answer& answer) {
  if (!answer.doubts.empty()) return kNotNarrowed;
  for (const ShownCulprit& each : answer.shown) {
    if (!each.IsFound()) return kNotNarrowed;
  }
  return answer.shown.empty() ? kNothingGrew : kFound;
}

// Returns the store's error, such as kUnavailable, if the store cannot be used,
// before anything is measured.
absl::Status CheckHistory(CommitHistory* history, const GateCommits& commits,
                          const GateCommitsOptions& options) {
  const absl::Status status =
      history
          ->Read(commits.commit(commits.size() - 1).hash,
                 options.base.diff_target)
          .status();
  return absl::IsNotFound(status) || absl::IsDataLoss(status) ? absl::OkStatus()
                                                              : status;
}

// Searches, and adds what was measured to the history.
absl::StatusOr<CulpritSearch> Search(const CulpritOptions& options,
                                     GateCommits* commits) {
  absl::StatusOr<CulpritSearch> search = FindCulprits(commits, options);
  // The store's figures turned out to be of no use here.
  if (absl::IsAborted(search.status())) {
    search = FindCulprits(commits, options);
  }
  commits->AddToHistory();
  if (search.ok()) {
    search->measured_count = commits->measured_count();
    return search;
  }
  std::string message(search.status().message());
  for (const auto& [commit, failure] : commits->failures()) {
    absl::StrAppend(&message, "\n", NameCommit(commits->commit(commit)), "\n  ",
                    failure);
  }
  return absl::Status(search.status().code(), message);
}

absl::StatusOr<CulpritOptions> ReadSearchOptions(const CommandFlags& flags) {
  CulpritOptions options;
  if (flags.Has("most") &&
      (!absl::SimpleAtoi(flags.Value("most", ""), &options.most_measured) ||
       options.most_measured < 2)) {
    return absl::InvalidArgumentError(
        "--most= is the maximum number of commits to measure, at least 2");
  }
  return options;
}

// The whole command, after its flags were read. Its end is a status, too.
absl::StatusOr<int> Run(const CommandFlags& flags) {
  const std::string format = flags.Value("format", "text");
  if (format != "text" && format != "json") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--format=", EscapeForTerminal(format), " is not text or json"));
  }
  const absl::StatusOr<CulpritOptions> search_options =
      ReadSearchOptions(flags);
  if (!search_options.ok()) return search_options.status();
  absl::StatusOr<GateCommitsOptions> options = ReadOptions(flags);
  if (!options.ok()) return options.status();
  std::unique_ptr<ProfileStore> store;
  if (flags.Has("store")) {
    absl::StatusOr<std::unique_ptr<ProfileStore>> opened =
        OpenHistoryStore(flags);
    if (!opened.ok()) return opened.status();
    store = *std::move(opened);
  }
  CommitHistory history(store.get());
  if (store != nullptr) options->history = &history;
  absl::StatusOr<GateCommits> commits = GateCommits::Read(
      *options, flags.Value("good", ""), flags.Value("bad", "HEAD"));
  if (!commits.ok()) return commits.status();
  if (store != nullptr) {
    const absl::Status serves = CheckHistory(&history, *commits, *options);
    if (!serves.ok()) return serves;
  }
  absl::StatusOr<CulpritSearch> search = Search(*search_options, &*commits);
  if (!search.ok()) return search.status();
  const absl::StatusOr<Answer> answer = Explain(*std::move(search), *commits);
  if (!answer.ok()) return answer.status();
  return FinishProgram(kProgram,
                       format == "json" ? WriteJson(*answer, *commits)
                                        : WriteText(*answer, *commits),
                       flags.Value("output", ""), ExitStatus(*answer));
}

int Main(const std::vector<std::string>& arguments) {
  const absl::StatusOr<CommandFlags> flags =
      CommandFlags::Parse(arguments,
                          {"good", "bad", "most", "renamed", "store", "format",
                           "output", "worktree", "bazel"},
                          {"help"}, /*most_words=*/1);
  if (!flags.ok()) return Complain(kProgram, flags.status().message());
  if (flags->Has("help")) {
    return FinishProgram(kProgram, NameGateTargets(kHelp), "", kNothingGrew);
  }
  const absl::StatusOr<int> status = Run(*flags);
  return status.ok() ? *status : Complain(kProgram, status.status().message());
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  return footprint::Main(std::vector<std::string>(argv + 1, argv + argc));
}
