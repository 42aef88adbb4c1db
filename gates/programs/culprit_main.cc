// The commits by which a gate's memory grew, found with few measurements.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/commands/gate_targets.h"
#include "footprint/gates/explaining/base_comparison.h"
#include "footprint/gates/programs/command_flags.h"
#include "footprint/gates/programs/gate_commits.h"
#include "footprint/gates/programs/program_output.h"
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
both revisions in a git worktree of its own, then revisions between them, halving
each range that grew. Only commits that change what the gate is made from are
measured. The commit and the lines that grew are named.

Flags
  --good=REVISION     an older revision, which needs less
  --bad=REVISION      a newer one, which needs more (HEAD)
  --most=COUNT        how many commits may be measured (30); ranges that are left
                      are named
  --renamed=OLD=NEW   the gate, or a label, has another name since; a label that
                      is the only one to go where one comes is found by itself
  --store=STORE       a history (//gates:history): commits that it has are not
                      measured, and those that are measured are added
  --format=text|json  how the culprits are written (text)
  --output=FILE       where (standard output)
  --worktree=FOLDER   where revisions are built (~/.cache/footprint/base-...)
  --bazel=COMMAND     Bazel, with start-up flags (bazel)
  --help              this text

Merges count as one commit. A growth that is split over two commits is found as
two; one that was taken back in between is not seen.

Exit status: 0 nothing grew, 1 culprits are named, 2 a mistake that the message
names, 4 some were not narrowed to one commit.
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

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ReadRenamed(
    const CommandFlags& flags) {
  std::vector<std::pair<std::string, std::string>> renamed;
  for (const std::string& text : flags.Values("renamed")) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 ||
        equals + 1 == text.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--renamed=", EscapeForTerminal(text),
                       " is no OLD=NEW, such as //a:b=//a:c"));
    }
    renamed.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return renamed;
}

// Returns the program that writes the profiles of a gate.
std::string FindDiffTarget(const std::string& gate) {
  return absl::EndsWith(gate, ".diff") || absl::EndsWith(gate, ":diff")
             ? gate
             : absl::StrCat(gate, ".diff");
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
        "use bazel run, which knows the workspace");
  }
  options.base.diff_target = FindDiffTarget(flags.words()[0]);
  options.base.bazel = flags.Value("bazel", options.base.bazel);
  std::error_code ignored;
  options.base.worktree =
      flags.Has("worktree")
          ? std::filesystem::absolute(PathOfCaller(flags.Value("worktree", "")),
                                      ignored)
                .string()
          : DefaultWorktree(options.base.workspace);
  if (options.base.worktree.empty()) {
    return absl::InvalidArgumentError(
        "there is no HOME for the worktree; name a folder with --worktree=");
  }
  absl::StatusOr<std::vector<std::pair<std::string, std::string>>> renamed =
      ReadRenamed(flags);
  if (!renamed.ok()) return renamed.status();
  options.renamed = *std::move(renamed);
  return options;
}

absl::StatusOr<std::unique_ptr<ProfileStore>> OpenStore(
    const CommandFlags& flags) {
  if (!flags.Has("store")) return std::unique_ptr<ProfileStore>();
  const std::string store = flags.Value("store", "");
  return OpenProfileStore(
      absl::StrContains(store, "://") ? store : PathOfCaller(store),
      EnvironmentValue("FOOTPRINT_HISTORY_TOKEN"));
}

// One culprit with the figures that grew.
struct ShownCulprit {
  Culprit culprit;
  BaseComparison comparison;
};

absl::StatusOr<std::vector<ShownCulprit>> Explain(const CulpritSearch& search,
                                                  const GateCommits& commits) {
  std::vector<ShownCulprit> shown;
  for (const Culprit& culprit : search.culprits) {
    absl::StatusOr<BaseComparison> comparison =
        commits.Compare(culprit.before, culprit.after);
    if (!comparison.ok()) return comparison.status();
    shown.push_back({culprit, *std::move(comparison)});
  }
  return shown;
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
      return ", of which some cannot be measured, or a neighbour of theirs";
    case Certainty::kTooMany:
      return "; raise --most= to be sure";
    case Certainty::kSpread:
      return ", each by no more than figures vary";
  }
  return "";
}

std::string WriteCulprit(const ShownCulprit& shown,
                         const GateCommits& commits) {
  const Culprit& culprit = shown.culprit;
  std::string text =
      absl::StrCat("\n+", FormatBytes(culprit.growth_bytes), " by ");
  if (culprit.certainty == Certainty::kFound) {
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
  return text + WriteFigures(shown.comparison);
}

std::string WriteText(const CulpritSearch& search,
                      const std::vector<ShownCulprit>& shown,
                      const GateCommits& commits) {
  std::string text =
      search.growth_bytes == 0
          ? "Nothing grew from the good to the bad commit"
          : absl::StrCat("+", FormatBytes(search.growth_bytes), " by ",
                         shown.size(),
                         shown.size() == 1 ? " culprit" : " culprits");
  absl::StrAppend(&text, "; measured ", search.measured_count, " of ",
                  commits.size(), " commits\n");
  for (const ShownCulprit& each : shown) {
    text += WriteCulprit(each, commits);
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

std::string WriteJson(const CulpritSearch& search,
                      const std::vector<ShownCulprit>& shown,
                      const GateCommits& commits) {
  Json json = {{"growth_bytes", search.growth_bytes},
               {"commit_count", commits.size()},
               {"measured_count", search.measured_count},
               {"culprits", Json::array()},
               {"unmeasurable", Json::array()},
               {"remarks", commits.remarks()}};
  for (const ShownCulprit& each : shown) {
    Json culprit = {{"growth_bytes", each.culprit.growth_bytes},
                    {"is_found", each.culprit.certainty == Certainty::kFound},
                    {"commits", Json::array()},
                    {"figures", Json::array()}};
    for (const size_t commit : each.culprit.commits) {
      culprit["commits"].push_back(ToJson(commits.commit(commit)));
    }
    for (const ComparedFigure& figure : each.comparison.figures) {
      if (!figure.is_over_limit) continue;
      culprit["figures"].push_back({{"label", figure.label},
                                    {"benchmark", figure.benchmark},
                                    {"description", figure.description},
                                    {"reasons", figure.reasons}});
    }
    json["culprits"].push_back(std::move(culprit));
  }
  for (const auto& [commit, failure] : commits.failures()) {
    Json unmeasurable = ToJson(commits.commit(commit));
    unmeasurable["why"] = failure;
    json["unmeasurable"].push_back(std::move(unmeasurable));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

int ExitStatus(const CulpritSearch& search) {
  for (const Culprit& culprit : search.culprits) {
    if (culprit.certainty != Certainty::kFound) return kNotNarrowed;
  }
  return search.culprits.empty() ? kNothingGrew : kFound;
}

// kUnavailable and the like: the store does not serve, so nothing is measured.
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

// The whole command, after its flags were read. Its end is a status, too.
absl::StatusOr<int> Run(const CommandFlags& flags) {
  const std::string format = flags.Value("format", "text");
  CulpritOptions search_options;
  if (format != "text" && format != "json") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--format=", EscapeForTerminal(format), " is not text or json"));
  }
  if (flags.Has("most") && (!absl::SimpleAtoi(flags.Value("most", ""),
                                              &search_options.most_measured) ||
                            search_options.most_measured < 2)) {
    return absl::InvalidArgumentError(
        "--most= is how many commits may be measured, 2 at least");
  }
  absl::StatusOr<GateCommitsOptions> options = ReadOptions(flags);
  if (!options.ok()) return options.status();
  const absl::StatusOr<std::unique_ptr<ProfileStore>> store = OpenStore(flags);
  if (!store.ok()) return store.status();
  CommitHistory history(store->get());
  if (*store != nullptr) options->history = &history;
  absl::StatusOr<GateCommits> commits = GateCommits::Read(
      *options, flags.Value("good", ""), flags.Value("bad", "HEAD"));
  if (!commits.ok()) return commits.status();
  if (*store != nullptr) {
    const absl::Status serves = CheckHistory(&history, *commits, *options);
    if (!serves.ok()) return serves;
  }
  const absl::StatusOr<CulpritSearch> search =
      FindCulprits(&*commits, search_options);
  if (!search.ok()) {
    std::string message(search.status().message());
    for (const auto& [commit, failure] : commits->failures()) {
      absl::StrAppend(&message, "\n", NameCommit(commits->commit(commit)),
                      "\n  ", failure);
    }
    return absl::Status(search.status().code(), message);
  }
  const absl::StatusOr<std::vector<ShownCulprit>> shown =
      Explain(*search, *commits);
  if (!shown.ok()) return shown.status();
  return FinishProgram(kProgram,
                       format == "json" ? WriteJson(*search, *shown, *commits)
                                        : WriteText(*search, *shown, *commits),
                       flags.Value("output", ""), ExitStatus(*search));
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
